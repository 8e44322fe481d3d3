from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0022_execution_resume_time"),
    ]

    operations = [
        migrations.AddField(
            model_name="execution",
            name="dropped_counted",
            field=models.JSONField(null=True),
        ),
    ]
