from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0019_execution_generation"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="execution",
            index=models.Index(fields=["job", "-end_time"], name="execution_job_end"),
        ),
    ]
