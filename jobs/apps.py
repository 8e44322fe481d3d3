"""The jobs application: what users design, and what runs it."""

from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks
from django.db.models.signals import post_migrate


class JobsConfig(AppConfig):
    name = "jobs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        checks.register(project_folders_check)
        post_migrate.connect(default_project_create, sender=self)


def project_folders_check(**_: Any) -> list[checks.CheckMessage]:
    """Projects are not apart where the folders of all and the folder of each lie in each other."""
    own = settings.PROJECT_FILES
    return [
        checks.Warning(
            f"{own}, where each project has a folder of its own, and {root}, which projects share, lie in each other",
            hint="Let PROJECT_FILES and FILE_ROOTS name folders beside each other, else projects read what is not theirs.",
            id="jobs.W001",
        )
        for root in settings.FILE_ROOTS
        if own.is_relative_to(root) or root.is_relative_to(own)
    ]


def default_project_create(*, using: str, **_: Any) -> None:
    """The project `default` always exists, also after tests have emptied every table."""
    from jobs.models import DEFAULT_PROJECT, Project

    Project.objects.using(using).get_or_create(slug=DEFAULT_PROJECT, defaults={"title": "Default", "shares_files": True})
