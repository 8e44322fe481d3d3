"""What the language knows of a node type: told from outside, so that it need not import any."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from jobs.dag.problems import Problem
from jobs.dag.sql_places import SqlDialect

Family = Literal["source", "flow", "sink"]
PortKind = Literal["input", "reference", "output", "errors"]
JobTypeName = Literal["STREAMING", "BATCH_ROLLER", "SQL_TASK"]

#: What the pages call each kind of job.
JOB_TYPE_WORDS: Mapping[JobTypeName, str] = {"STREAMING": "streaming", "BATCH_ROLLER": "paged import", "SQL_TASK": "SQL task"}


@dataclass(frozen=True)
class Port:
    """A named input or output. `reference` is an input read whole beside the rows; `errors` an output of rejected rows.

    `many`: takes more than one edge. Outputs always may feed several.
    """

    name: str
    kind: PortKind
    required: bool = True
    many: bool = False

    @property
    def is_input(self) -> bool:
        return self.kind in ("input", "reference")


@dataclass(frozen=True)
class NodeTypeSpec:
    """The public face of a node type, as `/api/node-types` and validation see it.

    `config_problems(config)` returns problems whose pointers are relative to the node's `config`;
    `resolved_config(config)` returns the config with every default written in. Both never raise for a dict of JSON.
    """

    type: str
    version: int
    family: Family
    title: str
    help: str
    icon: str
    ports: tuple[Port, ...]
    schema: Mapping[str, Any]
    job_types: tuple[JobTypeName, ...]
    config_problems: Callable[[Mapping[str, Any]], list[Problem]]
    resolved_config: Callable[[Mapping[str, Any]], dict[str, Any]]
    #: The places of a config that hold something else than the text that belongs there. Never raises.
    no_texts: Callable[[Mapping[str, Any]], list[tuple[str | int, ...]]] = lambda config: []
    boundedness: Literal["", "bounded", "unbounded", "both"] = ""
    guarantee: str = ""
    #: What becomes of a row when something fails, with this config: "exactly once" and the like; "" of flows that do no more. Never raises.
    guarantee_of: Callable[[Mapping[str, Any]], str] = lambda config: ""
    connection_kinds: tuple[str, ...] = ()
    available: bool = True
    unavailable_reason: str = ""
    stateful: bool = False
    rejects_rows: bool = False
    #: Config field → names of `${name}` places in it that the node fills in itself, None for any; parameters come first.
    own_places: Mapping[str, frozenset[str] | None] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    #: Config field, a list of rows: the `name` of each is one more output port.
    ports_field: str = ""
    #: Config fields in which parameters have no place.
    verbatim: frozenset[str] = frozenset()
    #: Config fields that hold SQL, at any depth.
    sql: Mapping[str, SqlDialect] = field(default_factory=dict)
    #: Its config holds a program, which only some may run.
    runs_user_code: bool = False
    #: Spark can run it in real time, row by row; whether a node of its can, its config may decide.
    real_time: bool = False
    #: Why a stream with a node of this config cannot run in real time, in words behind its name; "" where it can. Never raises.
    hinders_real_time: Callable[[Mapping[str, Any]], str] = lambda config: ""

    def ports_of(self, config: Mapping[str, Any]) -> tuple[Port, ...]:
        """The ports of a node with this config: those that its rows name stand before the other outputs. Never raises."""
        rows = config.get(self.ports_field) if self.ports_field else None
        names = [row.get("name") for row in rows if isinstance(row, Mapping)] if isinstance(rows, list | tuple) else []
        declared = {port.name for port in self.ports}
        named = dict.fromkeys(name for name in names if isinstance(name, str) and name and name not in declared)
        inputs = tuple(port for port in self.ports if port.is_input)
        outputs = tuple(port for port in self.ports if not port.is_input)
        return (*inputs, *(Port(name, "output", required=False) for name in named), *outputs)


#: Type name → its face. Unknown names are missing types: kept, shown, never run.
Catalogue = Mapping[str, NodeTypeSpec]
