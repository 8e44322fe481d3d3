"""Joins the rows of two inputs by equal keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.dag.catalogue import Port
from jobs.dag.durations import duration_ms
from jobs.nodes import base
from jobs.nodes.base import Caution, Flow, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns, require_timestamp
from jobs.nodes.duration_fields import Duration, late_delay
from jobs.nodes.event_time import TakesTimeOver, watermarked
from jobs.nodes.form import hints
from jobs.nodes.key_pairs import KeyPair, key_pairs_cautions, key_pairs_check, key_pairs_field, keys_equal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: Names that no column of a person begins with.
_KEY, _TIME, _BROUGHT = "__key_", "__time", "__brought_"
_SIDES = ("the left input", "the right input")


class JoinConfig(base.Config):
    kind: Literal["inner", "left", "right", "full", "semi"] = Field(
        "inner",
        description="Which rows come out: pairs; also left or right rows, or both, without a partner; or left rows that have one.",
        examples=["left"],
    )
    keys: tuple[KeyPair, ...] = key_pairs_field("Which column of the left rows equals which column of the right ones.")
    left_time: str = Field(
        "",
        max_length=255,
        description="When a left row happened; a stream needs both, to know when no partner can come any more.",
        examples=["ordered_at"],
        json_schema_extra=hints("column", half=True, of_input=1),
    )
    right_time: str = Field(
        "",
        max_length=255,
        description="When a right row happened.",
        examples=["paid_at"],
        json_schema_extra=hints("column", half=True, of_input=2),
    )
    before: Duration = Field(
        "0s",
        description="How much earlier than the left row its partner may have happened.",
        examples=["5 min"],
        json_schema_extra=hints("duration", half=True),
    )
    after: Duration = Field(
        "1 h",
        description="How much later than the left row its partner may have happened.",
        examples=["1 h"],
        json_schema_extra=hints("duration", half=True),
    )
    late: Duration = Field(
        "0s",
        description="How far behind the newest row of its input a row may come; a stream leaves later ones out, and those without a time.",
        examples=["10 min"],
        json_schema_extra=hints("duration"),
    )
    prefix: str = Field(
        "right_",
        min_length=1,
        max_length=50,
        pattern=r"^[^\r\n]+$",
        description="What stands before the name of a right column when a left one has the same.",
        examples=["right_"],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="after")
    def _both_times_or_none(self) -> JoinConfig:
        if bool(self.left_time) != bool(self.right_time):
            raise ValueError("name the time of both inputs, or of none")
        return self


class Join(TakesTimeOver, Flow[JoinConfig]):
    """Joins the rows of two inputs by equal keys, in streams within a span of time."""

    type = "flow.join"
    title = "Join"
    icon = "arrows-join-2"
    Config = JoinConfig
    ports = (Port("left", "input"), Port("right", "input"), Port("out", "output"))
    changes_row_count: ClassVar[bool] = True
    summary_template = "{kind} · {keys}"

    def is_stateful(self, config: JoinConfig) -> bool:
        return True

    def sets_watermark(self, config: JoinConfig) -> bool:
        return bool(config.left_time)

    def times_taken_over(self, config: JoinConfig) -> Mapping[str, str]:
        return {"left": config.left_time, "right": config.right_time} if config.left_time else {}

    def times(self, context: NodeContext[JoinConfig]) -> Mapping[str, str]:
        config = context.config
        return {"left": config.left_time, "right": config.right_time} if context.mode == "stream" and config.left_time else {}

    def cautions(self, context: NodeContext[JoinConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        return key_pairs_cautions(context, arriving, left="left", right="right")

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[JoinConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (left,), (right,) = frames["left"], frames["right"]
        config = context.config
        _check(left, right, context)
        if times := self.times(context):  # Spark would keep those without it for ever, waiting for a partner
            left, right = left.filter(column(times["left"]).isNotNull()), right.filter(column(times["right"]).isNotNull())
        other = right.select(
            *(column(pair.other).alias(f"{_KEY}{number}") for number, pair in enumerate(config.keys)),
            *([column(config.right_time).alias(_TIME)] if config.right_time else []),
            # Of two columns that say when a row happened Spark refuses the second.
            *(column(name).alias(f"{_BROUGHT}{number}", metadata={}) for number, name in enumerate(right.columns)),
        )
        condition = keys_equal(config.keys, right=_KEY)
        if config.kind == "full":  # where it leaves no row out, Spark's join of streams takes two nulls for equal
            condition &= reduce(and_, (column(pair.left).isNotNull() for pair in config.keys))
        if config.left_time:
            late = late_delay(config.late)
            left = watermarked(left, config.left_time, late, field="left_time")
            other = watermarked(other, _TIME, late, field="right_time", called=config.right_time)
            condition &= F.col(_TIME) >= column(config.left_time) - _span(config.before)
            condition &= F.col(_TIME) <= column(config.left_time) + _span(config.after)
        joined = left.join(other, condition, {"full": "full_outer", "semi": "left_semi"}.get(config.kind, config.kind))
        if config.kind == "semi":
            return joined.select(*(column(name) for name in left.columns))
        return joined.select(*_columns(left, right, config))


def _span(text: str) -> Column:
    from pyspark.sql import functions as F

    return F.expr(f"INTERVAL '{duration_ms(text) / 1000}' SECOND")


def _check(left: DataFrame, right: DataFrame, context: NodeContext[JoinConfig]) -> None:
    config = context.config
    key_pairs_check(left, right, config.keys, sides=_SIDES, drawn=context.schema_only)
    if config.left_time:
        require_columns(left, [config.left_time], "left_time", of=_SIDES[0])
        require_columns(right, [config.right_time], "right_time", of=_SIDES[1])
        require_timestamp(left, config.left_time, "left_time")
        require_timestamp(right, config.right_time, "right_time")
    elif context.job_type == "STREAMING" and not context.beside:
        raise NodeError(
            "joining two streams: name the time of both inputs, else each row is kept for ever, waiting for a partner that may yet come",
            permanent=True,
            kind="user",
            field="left_time",
        )


def _columns(left: DataFrame, right: DataFrame, config: JoinConfig) -> list[Column]:
    """The left columns, then the right ones that say something new; a key that only the right row has stands in the left column."""
    from pyspark.sql import functions as F

    #: Column → the pair that compares it with the right one of the same name.
    same = {pair.left.lower(): number for number, pair in enumerate(config.keys) if pair.other.lower() == pair.left.lower()}
    found = []
    for name in left.columns:
        given = column(name)
        if name.lower() in same and config.kind in ("right", "full"):
            given = F.coalesce(given, F.col(f"{_KEY}{same[name.lower()]}")).alias(name)
        found.append(given)
    taken = {name.lower() for name in left.columns}
    for number, name in enumerate(right.columns):
        if name.lower() not in same:
            told = name if name.lower() not in taken else f"{config.prefix}{name}"
            if told.lower() in taken:
                message = f"{told} would come out more than once: choose another prefix for the right input's columns"
                raise NodeError(message, permanent=True, kind="user", field="prefix")
            taken.add(told.lower())
            found.append(F.col(f"{_BROUGHT}{number}").alias(told))
    return found
