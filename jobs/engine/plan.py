"""The compiled document: everything resolved, plain frozen data. After this there is no JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs.dag.catalogue import JobTypeName
from jobs.dag.real_time import LEAST_SECONDS
from jobs.nodes.base import Config, ConnectionSettings, Limits


@dataclass(frozen=True)
class Settings:
    """How one execution runs, after config, document and installation default were laid over one another. Times in seconds."""

    trigger: str = "interval"  # interval | real_time
    trigger_interval: float = 5.0
    checkpoint_interval: float = 60.0  # 0: not by time
    checkpoint_rows: int = 0  # 0: not by rows
    checkpoint_each_page: bool = False
    checkpoint_timeout: float = 300.0
    checkpoint_min_pause: float = 0.0
    checkpoint_max_concurrent: int = 1
    checkpoint_tolerable_failures: int = -1  # in a row; -1: any number
    checkpoint_storage: str = "local"  # the name of a store
    checkpoint_on_cancel: str = "keep"  # keep | delete
    checkpoint_on_completion: str = "keep"  # keep | delete
    parallelism: int = 2
    time_zone: str = "UTC"
    rejected_rows: str = "dead_letter"  # fail | drop | dead_letter
    state_store: str = "rocksdb"  # rocksdb | memory
    max_retry_times: int = 3
    retry_interval: float = 5.0
    isolation: str = "shared"  # shared | dedicated
    max_batches: int | None = None

    @property
    def batch_seconds(self) -> float:
        """From one batch of a stream to the next."""
        return max(LEAST_SECONDS, self.trigger_interval) if self.trigger == "real_time" else self.trigger_interval


@dataclass(frozen=True)
class Step:
    """One node with its typed config. `inputs`: port → ((upstream node id, its output port), …) in edge order; `edges` their ids."""

    node_id: str
    name: str
    type: str
    config: Config
    inputs: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    edges: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    outputs_used: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Locations:
    """Where an execution keeps things: `live` is `<root>/<job_uid>/<generation>`; a query's Spark folder is below it by its key."""

    live: Path
    work: Path


@dataclass(frozen=True)
class RollBackPlan:
    """Where the sinks go back to before the first batch: what was written behind a checkpoint goes, where a sink can take it away.

    `generation` that the checkpoint was taken of; `batches`: sink → its last batch in it; `later`: generations that began after it.
    """

    generation: str
    batches: Mapping[str, int] = field(default_factory=dict)
    later: tuple[str, ...] = ()

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> RollBackPlan:
        """From what `data` gave."""
        return cls(kept["generation"], dict(kept["batches"]), tuple(kept["later"]))

    def data(self) -> dict[str, Any]:
        return {"generation": self.generation, "batches": dict(self.batches), "later": list(self.later)}


@dataclass(frozen=True)
class Plan:
    """Steps in topological order and all they need. `until_drained`: a stream, too, ends once it has read all that is there."""

    job_name: str
    job_type: JobTypeName
    job_uid: str
    generation: str
    attempt: int
    fresh: bool
    steps: tuple[Step, ...]
    settings: Settings
    locations: Locations
    limits: Limits
    connections: Mapping[str, ConnectionSettings] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    until_drained: bool = False
    roll_back: RollBackPlan | None = None
    #: Of an execution: else nodes neither act on other systems nor wait.
    is_run: bool = False
    #: It is written into a script that runs by itself.
    for_script: bool = False
    #: Of a test: milliseconds since 1970 at which its batches come, in their order, by a clock that stands still between them.
    clock: tuple[int, ...] = ()
    #: Of a preview or a test: what a person's code may take in each of its tasks. None: as long as it likes.
    code_seconds: float | None = None

    @property
    def is_real_time(self) -> bool:
        """Each row goes its way as it comes. What is to end once it has read all that is there goes in batches."""
        return self.settings.trigger == "real_time" and self.job_type == "STREAMING" and not self.until_drained

    def time_of(self, batch_id: int) -> int | None:
        """What the test's clock shows in a batch: those behind its last time come at that. None: the machine's own clock goes."""
        return self.clock[min(batch_id, len(self.clock) - 1)] if self.clock else None
