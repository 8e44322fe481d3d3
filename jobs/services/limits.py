"""What the nodes of an installation, and of one of its projects, may reach."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from django.conf import settings

from jobs.models import Project
from jobs.nodes.base import Limits


def installation_limits() -> Limits:
    """What holds for every project. It allows no folders, which are a project's."""
    return Limits(
        http_allowed_hosts=tuple(settings.HTTP_ALLOWED_HOSTS),
        data_dir=Path(settings.DATA_DIR),
        jdbc_drivers=settings.JDBC_DRIVERS,
        file_stores=settings.FILE_STORES,
    )


def project_limits(project: Project) -> Limits:
    """What the nodes of one project may reach."""
    return replace(installation_limits(), file_roots=file_roots(project))


def file_roots(project: Project) -> tuple[Path, ...]:
    """The folders its files may stand in; relative paths begin at the first: the shared one where the project may use it."""
    own = Path(settings.PROJECT_FILES) / project.slug
    return (*settings.FILE_ROOTS, own) if project.shares_files else (own,)
