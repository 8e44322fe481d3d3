"""Connections as a user may see them, and who uses them."""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from jobs.models import Connection, Job
from jobs.nodes.form import form_schema
from jobs.nodes.registry import REGISTRY
from jobs.selectors.access import projects_visible
from jobs.selectors.refusals import NotFound
from jobs.selectors.shapes.connection import ConnectionKindOut, ConnectionOut, NodeTypeOut, PortOut

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser, User

    from jobs.dag.catalogue import NodeTypeSpec

#: How documents name a connection, in the text they are kept in.
_REFERENCE = re.compile(r'"[a-z_]*connection":"((?:[^"\\]|\\.)*)"')


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


def connection_users(connections: Iterable[Connection]) -> dict[int, list[str]]:
    """Connection id → names of living jobs whose current version or draft refers to it; one query for all."""
    by_place = {(row.project_id, row.name): row.pk for row in connections}
    if not by_place:
        return {}
    mentions = Q(dag_definition__contains='connection":"') | Q(draft__document__contains='connection":"')
    jobs = Job.objects.filter(mentions, deleted_at=None, project_id__in={project_id for project_id, _ in by_place}).order_by("job_name")
    users: dict[int, list[str]] = {}
    for job_name, project_id, current, draft in jobs.values_list("job_name", "project_id", "dag_definition", "draft__document").iterator():
        names = set(_REFERENCE.findall(current)) | set(_REFERENCE.findall(draft or ""))
        for name in names:
            if (found := by_place.get((project_id, name))) is not None:
                users.setdefault(found, []).append(job_name)
    return users


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
        test_message=row.test_message,
        used_by=used_by,
        create_time=row.create_time,
        update_time=row.update_time,
        updated_by=row.updated_by.get_username() if row.updated_by else "",
    )


def connection_kinds_out() -> list[ConnectionKindOut]:
    """Every kind this installation can connect to."""
    return [
        ConnectionKindOut(
            kind=name,
            title=kind.title,
            icon=kind.icon,
            form=form_schema(kind.Config),
            secrets=dict(kind.secrets),
            secrets_when=dict(kind.secrets_when),
        )
        for name, kind in sorted(REGISTRY.connection_kinds().items())
    ]


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
        form=dict(spec.schema),
        job_types=list(spec.job_types),
        boundedness=spec.boundedness,
        guarantee=spec.guarantee,
        connection_kinds=list(spec.connection_kinds),
        available=spec.available,
        unavailable_reason=spec.unavailable_reason,
        stateful=spec.stateful,
        rejects_rows=spec.rejects_rows,
    )
