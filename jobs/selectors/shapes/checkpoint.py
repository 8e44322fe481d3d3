"""Checkpoints as they are sent."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from jobs.selectors.shapes.base import Shape


class CheckpointSourceOut(Shape):
    """Where a checkpoint was brought from. `way`: an ARCHIVE, a COPY of another job's, or one whose POSITIONS were edited.

    `checkpoint_id` is its number there, `checkpoint` its row where that is in this installation; `taken` when it was taken, `before` the
    positions it had there.
    """

    way: Literal["ARCHIVE", "COPY", "POSITIONS"]
    by: str
    job_name: str
    project: str
    execution_id: str
    version: int
    checkpoint_id: int
    checkpoint: int | None
    taken: datetime
    before: dict[str, Any]


class CheckpointQueryOut(Shape):
    """One query's part: -1 as `batch_id` where it had committed nothing. `files` and `bytes` count Spark's files.

    `watermark_ms`: event time, since 1970, below which rows came too late. Null where there is none; the three of older rows, too.
    """

    batch_id: int = -1
    sinks: list[str] = []
    files: int | None = None
    bytes: int | None = None
    watermark_ms: int | None = None


class CheckpointOut(Shape):
    """Every column, and whether one can start from it. `storage_size_bytes` is logical; `exclusive_bytes` is what deleting would free.

    `source`: null for one that was taken here; else its execution is no run of this job, but the record of one elsewhere.
    `rows_read`: source rows of the execution up to it; null where they were not counted. `backlog`: rows that waited at its sources
    then, null where none can tell. `storage` names the store its files are in, "local" the disk, and `storage_path` says where there.
    """

    id: int
    execution_id: str
    job_name: str
    job_title: str
    project: str
    generation: UUID
    checkpoint_id: int
    checkpoint_type: Literal["STREAMING", "ROLLER", "SQL_TASK"]
    status: Literal["PENDING", "COMPLETED", "FAILED", "EXPIRED"]
    origin: Literal["INTERVAL", "ROWS", "PAGE", "MANUAL", "STOP"]
    requested_by: str
    label: str
    pinned: bool
    is_savepoint: bool
    attempt: int
    state_data: dict[str, Any]
    rows_read: int | None
    backlog: int | None
    storage: str
    storage_path: str
    storage_size_bytes: int
    exclusive_bytes: int
    file_count: int
    phases: dict[str, Any]
    queries: dict[str, CheckpointQueryOut]
    operators: list[dict[str, Any]]
    failure_reason: str
    create_time: datetime
    complete_time: datetime | None
    delete_time: datetime | None
    deleted_by: str
    duration_ms: int | None
    restorable: bool
    restorable_reason: str
    source: CheckpointSourceOut | None


class CheckpointRestoreOut(Shape):
    """An execution that went on from it. `in_place`: one that had begun elsewhere, and took it when its live folder could not be read."""

    execution_id: str
    version: int
    status: str
    created_by: str | None
    create_time: datetime
    in_place: bool


class CheckpointNearestOut(Shape):
    id: int
    checkpoint_id: int
    execution_id: str
    create_time: datetime


class CheckpointDetailOut(CheckpointOut):
    """One checkpoint with what became of it. `restored_by`: the newest 20 that went on from it, newest first; the rest are counted.

    `delete_reason`: why a rule or a person deleted it, "" where that is not known. `nearest_good`: of one that cannot be restored, the
    nearest one in time of its job that can, null if there is none. `node_names`: node → what the version that it was taken of calls it,
    empty where that is gone.
    """

    restored_by: list[CheckpointRestoreOut]
    restored_by_more: int
    delete_reason: str
    nearest_good: CheckpointNearestOut | None
    node_names: dict[str, str]


class CheckpointFileOut(Shape):
    """A file by its path in the checkpoint, as its manifest has it; `sha256` in hexadecimal."""

    path: str
    bytes: int
    sha256: str


class CheckpointFilesOut(Shape):
    """One page of its files in the order of their paths. `count` and `bytes` are of all that fit the search."""

    count: int
    bytes: int
    results: list[CheckpointFileOut]


class CheckpointPointOut(Shape):
    """One checkpoint of a history. Of one that failed, size and distances are null: they go from one that was whole to the next.

    `rows_between`: rows read since the one before; `since_last_ms`: from its beginning to this one's. Null also of the first.
    """

    id: int
    checkpoint_id: int
    status: Literal["COMPLETED", "FAILED", "EXPIRED"]
    origin: Literal["INTERVAL", "ROWS", "PAGE", "MANUAL", "STOP"]
    is_savepoint: bool
    create_time: datetime
    duration_ms: int | None
    bytes_logical: int | None
    rows_between: int | None
    since_last_ms: int | None


class CheckpointHistoryOut(Shape):
    """Oldest first. `interval`: seconds that are to lie between two, null where none is due by time; `more`: there are older ones.

    `counts`: status → how many of the execution have it, those that are older or being written too.
    """

    interval: float | None
    more: bool
    counts: dict[Literal["PENDING", "COMPLETED", "FAILED", "EXPIRED"], int]
    results: list[CheckpointPointOut]


class SourceDifferenceOut(Shape):
    """A source's positions in two checkpoints, null in one that has none; `rows` from the first to the second, null where unknown.

    Rows are those that the positions count, as offsets of messages do; else, of a job's only source, those that its run counted between
    the two. `unknown` says why there are none: one has no position ("position"), the run counts several sources together ("sources"),
    the two are of different runs ("runs"), or the run's rows were not kept ("count").
    """

    node_id: str
    first: Any
    second: Any
    rows: int | None
    unknown: Literal["", "position", "sources", "runs", "count"]


class CheckpointComparisonOut(Shape):
    """`node_names`: as the version of the second calls its nodes."""

    first: CheckpointOut
    second: CheckpointOut
    sources: list[SourceDifferenceOut]
    node_names: dict[str, str]


class CheckpointAgeOut(Shape):
    """Complete ones taken within the last day, the week before that, the rest of 30 days, and before; bytes that they alone take."""

    age: Literal["day", "week", "month", "older"]
    count: int
    bytes_exclusive: int


class CheckpointJobUsageOut(Shape):
    """The complete checkpoints of one job; `owner` made the job."""

    job_name: str
    project: str
    owner: str | None
    deleted: bool
    count: int
    bytes_logical: int
    bytes_exclusive: int
    oldest: datetime
    newest: datetime


class CheckpointUsageOut(Shape):
    """`count` are complete, of them `savepoints` and `pinned`. `bytes_exclusive`: what deleting each alone would free.

    `bytes_in_a_week`: logical, at the pace of the last week; null while there has been none. `jobs`: those that take most, first,
    without `more_jobs`.
    """

    count: int
    savepoints: int
    pinned: int
    failed: int
    pending: int
    bytes_logical: int
    bytes_exclusive: int
    bytes_in_a_week: int | None
    ages: list[CheckpointAgeOut]
    jobs: list[CheckpointJobUsageOut]
    more_jobs: int
