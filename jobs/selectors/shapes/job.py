"""Jobs, drafts, versions, schedules and settings, as they are sent."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from jobs.dag.problems import Problem
from jobs.selectors.shapes.base import Shape
from jobs.selectors.shapes.delivery import DeliveryOut
from jobs.selectors.shapes.execution import ExecutionOut, JobTypeWord, StatusWord


class DraftSummary(Shape):
    """`dirty`: it would do something else than the current version."""

    revision: int
    base_version: int | None
    dirty: bool
    update_time: datetime
    updated_by: str


class ScheduleFireOut(Shape):
    """A time that came: the execution that it started, or why it was skipped. `reason` may also tell of times missed before it."""

    fire_time: datetime
    outcome: Literal["STARTED", "SKIPPED"]
    reason: str
    execution_id: str


class ScheduleOut(Shape):
    """`words` says the times for people; `next_times` are the next five, `fires` the last five, the newest first (empty in lists).

    `revision` is another one once what is set has changed.
    """

    schedule_type: Literal["CRON", "MANUAL", "EVENT", "DEPENDENCY"]
    cron_expression: str
    time_zone: str
    event_topic: str
    dependencies: list[str]
    enabled: bool
    create_time: datetime
    last_trigger_time: datetime | None
    next_trigger_time: datetime | None
    words: str
    next_times: list[datetime]
    fires: list[ScheduleFireOut]
    revision: str


class ScheduleTimesOut(Shape):
    """What a CRON expression means: its words and next five times, or the problems that keep it from being used."""

    words: str = ""
    next_times: list[datetime] = []
    problems: list[Problem] = []


class RecentExecution(Shape):
    execution_id: str
    status: StatusWord


class JobOut(Shape):
    """`recent` are the newest ten executions, newest first; rates are those of the running execution, null without one.

    `no_checkpoint_since`: when the last one of a running stream was (or its start), where rows wait too long for the next.
    """

    job_name: str
    job_uid: UUID
    title: str
    description: str
    job_type: JobTypeWord
    version: int | None
    enabled: bool
    project: str
    create_time: datetime
    update_time: datetime
    created_by: str
    updated_by: str
    draft: DraftSummary | None
    schedule: ScheduleOut | None
    latest_execution: ExecutionOut | None
    recent: list[RecentExecution]
    in_per_second: float | None
    out_per_second: float | None
    backlog: int | None
    no_checkpoint_since: datetime | None


class JobDetailOut(JobOut):
    """`document` is the current version's, null before the first publish. `problems` counts the draft's errors."""

    document: dict[str, Any] | None
    problems: int
    role: Literal["VIEWER", "OPERATOR", "EDITOR", "ADMIN"]


class DraftOut(Shape):
    """`document` is what was saved, even half-drawn; `problems` are found anew on every read.

    `delivery`: null where the document cannot be read or has neither source nor sink.
    """

    document: dict[str, Any]
    layout: dict[str, Any]
    revision: int
    base_version: int | None
    dirty: bool
    problems: list[Problem]
    delivery: DeliveryOut | None
    update_time: datetime
    updated_by: str


class VersionOut(Shape):
    version: int
    logic_hash: str
    comment: str
    create_time: datetime
    created_by: str


class VersionDetailOut(VersionOut):
    """`settings`: what it runs with as published, its defaults filled in; the job's own settings may stand over them."""

    document: dict[str, Any]
    settings: dict[str, Any]


class ConfigOut(Shape):
    config_key: str
    config_value: str
    config_type: Literal["STRING", "INT", "BOOLEAN", "JSON"]
    description: str
    create_time: datetime
    update_time: datetime


class ConfigKeyOut(Shape):
    """A key with a meaning: its type, what it does, and what stands without it."""

    config_key: str
    config_type: Literal["STRING", "INT", "BOOLEAN", "JSON"]
    help: str
    choices: list[str]


class ConfigsOut(Shape):
    results: list[ConfigOut]
    known: list[ConfigKeyOut]
