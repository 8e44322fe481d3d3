"""Windows of time into which a flow puts rows: what its form asks, and Spark's columns of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

from pydantic import Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from jobs.dag.catalogue import Port
from jobs.dag.durations import duration_ms
from jobs.nodes import base
from jobs.nodes.base import Caution, Flow, NodeContext, NodeError
from jobs.nodes.columns import column, own_name, require_columns, require_timestamp
from jobs.nodes.config_refused import ConfigRefused
from jobs.nodes.duration_fields import Duration, Span
from jobs.nodes.event_time import TakesTimeOver, watermarked
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.groups import GroupsRows

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

WINDOW_COLUMNS = ("window_start", "window_end")
#: A name that no column of a person begins with.
CLOCK = "__clock"
#: Spark writes each window that a row may be in into the query.
_MOST_WINDOWS = 5_000
_MANY_WINDOWS = 300


class WindowsConfig(base.Config):
    time: Literal["event", "processing"] = Field(
        "event",
        description="What puts a row into its window: its time column, or the clock at the batch that reads it, in a stream only. The "
        "clock moves with rows: a window closes with the first one behind its end; a timer of a Stateful node needs none.",
        examples=["event"],
        json_schema_extra=hints(advanced=True),
    )
    time_column: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        validate_default=True,
        description="When a row happened; rows without it are left out.",
        examples=["departed_at"],
        json_schema_extra=hints("column", when="time=event", half=True),
    )
    kind: Literal["tumbling", "sliding", "session"] = Field(
        "tumbling",
        description="They follow one another, overlap, or last while rows of a group come.",
        examples=["tumbling"],
        json_schema_extra=hints(half=True, sets={"session": {"emit": "close", "offset": "0s"}}),
    )
    window: Span = Field(
        "1 h",
        description="Its length, counted from midnight in UTC. A session ends when for longer than this no row came.",
        examples=["1 min", "1 h"],
        json_schema_extra=hints("duration", half=True),
    )
    slide: Span = Field(
        "10 min",
        description="A window begins every so often; each row is in all that are open at its time.",
        examples=["10 min"],
        json_schema_extra=hints("duration", when="kind=sliding", half=True),
    )
    offset: Duration = Field(
        "0s",
        description="So much later than at midnight in UTC the first window of a day begins, such as a day of 24 h at 6 h.",
        examples=["6 h", "15 min"],
        json_schema_extra=hints("duration", advanced=True),
    )
    late: Duration = Field(
        "0s",
        description="How far behind the newest row a row may come. Later ones leave by the port late once their window closed. Behind a "
        "Deduplicate that goes by the same column its own term goes.",
        examples=["10 min"],
        json_schema_extra=hints("duration", when="time=event", half=True),
    )
    group_by: tuple[ColumnName, ...] = Field(
        (),
        validate_default=True,
        description="Columns to group by within a window.",
        examples=[["carrier"]],
        json_schema_extra=hints("columns", half=True, after="time_column"),
    )

    @property
    def windows_of_a_row(self) -> int:
        return -(-duration_ms(self.window) // duration_ms(self.slide)) if self.kind == "sliding" else 1

    @model_validator(mode="before")
    @classmethod
    def _a_session_comes_out_when_it_is_over(cls, given: Any) -> Any:
        return {"emit": "close", **given} if isinstance(given, Mapping) and given.get("kind") == "session" else given

    @field_validator("time_column")
    @classmethod
    def _event_time_has_its_column(cls, time_column: str, info: ValidationInfo) -> str:
        if not time_column and info.data.get("time") == "event":
            raise PydanticCustomError("missing", "required")
        return time_column

    @field_validator("offset")
    @classmethod
    def _a_session_has_no_offset(cls, offset: str, info: ValidationInfo) -> str:
        if info.data.get("kind") == "session" and duration_ms(offset):
            raise ValueError("a session begins with its first row: leave the offset out")
        return offset

    @field_validator("group_by")
    @classmethod
    def _a_session_has_an_owner(cls, group_by: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        if info.data.get("kind") == "session" and not group_by:
            raise ValueError("a session belongs to somebody: name the columns to group by")
        return group_by

    @model_validator(mode="after")
    def _kind_is_possible(self) -> WindowsConfig:
        if self.kind == "sliding" and duration_ms(self.slide) > duration_ms(self.window):
            raise ConfigRefused("windows that begin further apart than they are long leave rows out: shorten the slide", "slide")
        if self.windows_of_a_row > _MOST_WINDOWS:
            raise ConfigRefused(f"each row would be in {self.windows_of_a_row:,} windows: lengthen the slide", "slide")
        if self.kind != "session" and duration_ms(self.offset) >= duration_ms(self.window if self.kind == "tumbling" else self.slide):
            raise ConfigRefused("the offset moves windows by less than they are apart: shorten it", "offset")
        return self


WindowsConfigT = TypeVar("WindowsConfigT", bound=WindowsConfig)


class WindowFlow(TakesTimeOver, GroupsRows, Flow[WindowsConfigT]):
    """What flows have in common that put rows into windows."""

    #: What comes too late goes on as it came.
    ports = (Port("in", "input"), Port("out", "output"), Port("late", "output", required=False))
    tells_late_rows: ClassVar[bool] = True
    changes_row_count: ClassVar[bool] = True
    patience_fields: ClassVar[frozenset[str]] = frozenset({"late"})
    summary_template = "{window} · {group_by}"

    def is_stateful(self, config: WindowsConfigT) -> bool:
        return True

    def sets_watermark(self, config: WindowsConfigT) -> bool:
        return True

    def cautions(self, context: NodeContext[WindowsConfigT], arriving: Sequence[StructType]) -> Sequence[Caution]:
        if (windows := context.config.windows_of_a_row) <= _MANY_WINDOWS:
            return ()
        message = f"each row is taken into {windows:,} windows, and takes as much longer: lengthen the slide where fewer will do"
        return [Caution("slide", message, "windows.many")]

    def times(self, context: NodeContext[WindowsConfigT]) -> Mapping[str, str]:
        return {"in": context.config.time_column} if context.config.time == "event" else {}

    def times_taken_over(self, config: WindowsConfigT) -> Mapping[str, str]:
        """A query with several nodes that keep state sends a window once only, when it is over."""
        return {"in": config.time_column} if config.time == "event" and self.output_mode(config) == "append" else {}

    def without_clock(self, config: WindowsConfigT) -> WindowsConfigT:
        if config.time == "processing":
            message = "its windows go by the clock: give the test a clock, the time at which each batch comes"
            raise NodeError(message, permanent=True, kind="user", field="time")
        return config

    def too_late(self, frame: DataFrame, config: WindowsConfigT, watermark_ms: int) -> Column:
        """True for rows of which the last window has closed before: Spark compares its end with the watermark."""
        from pyspark.sql import functions as F

        if config.time == "processing":
            return F.lit(False)
        time, length = own_name(frame, config.time_column), duration_ms(config.window)
        begun = F.timestamp_diff("MICROSECOND", _epoch(dict(frame.dtypes)[time]), column(time))
        if config.kind != "session":
            apart = duration_ms(config.slide) if config.kind == "sliding" else length
            begun -= F.pmod(begun - F.lit(duration_ms(config.offset) * 1000), F.lit(apart * 1000))
        return begun + F.lit(length * 1000) <= F.lit(watermark_ms * 1000)


def checked_emit(emit: str, info: ValidationInfo) -> str:
    """ValueError where a window cannot come out so."""
    if info.data.get("kind") == "session" and emit == "update":
        raise ValueError("a session can only come out when it is over: let it emit on close")
    return emit


def check_columns(frame: DataFrame, config: WindowsConfig) -> None:
    require_columns(frame, config.group_by, "group_by/{row}")
    if config.time == "event":
        require_columns(frame, [config.time_column], "time_column")
        require_timestamp(frame, config.time_column, "time_column")


def timed(frame: DataFrame, config: WindowsConfig, *, bounded: bool) -> tuple[DataFrame, str]:
    """`frame` with the watermark on the column of this name, which says when a row happened."""
    if config.time == "processing":
        return _by_clock(frame, bounded=bounded).withWatermark(CLOCK, span("0s")), CLOCK
    timely = frame.filter(column(config.time_column).isNotNull())
    return watermarked(timely, config.time_column, span(config.late)), config.time_column


def window_of(config: WindowsConfig, time: Column) -> Column:
    """Spark's struct of a window's start and end."""
    from pyspark.sql import functions as F

    length = span(config.window)
    begins = {"startTime": span(config.offset)} if duration_ms(config.offset) else {}
    match config.kind:
        case "tumbling":
            return F.window(time, length, **begins)
        case "sliding":
            return F.window(time, length, span(config.slide), **begins)
        case "session":
            return F.session_window(time, length)


def _epoch(kind: str) -> Column:
    from pyspark.sql import functions as F

    return F.to_timestamp_ntz(F.lit("1970-01-01 00:00:00")) if kind == "timestamp_ntz" else F.timestamp_millis(F.lit(0))


def span(text: str) -> str:
    """A duration as Spark writes it."""
    return f"{duration_ms(text)} milliseconds"


def _by_clock(frame: DataFrame, *, bounded: bool) -> DataFrame:
    """Spark keeps a batch's time with its offsets: one that is tried again has the same windows."""
    from pyspark.sql import functions as F

    if bounded:
        message = "the clock puts all rows of a job that ends into one window: let the windows go by event time, or leave them out"
        raise NodeError(message, permanent=True, kind="user", field="time")
    return frame.withColumn(CLOCK, F.current_timestamp())
