"""Connections, connection kinds and node types, as they are sent. No secret is ever part of them."""

from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from jobs.selectors.shapes.base import Shape


class ConnectionOut(Shape):
    """`secrets` says which secret fields are set, never what they are.

    `test_*` is what was found at `test_time`, when somebody or the worker last tried it; `test_step` is the step that failed, empty when
    all held, and `failing_since` when the failures began.
    """

    id: int
    name: str
    kind: str
    project: str
    description: str
    config: dict[str, Any]
    secrets: dict[str, bool]
    test_time: datetime | None
    test_ok: bool | None
    test_step: str
    test_message: str
    failing_since: datetime | None
    used_by: list[str]
    create_time: datetime
    update_time: datetime
    updated_by: str


class ConnectionHealthOut(Shape):
    """What was found when a connection was last tried. `jobs_using`: by how many jobs it was used then."""

    id: int
    name: str
    kind: str
    project: str
    test_time: datetime | None
    test_ok: bool | None
    test_step: str
    test_message: str
    failing_since: datetime | None
    jobs_using: int
    update_time: datetime


class CheckStepOut(Shape):
    name: str
    ok: bool
    message: str
    milliseconds: int


class ConnectionTestOut(Shape):
    ok: bool
    steps: list[CheckStepOut]


class ConnectionKindOut(Shape):
    """`schema` is the JSON Schema of `config`; `secrets` maps secret fields to their labels.

    `secrets_when` maps a secret field to the "field=value" of `config` that needs it; one that is not in it is always needed.
    `secrets_of_lines`: secret fields that hold texts of several lines.
    A kind that is not available says why; no connection of it can be made, changed or tested.
    """

    kind: str
    title: str
    icon: str
    form: dict[str, Any] = Field(serialization_alias="schema")
    secrets: dict[str, str]
    secrets_when: dict[str, str]
    secrets_of_lines: list[str]
    available: bool = True
    unavailable_reason: str = ""


class PortOut(Shape):
    name: str
    kind: Literal["input", "reference", "output", "errors"]
    required: bool
    many: bool


class NodeTypeOut(Shape):
    """`schema` is the JSON Schema of the node's `config`. An unavailable type says why and cannot be placed."""

    type: str
    version: int
    family: Literal["source", "flow", "sink"]
    title: str
    help: str
    icon: str
    ports: list[PortOut]
    #: A list in the config: the `name` of each of its rows is one more output port, before the other outputs.
    ports_field: str
    form: dict[str, Any] = Field(serialization_alias="schema")
    job_types: list[Literal["STREAMING", "BATCH_ROLLER", "SQL_TASK"]]
    boundedness: str
    guarantee: str
    connection_kinds: list[str]
    available: bool
    unavailable_reason: str
    stateful: bool
    rejects_rows: bool
    #: It goes in real time, row by row; its config may hinder that.
    real_time: bool
