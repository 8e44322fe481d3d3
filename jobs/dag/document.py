"""The DAG document: what a job is, as data that is read, checked, canonicalised and hashed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from jobs.dag.catalogue import JobTypeName
from jobs.dag.durations import duration_ms
from jobs.dag.pipeline_tests import Identifier, PipelineTest, tests_data
from jobs.dag.problems import Problem
from jobs.dag.reading import read_json
from jobs.dag.shape import shape_problems, size_problems
from jobs.dag.time_zones import time_zone_known

#: Words that stand in routes beside a job's name.
RESERVED_NAMES = frozenset({"validate", "preview", "import", "new", "script"})
#: Those that no new job may be called; one that was called `defaults` before that word was taken can be read and run as ever.
RESERVED_FOR_NEW_JOBS = RESERVED_NAMES | {"defaults"}
SLUG = r"^[a-z0-9][a-z0-9-]{0,199}$"


def _free_name(name: str) -> str:
    if name in RESERVED_NAMES:
        raise PydanticCustomError("reserved", '"{name}" is a reserved word: choose another name', {"name": name})
    return name


def _duration(text: str) -> str:
    try:
        duration_ms(text)
    except ValueError as error:
        raise PydanticCustomError("duration", "{reason}", {"reason": str(error)}) from None
    return text.strip()


def _some_time(text: str) -> str:
    if duration_ms(text) < 1000:
        raise PydanticCustomError("duration", '"{text}" is too short: it must be a second or longer', {"text": text})
    return text


def _one_at_a_time(number: int) -> int:
    if number != 1:
        reason = "only 1 is possible: a checkpoint is a copy of the newest committed batch, and a second request waits until it is taken"
        raise PydanticCustomError("concurrent", "{reason}", {"reason": reason})
    return number


def _time_zone(name: str) -> str:
    if not time_zone_known(name):
        raise PydanticCustomError("time_zone", '"{name}" is no time zone: write one such as "UTC" or "Europe/Berlin"', {"name": name})
    return name


ParameterName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]
JobName = Annotated[str, StringConstraints(pattern=SLUG), AfterValidator(_free_name)]
PortName = Annotated[str, StringConstraints(min_length=1, max_length=64)]
Duration = Annotated[str, StringConstraints(max_length=40), AfterValidator(_duration)]
#: A second or longer.
LongDuration = Annotated[Duration, AfterValidator(_some_time)]
TimeZone = Annotated[str, StringConstraints(max_length=64), AfterValidator(_time_zone)]
OnEnd = Literal["keep", "delete"]
#: Of a store of checkpoints; whether there is one of that name is the installation's to say.
StorageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.-]{0,39}$")]
ParameterType = Literal["string", "integer", "number", "boolean"]
ParameterValue = str | int | float | bool


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Node(_Part):
    """One box on the canvas. `type` may be unknown here: it is kept and shown as missing. Without a name it is called by its id."""

    type: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    type_version: int = Field(default=1, ge=1, le=10_000, strict=True)
    name: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    config: dict[str, Any] = Field(default_factory=dict)


class Edge(_Part):
    """From an output port to an input port, each as (node id, port name)."""

    source: tuple[str, PortName] = Field(alias="from")
    target: tuple[str, PortName] = Field(alias="to")


class Parameter(_Part):
    """A value given at start and used as `${name}`. Without a default it must be given."""

    type: ParameterType = "string"
    default: Any = None
    description: Annotated[str, StringConstraints(max_length=500)] = ""


class DocumentSettings(_Part):
    """How the job runs. None: the installation's default. Durations are text such as "60s" (see `durations`).

    Checkpoints are taken every `checkpoint_interval`, every `checkpoint_rows` rows read and, of an import, behind each page or batch
    (`checkpoint_each_page`), whichever comes first; an interval or a number of 0 is none. `checkpoint_tolerable_failures` in a row,
    -1 any number. `checkpoint_storage`: the store they go to, by its name. `checkpoint_on_cancel` and `checkpoint_on_completion`: what
    becomes of those that nobody keeps or needs.

    A stream reads a batch each `trigger_interval`, or with `trigger` real_time row by row, in batches that are that long.
    """

    checkpoint_interval: Duration | None = None
    checkpoint_rows: int | None = Field(default=None, ge=0, le=10**12, strict=True)
    checkpoint_each_page: bool | None = Field(default=None, strict=True)
    checkpoint_timeout: LongDuration | None = None
    checkpoint_min_pause: Duration | None = None
    checkpoint_max_concurrent: Annotated[int, Field(strict=True), AfterValidator(_one_at_a_time)] | None = None
    checkpoint_tolerable_failures: int | None = Field(default=None, ge=-1, le=10_000, strict=True)
    checkpoint_storage: StorageName | None = None
    checkpoint_on_cancel: OnEnd | None = None
    checkpoint_on_completion: OnEnd | None = None
    trigger: Literal["interval", "real_time"] | None = None
    trigger_interval: Duration | None = None
    max_retry_times: int | None = Field(default=None, ge=0, le=1000, strict=True)
    retry_interval: Duration | None = None
    parallelism: int | None = Field(default=None, ge=1, le=10_000, strict=True)
    time_zone: TimeZone | None = None
    rejected_rows: Literal["fail", "drop", "dead_letter"] | None = None
    state_store: Literal["rocksdb", "memory"] | None = None
    isolation: Literal["shared", "dedicated"] | None = None


#: The settings that are durations.
DURATIONS = ("checkpoint_interval", "checkpoint_timeout", "checkpoint_min_pause", "trigger_interval", "retry_interval")


class Position(_Part):
    x: float = Field(allow_inf_nan=False)
    y: float = Field(allow_inf_nan=False)


class Layout(_Part):
    """Where things are drawn. Never part of a version or a hash.

    A note is {"id", "text", "x", "y", "width", "height"}, a group {"id", "title", …}: a frame behind the nodes whose middle lies in it.
    """

    positions: dict[str, Position] = Field(default_factory=dict)
    notes: list[dict[str, Any]] = Field(default_factory=list, max_length=1_000)
    groups: list[dict[str, Any]] = Field(default_factory=list, max_length=1_000)


class DagDocument(_Part):
    """One job. Read it with `parse_document`. Edges stand in the order of their ids, however they were written."""

    schema_version: Literal[1] = 1
    name: JobName
    title: Annotated[str, StringConstraints(max_length=200)] = ""
    description: Annotated[str, StringConstraints(max_length=20_000)] = ""
    type: JobTypeName
    parameters: dict[ParameterName, Parameter] = Field(default_factory=dict)
    nodes: dict[Identifier, Node] = Field(default_factory=dict)
    edges: dict[Identifier, Edge] = Field(default_factory=dict)
    settings: DocumentSettings = Field(default_factory=DocumentSettings)
    tests: list[PipelineTest] = Field(default_factory=list)
    layout: Layout = Field(default_factory=Layout)

    @field_validator("edges")
    @classmethod
    def _by_id(cls, edges: dict[str, Edge]) -> dict[str, Edge]:
        return dict(sorted(edges.items()))

    @field_validator("nodes", mode="before")
    @classmethod
    def _name_by_id(cls, nodes: Any) -> Any:
        if not isinstance(nodes, dict):
            return nodes
        return {key: {"name": key, **node} if isinstance(node, dict) else node for key, node in nodes.items()}


def parse_document(raw: bytes | str | Mapping[str, Any]) -> tuple[DagDocument | None, list[Problem]]:
    """The document in `raw` (JSON text or its data), or None and why not. Never raises, whatever the bytes.

    Only the shape of the document itself is checked here; the graph and the nodes' configs are checked by `graph`.
    """
    data, problems = read_json(raw)
    if problems:
        return None, problems
    problems = size_problems(data)
    if problems:
        return None, problems
    try:
        return DagDocument.model_validate(data), []
    except ValidationError as error:
        return None, shape_problems(DagDocument, error)


def document_data(document: DagDocument) -> dict[str, Any]:
    """The document as plain JSON data without its layout; what was not said is left out."""
    data = document.model_dump(mode="json", by_alias=True, exclude={"layout", "settings", "parameters", "tests"})
    data["settings"] = document.settings.model_dump(mode="json", exclude_none=True)
    data["parameters"] = {name: parameter.model_dump(mode="json", exclude_none=True) for name, parameter in document.parameters.items()}
    if document.tests:
        data["tests"] = tests_data(document.tests)
    return data


def canonical_json(document: DagDocument) -> str:
    """One text per meaning: sorted keys, no spaces, whole numbers without a fraction, no layout. Reads back to itself."""
    return _canonical(document_data(document))


def logic_hash(document: DagDocument) -> str:
    """SHA-256 (hex) over what the job does: type, parameters, nodes, edges, settings. Not its name, title, description, tests or layout."""
    data = document_data(document)
    logic = {key: data[key] for key in ("type", "parameters", "nodes", "edges", "settings")}
    for key, value in logic["settings"].items():
        if key in DURATIONS:
            logic["settings"][key] = duration_ms(value)
    return hashlib.sha256(_canonical(logic).encode()).hexdigest()


def _canonical(data: Any) -> str:
    return json.dumps(_plain_numbers(data), sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _plain_numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_numbers(item) for item in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    return value
