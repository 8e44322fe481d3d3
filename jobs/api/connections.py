"""/api/connections, /api/connection-kinds and /api/node-types."""

from collections.abc import Sequence
from typing import Annotated, Any

from drf_spectacular.utils import OpenApiParameter
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.base import ApiView, answer, answer_list, asked, body_read, described
from jobs.nodes.connection_kind import CheckStep
from jobs.nodes.form import hints
from jobs.selectors.connections import connection_get, connection_kinds_out, connections_out, connections_visible, node_types_out
from jobs.selectors.query_words import text_asked
from jobs.selectors.shapes.base import Body, Shape
from jobs.selectors.shapes.connection import CheckStepOut, ConnectionKindOut, ConnectionOut, ConnectionTestOut, NodeTypeOut
from jobs.services.connection_health import connection_test, connection_try, connection_try_new
from jobs.services.connections import connection_create, connection_delete, connection_update
from jobs.services.limits import installation_limits

Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=100, pattern=r"^[A-Za-z0-9][A-Za-z0-9 ._-]*$"),
    Field(json_schema_extra=hints(allowed="letters, digits, spaces, dots, hyphens and underscores, a letter or digit first")),
]
Description = Annotated[str, StringConstraints(max_length=500)]
Secrets = dict[str, str | None]


IF_UNCHANGED = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="Only if nobody changed it since: its `update_time` as it was read, in quotes."
)


class ConnectionBody(Body):
    """`secrets`: field → text, or null for none."""

    name: Name
    kind: str
    description: Description = ""
    config: dict[str, Any] = Field(default_factory=dict)
    secrets: Secrets = Field(default_factory=dict)
    project: str = ""


class ConnectionPatch(Body):
    """A secret that is not named stays as it is, null removes it, text replaces it. The kind never changes."""

    name: Name | None = None
    description: Description | None = None
    config: dict[str, Any] | None = None
    secrets: Secrets | None = None


class ConnectionTrial(Body):
    """Nothing tries what is kept. `config` and `secrets` are those of a change; nothing of them is kept."""

    config: dict[str, Any] | None = None
    secrets: Secrets = Field(default_factory=dict)


class NewConnectionTrial(Body):
    kind: str
    name: Name | None = None
    config: dict[str, Any] = Field(default_factory=dict)
    secrets: Secrets = Field(default_factory=dict)
    project: str = ""


class ConnectionList(Shape):
    results: list[ConnectionOut]
    next: str | None


class ConnectionKindList(Shape):
    results: list[ConnectionKindOut]
    next: str | None


class NodeTypeList(Shape):
    results: list[NodeTypeOut]
    next: str | None


class ConnectionsView(ApiView):
    @described(
        "Connections, by name",
        responds=ConnectionList,
        tag="connections",
        query=[asked("kind", "Of this kind."), asked("project", "Slug of a project."), asked("q", "Part of the name.")],
    )
    def get(self, request: Request) -> Response:
        rows = connections_visible(self.user())
        for name, condition in (("kind", "kind"), ("project", "project__slug"), ("q", "name__icontains")):
            if given := text_asked(request.query_params, name):
                rows = rows.filter(**{condition: given})
        return answer_list(connections_out(list(rows)))

    @described("Keep a connection", takes=ConnectionBody, responds=ConnectionOut, status=201, tag="connections")
    def post(self, request: Request) -> Response:
        body = body_read(request, ConnectionBody).model_dump()
        row = connection_create(user=self.user(), project=body.pop("project"), content=body)
        return answer(connections_out([row])[0], status=201)


class ConnectionView(ApiView):
    @described("One connection", responds=ConnectionOut, tag="connections")
    def get(self, request: Request, connection_id: int) -> Response:
        return answer(connections_out([connection_get(user=self.user(), connection_id=connection_id)])[0])

    @described("Change a connection", takes=ConnectionPatch, responds=ConnectionOut, tag="connections", query=[IF_UNCHANGED])
    def patch(self, request: Request, connection_id: int) -> Response:
        changes = body_read(request, ConnectionPatch).model_dump(exclude_unset=True, exclude_none=True)
        row = connection_get(user=self.user(), connection_id=connection_id)
        seen = request.headers.get("If-Match")
        changed = connection_update(connection=row, user=self.user(), changes=changes, seen=seen and seen.strip().strip('"'))
        return answer(connections_out([changed])[0])

    @described(
        "Change a connection as a whole; secrets that are not named stay", takes=ConnectionBody, responds=ConnectionOut, tag="connections"
    )
    def put(self, request: Request, connection_id: int) -> Response:
        changes = body_read(request, ConnectionBody).model_dump(exclude={"kind", "project"})
        row = connection_get(user=self.user(), connection_id=connection_id)
        return answer(connections_out([connection_update(connection=row, user=self.user(), changes=changes)])[0])

    @described("Delete a connection that no job uses", status=204, tag="connections")
    def delete(self, request: Request, connection_id: int) -> Response:
        connection_delete(connection=connection_get(user=self.user(), connection_id=connection_id), user=self.user())
        return Response(status=204)


class ConnectionTestView(ApiView):
    @described(
        "Try the connection step by step, as it is kept or as it would be changed",
        takes=ConnectionTrial,
        responds=ConnectionTestOut,
        tag="connections",
    )
    def post(self, request: Request, connection_id: int) -> Response:
        body = body_read(request, ConnectionTrial)
        row, user = connection_get(user=self.user(), connection_id=connection_id), self.user()
        if body.config is None and not body.secrets:
            return _told(connection_test(connection=row, user=user))
        config = row.config if body.config is None else body.config
        return _told(connection_try(connection=row, user=user, config=config, secrets=body.secrets))


class NewConnectionTestView(ApiView):
    @described("Try a connection that is not kept yet", takes=NewConnectionTrial, responds=ConnectionTestOut, tag="connections")
    def post(self, request: Request) -> Response:
        return _told(connection_try_new(user=self.user(), **body_read(request, NewConnectionTrial).model_dump()))


def _told(steps: Sequence[CheckStep]) -> Response:
    told = [CheckStepOut(name=step.name, ok=step.ok, message=step.message, milliseconds=step.milliseconds) for step in steps]
    return answer(ConnectionTestOut(ok=all(step.ok for step in steps), steps=told))


class ConnectionKindsView(ApiView):
    @described("Kinds of systems one can connect to", responds=ConnectionKindList, tag="connections")
    def get(self, request: Request) -> Response:
        return answer_list(connection_kinds_out(installation_limits()))


class NodeTypesView(ApiView):
    @described("Every node type with its ports, form and help", responds=NodeTypeList, tag="documents")
    def get(self, request: Request) -> Response:
        return answer_list(node_types_out())
