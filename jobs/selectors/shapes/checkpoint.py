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


class CheckpointOut(Shape):
    """Every column, and whether one can start from it. `storage_size_bytes` is logical; `exclusive_bytes` is what deleting would free.

    `source`: null for one that was taken here; else its execution is no run of this job, but the record of one elsewhere.
    `rows_read`: source rows of the execution up to it; null where they were not counted. `storage` names the store its files are in,
    "local" the disk, and `storage_path` says where they are there.
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
    storage: str
    storage_path: str
    storage_size_bytes: int
    exclusive_bytes: int
    file_count: int
    phases: dict[str, Any]
    queries: dict[str, Any]
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
    """Oldest first. `interval`: seconds that are to lie between two, null where none is due by time; `more`: there are older ones."""

    interval: float | None
    more: bool
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
    first: CheckpointOut
    second: CheckpointOut
    sources: list[SourceDifferenceOut]


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
