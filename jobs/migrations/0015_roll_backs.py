from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0014_imported_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="execution",
            name="roll_back",
            field=models.JSONField(default=dict),
        ),
    ]
