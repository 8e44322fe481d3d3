from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0015_roll_backs"),
    ]

    operations = [
        migrations.AddField(
            model_name="jobdraft",
            name="samples",
            field=models.JSONField(default=dict),
        ),
    ]
