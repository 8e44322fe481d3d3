"""What the engine reports: a closed set of frozen facts, passed to one plain callable. It has never heard of who listens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class NodeCounts:
    """Rows into, out of and rejected by one node in one batch; None where Spark cannot tell.

    `tallies`: what else it counts among the rows behind it, rejected ones included, by its name: how many broke a rule.
    `late`: rows, or within a task put together ones, that a stream left out because they came too late.
    `timeless`: rows that it left out because they have no time.
    """

    rows_in: int | None = None
    rows_out: int | None = None
    rejected: int = 0
    tallies: Mapping[str, int] = field(default_factory=dict)
    late: int = 0
    timeless: int = 0


@dataclass(frozen=True)
class QueryStarted:
    """`query` is its key: the sorted sink ids joined by "+". `resumed_batch` is the last committed batch, -1 when fresh."""

    query: str
    sinks: tuple[str, ...]
    resumed_batch: int


@dataclass(frozen=True)
class BatchUnderWay:
    """A batch is being written for `seconds` now; of the `tasks` that Spark runs for it at this moment `done` are done.

    `rows_in` and `nodes`: what has passed in tasks that are done; of a sink what came to it, for nobody knows yet what it will take.
    """

    query: str
    batch_id: int
    seconds: float
    done: int
    tasks: int
    rows_in: int = 0
    nodes: Mapping[str, NodeCounts] = field(default_factory=dict)


@dataclass(frozen=True)
class BatchWritten:
    """A batch's sinks are written; Spark has not committed it yet. Reported from inside foreachBatch: overwrites on a repeat.

    `seconds`: how long its rows were read and written; 0 where nobody measured it.
    """

    query: str
    batch_id: int
    rows_in: int
    rows_out: int
    rejected: int
    nodes: Mapping[str, NodeCounts] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class BatchCommitted:
    """Spark committed the batch. `durations_ms` by Spark's phase names; `sources` node_id → {"start", "end", "latest", "rows"}.

    `behind`: node_id → rows that wait at a source whose offsets tell it.
    `operators`: one per stateful operator {"operator", "node_id", "rows", "bytes"}; `watermark` ISO 8601 or "".
    """

    query: str
    batch_id: int
    at: datetime
    rows_in: int
    in_per_second: float
    processed_per_second: float
    durations_ms: Mapping[str, int]
    sources: Mapping[str, Mapping[str, Any]]
    nodes: Mapping[str, NodeCounts] = field(default_factory=dict)
    behind: Mapping[str, int] = field(default_factory=dict)
    operators: tuple[Mapping[str, Any], ...] = ()
    watermark: str = ""


@dataclass(frozen=True)
class RowsRejected:
    """Rejected rows kept for people: `rows` are {"reason": str, "row": JSON text}; `total` may exceed those kept."""

    query: str
    batch_id: int
    node_id: str
    total: int
    rows: tuple[Mapping[str, str], ...]


@dataclass(frozen=True)
class RowsPrinted:
    """The first rows of a batch as `sink.print` shows them; `rows` are JSON texts."""

    node_id: str
    batch_id: int
    rows: tuple[str, ...]


@dataclass(frozen=True)
class Progressed:
    """How far a bounded run is: `done` of `total` (None: unknown) in `unit` ("rows", "pages", "files")."""

    node_id: str
    done: int
    total: int | None
    unit: str


#: In the detail of a Noticed: since when the table beside its node could not be read again, ISO 8601; "": it was.
OUTDATED = "outdated_since"
#: In the detail of a Noticed: how many messages were left out since the one before. A stream that never catches up tells it each minute.
SKIPPED = "skipped"


@dataclass(frozen=True)
class Noticed:
    """A sentence worth keeping in the timeline, such as that a source is read twice. `detail`: what it says, as data."""

    message: str
    node_id: str = ""
    severity: str = "info"
    detail: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Waiting:
    """The system of a node does not answer: `what` within a sentence ("kafka main"). Empty: it answers again.

    `given_up`: or it was asked for no longer, which is all that is known of what is read beside a stream.
    """

    node_id: str
    what: str
    given_up: bool = False


@dataclass(frozen=True)
class BufferStands:
    """How the own buffer of a source stands: messages that wait, all that were ever dropped, and what is done about it.

    `status`: OK, HOLDING, DROPPING or FAILED.
    """

    node_id: str
    waiting: int
    dropped: int
    status: str


EngineEvent = (
    QueryStarted
    | BatchUnderWay
    | BatchWritten
    | BatchCommitted
    | RowsRejected
    | RowsPrinted
    | Progressed
    | Noticed
    | Waiting
    | BufferStands
)


def rows_waiting(behind: Iterable[Mapping[str, int]], buffers: Mapping[str, int]) -> int | None:
    """Rows that wait at all sources, None where none can tell. `behind`: of each query, by its sources' offsets; `buffers`: by node id.

    A batch reads to the end of what its buffer gives it, so that of a source with a buffer only the buffer tells.
    """
    known = [rows for query in behind for node_id, rows in query.items() if node_id not in buffers]
    known += buffers.values()
    return sum(known) if known else None


Report = Callable[[EngineEvent], None]


def each(*reports: Report) -> Report:
    """Tells one after the other."""

    def told(event: EngineEvent) -> None:
        for report in reports:
            report(event)

    return told
