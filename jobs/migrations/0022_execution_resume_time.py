from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def duration_fill(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """What is paused ran until its driver's last word. A job has one of them at most."""
    rows = apps.get_model("jobs", "Execution").objects.filter(status="PAUSED", start_time__isnull=False, confirmed_time__isnull=False)
    for row in rows.only("start_time", "confirmed_time"):
        row.duration_ms = max(0, int((row.confirmed_time - row.start_time).total_seconds() * 1000))
        row.save(update_fields=["duration_ms"])


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0021_forgotten_executions"),
    ]

    operations = [
        migrations.AddField(
            model_name="execution",
            name="resume_time",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(duration_fill, migrations.RunPython.noop),
    ]
