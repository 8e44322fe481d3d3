from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0013_run_python"),
    ]

    operations = [
        migrations.AddField(
            model_name="execution",
            name="imported_from",
            field=models.JSONField(null=True),
        ),
        migrations.AddField(
            model_name="execution",
            name="imported_document",
            field=models.TextField(blank=True, default=""),
        ),
    ]
