"""Projects have folders of their own. Those that are there keep the shared ones, where their files are."""

from django.db import migrations, models

_HELP = (
    "Its jobs and connections may read and write what other such projects keep in the folders of the installation, "
    "where their relative paths then begin. Every project has a folder of its own."
)


def _field(default: bool) -> models.BooleanField:
    return models.BooleanField(default=default, help_text=_HELP, verbose_name="may use the shared folders")


class Migration(migrations.Migration):
    dependencies = [("jobs", "0017_audit_object")]

    operations = [
        migrations.AddField(model_name="project", name="shares_files", field=_field(True)),
        migrations.AlterField(model_name="project", name="shares_files", field=_field(False)),
    ]
