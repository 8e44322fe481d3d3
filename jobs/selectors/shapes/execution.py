"""Executions and what is kept about them, as they are sent."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from jobs.selectors.shapes.base import Shape
from jobs.selectors.shapes.delivery import DeliveryOut

JobTypeWord = Literal["STREAMING", "BATCH_ROLLER", "SQL_TASK"]
StatusWord = Literal["SCHEDULED", "INITIALIZING", "RUNNING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]
ShownStatus = Literal["SCHEDULED", "INITIALIZING", "RUNNING", "CHECKPOINTING", "PAUSED", "COMPLETED", "FAILED", "CANCELLED"]
TriggerWord = Literal["CRON", "MANUAL", "EVENT", "DEPENDENCY", "RETRY", "RESTORE", "BACKFILL", "API"]


class ExecutionOut(Shape):
    """`shown_status` is CHECKPOINTING while a RUNNING execution has a PENDING checkpoint.

    `error_stack_trace`, `checkpoint_overdue`, `checkpoint_storage_warning` and `delivery`: null in lists.
    `checkpoint_storage_warning`: why its checkpoints do not go to the store that its settings name; "" where they do.
    `attempt` counts the attempts of all executions of the job; `first_attempt` is the first of this one, null before it.
    `waiting_for`: a system that a node of the running attempt needs and that has not answered since `waiting_since`; "" if none.
    `buffer_size`: messages that wait in its sources' own buffers; null where they have none. `backpressure_status`: "", OK, HOLDING
    (nothing more is taken), DROPPING or FAILED; `dropped_records`: messages discarded unread, as the strategy asks.
    `storage_host`: the name of the disk that its position is on, "" where every worker sees it; `checkpoint_path`: the folder there
    with Spark's own position, "" before the first attempt.
    `resolved` are the settings it runs with; `worker` is the driver, "host:pid", while one holds the lease.
    """

    execution_id: str
    job_name: str
    job_title: str
    job_type: JobTypeWord
    project: str
    version: int
    generation: UUID
    attempt: int
    first_attempt: int | None
    status: StatusWord
    shown_status: ShownStatus
    checkpointing: bool
    confirmed_time: datetime | None
    lease_expires_at: datetime | None
    next_attempt_at: datetime | None
    create_time: datetime
    start_time: datetime | None
    end_time: datetime | None
    resume_time: datetime | None
    duration_ms: int | None
    processed_records: int
    written_records: int
    failed_records: int
    error_message: str
    error_stack_trace: str | None
    error_node_id: str
    error_class: str
    waiting_for: str
    waiting_node_id: str
    waiting_since: datetime | None
    buffer_size: int | None
    backpressure_status: str
    dropped_records: int
    retry_count: int
    max_retry_times: int
    triggered_by: TriggerWord
    restored_from_checkpoint_id: int | None
    parameters: dict[str, Any]
    resolved: dict[str, Any]
    seq: int
    storage_host: str
    checkpoint_path: str
    worker: str
    created_by: str
    last_checkpoint_time: datetime | None
    checkpoint_overdue: bool | None
    checkpoint_storage_warning: str | None
    delivery: DeliveryOut | None


class EventOut(Shape):
    """One line of an execution's history; `seq` counts from 1 without gaps."""

    seq: int
    time: datetime
    kind: str
    actor: str
    reason: str
    attempt: int
    from_status: str
    to_status: str
    node_id: str
    detail: dict[str, Any]


class MetricSampleOut(Shape):
    """Totals at `time`, and rates over the sample's resolution. `detail`: phases in ms, watermark, state and counts per node."""

    time: datetime
    rows_in: int
    rows_out: int
    rows_rejected: int
    in_per_second: float
    out_per_second: float
    batch_id: int | None
    batch_ms: int | None
    backlog: int | None
    detail: dict[str, Any]


class MetricsOut(Shape):
    """`resolution` in seconds: 1, 10 or 60, chosen by the range asked for unless given."""

    resolution: int
    results: list[MetricSampleOut]


class LogLine(Shape):
    """`offset`: the byte of the log at which it begins."""

    offset: int
    time: datetime | None
    level: str
    node_id: str
    message: str


class LogPage(Shape):
    """`next_offset` is the byte offset to ask for next; `attempts` are those that left a log; `more`: there is more to ask for."""

    results: list[LogLine]
    next_offset: int
    more: bool
    attempt: int | None
    attempts: list[int]


class RejectedRowOut(Shape):
    """A row that a node refused: `row` is its JSON text as far as it was kept."""

    id: int
    node_id: str
    batch_id: int
    ordinal: int
    reason: str
    row: str
    create_time: datetime


class ExpectationOut(Shape):
    """A rule of a node and the rows that it was asked of: `share` is broken of checked, null before the first row.

    `ended`: a row that broke it failed the execution; its batch was not written and is not counted.
    """

    node_id: str
    node_name: str
    rule: str
    action: Literal["warn", "drop", "fail"]
    checked: int
    broken: int
    share: float | None
    ended: bool


class ExpectationScoreOut(Shape):
    """Of a node with rules: `score` is the share of its checks, each rule asked of each row, that were kept; null before the first row."""

    node_id: str
    node_name: str
    checked: int
    score: float | None
