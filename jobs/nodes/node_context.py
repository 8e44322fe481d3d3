"""What a node is configured by, and all that it gets to do its one verb."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from jobs.dag.catalogue import JobTypeName
from jobs.nodes.installation import ConnectionSettings, Limits
from jobs.nodes.node_error import NodeError


class Config(BaseModel):
    """Base of every node's settings: unknown fields are refused. Each field has description, examples and default (or is required)."""

    verbatim: ClassVar[frozenset[str]] = frozenset()  # fields in which `${name}` stays: a parameter written into code would be code

    model_config = ConfigDict(extra="forbid", frozen=True)


ConfigT = TypeVar("ConfigT", bound=Config)


@dataclass(frozen=True)
class NodeContext(Generic[ConfigT]):
    """All that a node needs to do its one verb.

    `mode`: "stream" (a streaming frame that goes on or drains, see `bounded`) or "batch" (a plain frame, read once).
    `schema_only`: validation; a source returns an empty frame of its schema without reading any rows where it can.
    `work_dir` is a folder of this node and generation that survives restarts; `live_dir` has Spark's positions, a folder a query.
    `query_dir` is that of the query that a stream is read in.
    """

    node_id: str
    node_name: str
    config: ConfigT
    job_type: JobTypeName = "STREAMING"
    job_uid: str = ""
    generation: str = ""
    attempt: int = 0
    mode: Literal["stream", "batch"] = "batch"
    bounded: bool = True
    #: Its rows are only looked things up in: they are read whole, also where the job itself never ends.
    beside: bool = False
    schema_only: bool = False
    #: The stream has no batches to speak of: rows are written as they are read.
    real_time: bool = False
    connections: Mapping[str, ConnectionSettings] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    work_dir: Path = Path("work")
    live_dir: Path = Path("live")
    query_dir: Path = Path("live/query")
    #: What tells its stream from the others of the query, where that reads it along several ways.
    occurrence: str = ""
    time_zone: str = "UTC"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    #: A run of a job: else rows are looked at, tested or written into a script, and nothing is called and nothing waited for.
    is_run: bool = False
    #: Of a test: what the clock shows while a batch is read, in milliseconds since 1970; None: the machine's own goes.
    clock_ms: int | None = None
    #: What a person's code may take in each of its tasks; None: as long as it likes.
    code_seconds: float | None = None
    #: The node is written into a script that runs by itself: what it hands to Spark has a Python text (see jobs.engine.script).
    for_script: bool = False
    #: The job ends with this node's first rejected row.
    fails_at_rejected: bool = False
    #: Somebody reads what this node rejects, as nodes behind its errors port do, or who looks at a preview.
    rejected_are_read: bool = False
    #: Input port → names of the nodes connected to it, in edge order, as `frames` has them.
    input_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Input port → the output ports of those nodes, likewise.
    input_ports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    log: Callable[[str], None] = field(default=print, repr=False)
    #: Like `log`, of what a person must hear of: it stands among the events of the execution. Only while a source begins or receives.
    notice: Callable[[str], None] = field(default=print, repr=False)

    @property
    def stream_name(self) -> str:
        """What Spark calls the stream of this source: its positions are kept by that name."""
        return self.node_id + self.occurrence

    @property
    def is_drawn(self) -> bool:
        """Whether what is wrong with the node is told to who draws it: neither a run nor a script has anybody who could mend it."""
        return self.schema_only or not (self.is_run or self.for_script)

    def connection(self, name: str) -> ConnectionSettings:
        """The connection called `name`; NodeError if the project has none, or its secrets cannot be opened."""
        found = self.connections.get(name)
        if found is None:
            problem = f'connection "{name}" does not exist in this project'
        elif found.problem:
            problem = f'connection "{name}": {found.problem}'
        else:
            return found
        raise NodeError(problem, permanent=True, kind="user", field="connection")
