"""Whether connections work: tried when somebody asks and from time to time, and what was found kept and told."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Now

from jobs import broadcast
from jobs.models import Connection, Project, Role
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.connection_kind import CheckStep
from jobs.selectors.connection_use import connection_job_counts
from jobs.selectors.connections import connection_health_out
from jobs.selectors.refusals import Invalid
from jobs.services.access import role_check
from jobs.services.audit import audit_record
from jobs.services.connections import connection_changed, connection_given, connection_kind_get, connection_open
from jobs.services.executions.clock import now_plus
from jobs.services.jobs import project_for
from jobs.services.limits import project_limits
from jobs.services.secrets import SecretsUnreadable

if TYPE_CHECKING:
    from django.contrib.auth.models import User

logger = logging.getLogger(__name__)

#: What a system says of itself may be long; nobody reads on.
_LONGEST_MESSAGE = 2000
#: A shorter secret stands in ordinary words by chance.
_SHORTEST_SECRET = 4


def connection_test(*, connection: Connection, user: "User") -> list[CheckStep]:
    """Try it now, step by step, and keep what was found. Forbidden below editor."""
    role_check(user=user, project=connection.project_id, role=Role.EDITOR)
    connection_kind_get(connection.kind)
    steps = connection_check(connection)
    connection.jobs_using = connection_job_counts([connection]).get(connection.pk, 0)
    connection_checked(connection=connection, steps=steps)
    audit_record(
        user=user,
        action="connection tested",
        object_type="connection",
        object_id=connection.name,
        project=connection.project,
        detail={"ok": all(step.ok for step in steps)},
    )
    return steps


def connection_try(
    *, connection: Connection, user: "User", config: Mapping[str, Any], secrets: Mapping[str, str | None]
) -> list[CheckStep]:
    """Try `connection` as a change would make it; nothing is kept. Forbidden below editor, Invalid where the change would be refused.

    A kept secret goes only where the kept settings send it.
    """
    role_check(user=user, project=connection.project_id, role=Role.EDITOR)
    opened = connection_changed(connection=connection, config=config, secrets=secrets)
    return _tried(opened, user=user, project=connection.project)


def connection_try_new(
    *, user: "User", project: str, kind: str, config: Mapping[str, Any], secrets: Mapping[str, str | None], name: str | None = None
) -> list[CheckStep]:
    """Try what is not kept yet; messages call it by its `name`, where it has one.

    Forbidden below editor of `project`, Invalid where it could not be kept.
    """
    home = project_for(user=user, slug=project, role=Role.EDITOR)
    return _tried(connection_given(name=name, kind=kind, config=config, secrets=secrets), user=user, project=home)


def _tried(opened: ConnectionSettings, *, user: "User", project: Project) -> list[CheckStep]:
    steps = _steps(opened, project)
    detail = {"kind": opened.kind, "kept": False, "ok": all(step.ok for step in steps)}
    audit_record(user=user, action="connection tested", object_type="connection", object_id=opened.name, project=project, detail=detail)
    return steps


def connections_claim(*, most: int) -> list[Connection]:
    """At most `most` connections that were not tried for CONNECTION_CHECK_SECONDS, each the caller's alone for as long.

    Of them only those that jobs use are handed out, with how many in `jobs_using`.
    """
    due = _due()
    oldest = Connection.objects.filter(due).order_by(F("check_claim_time").asc(nulls_first=True), "pk")
    ids = list(oldest.values_list("pk", flat=True)[:most])
    mine = [pk for pk in ids if Connection.objects.filter(due, pk=pk).update(check_claim_time=Now())]
    rows = list(Connection.objects.filter(pk__in=mine).select_related("project"))
    counts = connection_job_counts(rows)
    forgotten = [row.pk for row in rows if row.pk not in counts and row.jobs_using]
    Connection.objects.filter(pk__in=forgotten).update(jobs_using=0)
    for row in rows:
        row.jobs_using = counts.get(row.pk, 0)
    return [row for row in rows if row.jobs_using]


def _due() -> Q:
    term = now_plus(-settings.CONNECTION_CHECK_SECONDS)
    unclaimed = Q(check_claim_time=None) | Q(check_claim_time__lte=term)
    return unclaimed & (Q(test_time=None) | Q(test_time__lte=term))


def connection_check(connection: Connection) -> list[CheckStep]:
    """Try it step by step, without a word to the database: it was read with its project.

    Raises nothing; no message holds a secret of the connection.
    """
    try:
        opened = connection_open(connection)
    except SecretsUnreadable as error:
        return [CheckStep("secrets", False, str(error))]
    return _steps(opened, connection.project)


def _steps(opened: ConnectionSettings, project: Project) -> list[CheckStep]:
    try:
        steps = connection_kind_get(opened.kind).check(opened, project_limits(project))
    except Invalid as refusal:
        steps = [CheckStep("kind", False, refusal.problems[0].message if refusal.problems else str(refusal))]
    except Exception as error:
        logger.exception("testing a connection of kind %s", opened.kind)
        steps = [CheckStep("test", False, f"the test of this kind of connection is broken: {type(error).__name__}; the log says more")]
    return [replace(step, message=_fit_to_show(step.message, opened)) for step in steps]


def _fit_to_show(message: str, opened: ConnectionSettings) -> str:
    for secret in sorted(opened.secrets.values(), key=len, reverse=True):
        if len(secret) >= _SHORTEST_SECRET:
            message = message.replace(secret, "•••")
    return message.replace("\x00", "")[:_LONGEST_MESSAGE]


@transaction.atomic
def connection_checked(*, connection: Connection, steps: Sequence[CheckStep]) -> bool:
    """Keep and tell what was found of `connection` as it was read; False, and nothing kept, where it was changed or deleted meanwhile."""
    failed = next((step for step in steps if not step.ok), None)
    kept = Connection.objects.filter(pk=connection.pk, update_time=connection.update_time).update(
        test_time=Now(),
        test_ok=failed is None,
        test_step=failed.name[:100] if failed else "",
        test_message=(failed or steps[-1]).message if steps else "",
        failing_since=Coalesce("failing_since", Now()) if failed else None,
        jobs_using=connection.jobs_using,
    )
    if kept:
        row = Connection.objects.select_related("project").get(pk=connection.pk)
        message = broadcast.OverviewConnection(connection=connection_health_out(row))
        transaction.on_commit(lambda: broadcast.overview_message(message, project=row.project.slug))
    return bool(kept)
