"""Home, search, and who is signed in, as they are sent."""

from datetime import datetime
from typing import Literal

from pydantic import Field

from jobs.selectors.shapes.base import Shape
from jobs.selectors.shapes.connection import ConnectionHealthOut
from jobs.selectors.shapes.execution import ExecutionOut, StatusWord


class AttentionOut(Shape):
    """Something a person should look at, and since when; of a damaged checkpoint when it was completed.

    `node_name`, `node_type` and `first_error_line` are empty where none is known.
    """

    kind: Literal["FAILED", "UNCONFIRMED", "WAITING", "RETRYING", "NO_CHECKPOINT", "DAMAGED"]
    execution: ExecutionOut
    node_id: str
    node_name: str
    node_type: str
    first_error_line: str
    since: datetime


class ChartOut(Shape):
    """Rows per second of everything visible over the last hour; the three lists have one length, at most 240."""

    times: list[datetime]
    rows_in: list[float] = Field(serialization_alias="in")
    rows_out: list[float] = Field(serialization_alias="out")


class SpanOut(Shape):
    """One execution's time within the lane; `to` is null while it goes on."""

    start: datetime = Field(serialization_alias="from")
    end: datetime | None = Field(serialization_alias="to")
    status: StatusWord
    execution_id: str


class LaneOut(Shape):
    job_name: str
    title: str
    spans: list[SpanOut]
    in_per_second: float | None


class NextStartOut(Shape):
    """`words` are of the clock in `time_zone`. `skipped`: why the job was not started when its time last came; empty where it was."""

    job_name: str
    title: str
    next_trigger_time: datetime
    words: str
    time_zone: str
    skipped: str


class OverviewOut(Shape):
    """Counts are of jobs: `running` has an unfinished execution with a lease, `failing` has a failed latest one.

    `attention` holds the worst 20 of `attention_count`, `lanes` at most 20 of the `lane_count` jobs that ran in the last 24 hours.
    `connections` holds at most 10 of the `connections_failing` connections that jobs use and that failed when last tried.
    `health`: what is wrong with the installation itself, a sentence each; empty when all is well.
    """

    health: list[str]
    jobs: int
    running: int
    failing: int
    scheduled: int
    in_per_second: float
    out_per_second: float
    rejected_per_second: float
    attention: list[AttentionOut]
    attention_count: int
    connections: list[ConnectionHealthOut]
    connections_failing: int
    chart: ChartOut
    lanes: list[LaneOut]
    lane_count: int
    next_starts: list[NextStartOut]


class MyProject(Shape):
    slug: str
    title: str
    role: Literal["VIEWER", "OPERATOR", "EDITOR", "ADMIN"]


class MeOut(Shape):
    """`embedded`: one machine with examples and the demo API. `admin`: may open the administration pages."""

    username: str
    initials: str
    admin: bool
    projects: list[MyProject]
    embedded: bool


class SearchHit(Shape):
    """`path` is where the interface shows it."""

    kind: Literal["job", "node", "execution", "checkpoint"]
    title: str
    detail: str
    path: str


class SearchOut(Shape):
    results: list[SearchHit]
