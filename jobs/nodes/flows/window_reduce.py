"""Takes the rows of a window of time into one value by a person's own Python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from jobs.dag.durations import duration_ms
from jobs.nodes.base import NodeContext
from jobs.nodes.columns import ColumnField, column, own_name, rejected_schema, schema_from_ddl, schema_of
from jobs.nodes.config_refused import check_comes_out_once
from jobs.nodes.flows.keyed_flow import KeyedFlow, key_names, keys_check, made_schema
from jobs.nodes.form import hints
from jobs.nodes.user_python.arrow_schema import handed_schema, refuse_twice
from jobs.nodes.user_python.plain_code import plain_code
from jobs.nodes.user_python.reduce_code import DEFAULT_REDUCE_CODE, checked_reduce_code, has_merge
from jobs.nodes.windows import WINDOW_COLUMNS, WindowFlow, WindowsConfig, check_columns, checked_emit, timed, window_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from jobs.nodes.user_python.reducing import ReducedCode

#: What Spark knows of a column's time goes along with its metadata: other metadata stand in their place.
_NO_WATERMARK = {"of": "rows"}


class WindowReduceConfig(WindowsConfig):
    verbatim: ClassVar[frozenset[str]] = frozenset({"code"})

    code: str = Field(
        DEFAULT_REDUCE_CODE,
        max_length=100_000,
        validate_default=True,
        description="Python with functions start(), add(value, row) and result(value); sessions also need merge(one, other). "
        "Rows that come together are added in the order of their time. A value is made of Python's own numbers, texts, times, "
        "lists, dicts and sets: a stream keeps it from one batch to the next. The job's parameters are in the dict parameters.",
        examples=["def start():\n    return []\n\n\ndef add(value, row):\n    return sorted([*value, row['delay']])[-3:]"],
        json_schema_extra=hints("code", language="python"),
    )
    columns: tuple[ColumnField, ...] = Field(
        (ColumnField(name="rows", type="long"),),
        max_length=1000,
        description="The columns that result gives, behind the window's bounds and the columns to group by, which come by themselves.",
        examples=[[{"name": "worst", "type": "array<double>"}]],
        json_schema_extra=hints("columns"),
    )
    emit: Literal["close", "update"] = Field(
        "close",
        description="On close a window comes out once, on update each time it changed. It closes when nothing can change it any more.",
        examples=["close", "update"],
        json_schema_extra=hints(half=True, after="kind"),
    )

    @field_validator("code")
    @classmethod
    def _code_can_be_called(cls, code: str, info: ValidationInfo) -> str:
        checked_reduce_code(code)
        if info.data.get("kind") == "session" and not has_merge(code):
            raise ValueError("a row may make one session of two: write def merge(one, other), which returns the value of both")
        return code

    _emit_is_possible = field_validator("emit")(checked_emit)

    @model_validator(mode="after")
    def _comes_out_once(self) -> WindowReduceConfig:
        check_comes_out_once(WINDOW_COLUMNS, self.group_by, "columns", [one.name for one in self.columns])
        return self


class WindowReduce(KeyedFlow[WindowReduceConfig], WindowFlow[WindowReduceConfig]):
    """Groups rows by windows of time and takes those of each into one value by your own Python; rows that come too late go on apart."""

    type = "flow.window_reduce"
    title = "Window reduce"
    icon = "clock-code"
    Config = WindowReduceConfig

    def output_mode(self, config: WindowReduceConfig) -> Literal["append", "update"]:
        return "append" if config.emit == "close" else "update"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[WindowReduceConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        refuse_twice(frame)
        check_columns(frame, config)
        keys_check(frame, config.group_by, "group_by")
        windowed, time = _windowed(frame, context)
        made = _made(frame, windowed, time, config)
        keyed = _reduced(windowed, made, time, context)
        if context.mode == "batch":
            return self.in_batch(windowed, keyed, rejected_schema(made), context, order=[time])
        mode = self.output_mode(config)
        return self.in_stream(windowed, keyed, rejected_schema(made), context, time="event", mode=mode)


def _windowed(frame: DataFrame, context: NodeContext[WindowReduceConfig]) -> tuple[DataFrame, str]:
    """`frame` with the windows of its rows, one row for each, and the name of the column of their time.

    In a stream the window alone tells Spark which row comes too late: one whose window has closed, not one behind the watermark.
    """
    from pyspark.sql import functions as F

    from jobs.nodes.user_python.reducing import END, START, WINDOW

    config, in_stream = context.config, context.mode == "stream"
    marked, name = timed(frame, config, bounded=context.bounded)
    time = own_name(marked, name)
    if config.kind == "session" and not in_stream:
        return marked, time
    windowed = marked.select("*", window_of(config, column(time)).alias(WINDOW))
    unmarked = column(time).alias(time, metadata=_NO_WATERMARK)
    own = [unmarked if one == time else column(one) for one in marked.columns]
    bounds = {START: "start", END: "end"} if config.kind != "session" else {}
    ends = [F.col(f"{WINDOW}.{part}").alias(bound) for bound, part in bounds.items()]
    return windowed.select(*own, *ends, *([F.col(WINDOW)] if in_stream else [])), time


def _made(frame: DataFrame, windowed: DataFrame, time: str, config: WindowReduceConfig) -> StructType:
    """The bounds of the window, the columns to group by, and what `result` gives."""
    from pyspark.sql.types import StructField, StructType

    bounds = [StructField(name, windowed.schema[time].dataType, True) for name in WINDOW_COLUMNS]
    grouped = made_schema(frame, key_names(frame, config.group_by), schema_of(config.columns))
    return StructType([*bounds, *grouped.fields])


def _reduced(windowed: DataFrame, made: StructType, time: str, context: NodeContext[WindowReduceConfig]) -> ReducedCode:
    from jobs.nodes.user_python.kept import Declared
    from jobs.nodes.user_python.loaded import UserCode
    from jobs.nodes.user_python.reducing import END, START, VALUE, ReducedCode
    from jobs.nodes.user_python.rejecting import Rejecting

    config, zone = context.config, context.time_zone
    handed_schema(windowed.schema, zone, "it is handed")  # what cannot be handed over is told here
    is_session = config.kind == "session"
    kept = schema_from_ddl("value string")
    return ReducedCode(
        node_id=context.node_id,
        code=plain_code(context) if context.for_script else UserCode(context.node_name, config.code, dict(context.parameters)),
        names=tuple(windowed.columns),
        keys=(*(() if is_session else (START, END)), *key_names(windowed, config.group_by)),
        rejecting=Rejecting(handed_schema(made, zone, "goes on"), came=True),
        declared=(Declared(VALUE, "value", kept, handed_schema(kept, zone, "is kept").field(0).type),),
        mode="event",
        order=time,
        time_zone=zone,
        gap_ms=duration_ms(config.window) if is_session else 0,
        updates=config.emit == "update" and context.mode == "stream",
    )
