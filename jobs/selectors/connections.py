"""Connections as a user may see them, and who uses them."""

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import QuerySet

from jobs.models import Connection
from jobs.nodes.base import Limits, NodeError
from jobs.nodes.plugins import raised_words
from jobs.nodes.registry import REGISTRY
from jobs.selectors.access import projects_visible
from jobs.selectors.connection_use import connection_users
from jobs.selectors.refusals import NotFound
from jobs.selectors.shapes.connection import ConnectionHealthOut, ConnectionKindOut, ConnectionOut, NodeTypeOut, PortOut

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from jobs.dag.catalogue import NodeTypeSpec
    from jobs.nodes.connection_kind import ConnectionKind

logger = logging.getLogger(__name__)


def connections_visible(user: "User | AnonymousUser") -> QuerySet[Connection]:
    """The connections of the user's projects, by name."""
    rows = Connection.objects.filter(project__in=projects_visible(user))
    return rows.select_related("project", "updated_by").order_by("name", "id")


def connection_get(*, user: "User | AnonymousUser", connection_id: int) -> Connection:
    """One connection, or NotFound."""
    row = connections_visible(user).filter(pk=connection_id).first()
    if row is None:
        raise NotFound(f"connection {connection_id} does not exist, or not for you")
    return row


def connections_out(rows: Sequence[Connection]) -> list[ConnectionOut]:
    users = connection_users(rows)
    return [connection_out(row, users.get(row.pk, [])) for row in rows]


def connection_out(row: Connection, used_by: list[str]) -> ConnectionOut:
    kind = REGISTRY.connection_kinds().get(row.kind)
    stored = set(row.secret_names)
    return ConnectionOut(
        id=row.pk,
        name=row.name,
        kind=row.kind,
        project=row.project.slug,
        description=row.description,
        config=row.config,
        secrets={name: name in stored for name in (kind.secrets if kind else stored)},
        test_time=row.test_time,
        test_ok=row.test_ok,
        test_step=row.test_step,
        test_message=row.test_message,
        failing_since=row.failing_since,
        used_by=used_by,
        create_time=row.create_time,
        update_time=row.update_time,
        updated_by=row.updated_by.get_username() if row.updated_by else "",
    )


def connection_health_out(row: Connection) -> ConnectionHealthOut:
    return ConnectionHealthOut(
        id=row.pk,
        name=row.name,
        kind=row.kind,
        project=row.project.slug,
        test_time=row.test_time,
        test_ok=row.test_ok,
        test_step=row.test_step,
        test_message=row.test_message,
        failing_since=row.failing_since,
        jobs_using=row.jobs_using,
        update_time=row.update_time,
    )


def connections_failing(user: "User | AnonymousUser") -> QuerySet[Connection]:
    """Of the connections that the user sees, those that failed when they were last tried while jobs used them; the longest first."""
    rows = Connection.objects.filter(project__in=projects_visible(user), test_ok=False, jobs_using__gt=0)
    return rows.select_related("project").order_by("failing_since", "id")


def connection_kinds_out(limits: Limits) -> list[ConnectionKindOut]:
    """Every kind there is; those that cannot be used here, or could not be loaded, with the reason."""
    known = [_kind_out(name, kind, limits) for name, kind in REGISTRY.connection_kinds().items()]
    missing = [_unusable(name, name, "plug-off", reason) for name, reason in REGISTRY.missing_kinds().items()]
    return sorted(known + missing, key=lambda shape: shape.kind)


def _kind_out(name: str, kind: "ConnectionKind", limits: Limits) -> ConnectionKindOut:
    try:
        return ConnectionKindOut(
            kind=name,
            title=kind.title,
            icon=kind.icon,
            form=kind.form(limits),
            secrets=dict(kind.secrets),
            secrets_when=dict(kind.secrets_when),
            secrets_of_lines=sorted(kind.secrets_of_lines),
        )
    except NodeError as error:
        return _unusable(name, kind.title, kind.icon, error.message)
    except Exception as error:  # a package's fault must not take all the other kinds away
        logger.exception("the kind of connection %s cannot be shown", name)
        reason = f"this kind of connection could not be loaded: {raised_words(error)}"
        return _unusable(name, name, "plug-off", reason)


def _unusable(name: str, title: str, icon: str, reason: str) -> ConnectionKindOut:
    return ConnectionKindOut(
        kind=name,
        title=title,
        icon=icon,
        form={"type": "object", "properties": {}},
        secrets={},
        secrets_when={},
        secrets_of_lines=[],
        available=False,
        unavailable_reason=reason,
    )


def node_types_out() -> list[NodeTypeOut]:
    """Every node type, also those that could not be loaded."""
    return [_node_type_out(spec) for spec in REGISTRY.catalogue().values()]


def _node_type_out(spec: "NodeTypeSpec") -> NodeTypeOut:
    return NodeTypeOut(
        type=spec.type,
        version=spec.version,
        family=spec.family,
        title=spec.title,
        help=spec.help,
        icon=spec.icon,
        ports=[PortOut(name=port.name, kind=port.kind, required=port.required, many=port.many) for port in spec.ports],
        ports_field=spec.ports_field,
        form=dict(spec.schema),
        job_types=list(spec.job_types),
        boundedness=spec.boundedness,
        guarantee=spec.guarantee,
        connection_kinds=list(spec.connection_kinds),
        available=spec.available,
        unavailable_reason=spec.unavailable_reason,
        stateful=spec.stateful,
        rejects_rows=spec.rejects_rows,
        real_time=spec.real_time,
    )
