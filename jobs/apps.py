"""The jobs application: what users design, and what runs it."""

from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class JobsConfig(AppConfig):
    name = "jobs"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        post_migrate.connect(default_project_create, sender=self)


def default_project_create(*, using: str, **_: Any) -> None:
    """The project `default` always exists, also after tests have emptied every table."""
    from jobs.models import DEFAULT_PROJECT, Project

    Project.objects.using(using).get_or_create(slug=DEFAULT_PROJECT, defaults={"title": "Default"})
