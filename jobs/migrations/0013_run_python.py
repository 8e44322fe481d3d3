from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0012_driver_usage"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="job",
            options={"permissions": [("run_python", "Can write Python into jobs and run it")]},
        ),
    ]
