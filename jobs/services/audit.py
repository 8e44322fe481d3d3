"""Who did what: one row an act, written in the act's own transaction."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from jobs.models import AuditEntry, Project

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User


def audit_record(
    *,
    user: "User | AnonymousUser | None",
    action: str,
    object_type: str,
    object_id: str,
    project: Project | None = None,
    detail: Mapping[str, Any] | None = None,
) -> AuditEntry:
    """Keep one act. `action` in the past tense, such as "job published"; `detail` must never hold a secret."""
    return AuditEntry.objects.create(
        actor=user.get_username() if user is not None else "system",
        action=action,
        object_type=object_type,
        object_id=object_id[:200],
        project=project,
        detail=dict(detail or {}),
    )
