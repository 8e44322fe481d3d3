"""Looks each row up in a table beside the stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from jobs.dag.catalogue import Port
from jobs.dag.durations import duration_ms
from jobs.nodes import base
from jobs.nodes.base import REJECTED, Caution, Flow, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.duration_fields import Duration
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.groups import PicksRows
from jobs.nodes.kept_references import Keeping, KeepsReferences
from jobs.nodes.key_pairs import KeyPair, key_pairs_cautions, key_pairs_check, key_pairs_field, keys_equal

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

#: Names that no column of a person begins with.
_KEY, _FOUND = "__key_", "__found"
_SIDES = ("the input", "the table")
#: What one task goes through sooner than Spark spreads it over several.
_SMALL_BYTES = 32 * 1024 * 1024


class LookupConfig(base.Config):
    keys: tuple[KeyPair, ...] = key_pairs_field("Which column of a row equals which column of the table.")
    columns: tuple[ColumnName, ...] = Field(
        (),
        description="The table's columns that a row gets; empty takes all but the keys.",
        examples=[["name", "city"]],
        json_schema_extra=hints("columns", of_input=2),
    )
    unmatched: Literal["keep", "drop", "reject"] = Field(
        "keep",
        description="What happens to a row that is not in the table: kept with empty columns, left out, or rejected.",
        examples=["reject"],
    )
    several: Literal["one", "all"] = Field(
        "one",
        description="Where the table has several rows of a key: a row gets one of them, or comes out once for each.",
        examples=["one"],
        json_schema_extra=hints(advanced=True),
    )
    refresh: Duration = Field(
        "10 min",
        description=(
            "How long the table is kept before it is read again; where that fails, or its columns are others then, it stays as it was. "
            "Above a window or the like it is read for each batch."
        ),
        examples=["1 min", "1 h"],
        json_schema_extra=hints("duration", advanced=True),
    )
    most_rows: int = Field(
        1_000_000,
        ge=1,
        le=50_000_000,
        description="A table with more rows is an error: it is held in memory and sent to every executor.",
        examples=[1_000_000],
        json_schema_extra=hints(advanced=True),
    )


class Lookup(PicksRows, Flow[LookupConfig], KeepsReferences):
    """Looks each row up in a table, file or answer beside the stream, which is read again from time to time."""

    type = "flow.lookup"
    title = "Lookup"
    icon = "zoom-question"
    Config = LookupConfig
    ports = (Port("in", "input"), Port("table", "reference"), Port("out", "output"))
    rejects_rows: ClassVar[bool] = True
    changes_row_count: ClassVar[bool] = True
    summary_template = "{keys} · {unmatched}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"refresh", "most_rows"})

    def picks(self, config: LookupConfig) -> bool:
        return config.unmatched != "keep"

    def keeping(self, config: LookupConfig) -> Keeping:
        return Keeping(duration_ms(config.refresh) / 1000, config.most_rows)

    def prepared(self, frame: DataFrame, config: LookupConfig) -> DataFrame:
        require_columns(frame, [pair.other for pair in config.keys], "keys/{row}/right", of=_SIDES[1])
        return _one_of_each(frame, [pair.other for pair in config.keys]) if config.several == "one" else frame

    def config_of_prepared(self, config: LookupConfig) -> LookupConfig:
        return config.model_copy(update={"several": "all"})

    def cautions(self, context: NodeContext[LookupConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        return key_pairs_cautions(context, arriving, left="in", right="table")

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[LookupConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (frame,), (table,) = frames["in"], frames["table"]
        config = context.config
        key_pairs_check(frame, table, config.keys, sides=_SIDES, drawn=context.schema_only)
        brought = _brought(frame, table, config)
        found = _keyed(table, context, brought)
        equal = keys_equal(config.keys, right=_KEY)
        joined = frame.join(F.broadcast(found), equal, "inner" if config.unmatched == "drop" else "left")
        out = [*(column(name) for name in frame.columns), *(column(name) for name in brought)]
        if config.unmatched != "reject":
            return joined.select(*out)
        return joined.select(*out, F.when(F.col(_FOUND).isNull(), _reason(config)).alias(REJECTED))


def _brought(frame: DataFrame, table: DataFrame, config: LookupConfig) -> list[str]:
    """The names of the columns that come from the table; NodeError where a row has one of that name already."""
    require_columns(table, config.columns, "columns/{row}", of=_SIDES[1])
    keys = {pair.other.lower() for pair in config.keys}
    brought = list(config.columns) or [name for name in table.columns if name.lower() not in keys]
    there = {name.lower() for name in frame.columns}
    if twice := [name for name in brought if name.lower() in there]:
        raise NodeError(
            f"the rows have {', '.join(twice)} already; choose other columns, or rename them before",
            permanent=True,
            kind="user",
            field="columns",
        )
    return brought


def _keyed(table: DataFrame, context: NodeContext[LookupConfig], brought: list[str]) -> DataFrame:
    from pyspark.sql import functions as F

    config = context.config
    keys = {f"{_KEY}{number}": column(pair.other) for number, pair in enumerate(config.keys)}
    named = [value.alias(name) for name, value in keys.items()]
    found = table.select(*named, *(column(name) for name in brought), F.lit(True).alias(_FOUND))
    if config.several == "all":
        return found
    return found.dropDuplicates(list(keys)) if context.schema_only else _one_of_each(found, list(keys))


def _one_of_each(frame: DataFrame, keys: list[str]) -> DataFrame:
    """Some row of each key. A table that Spark knows to be small goes through one task: no shuffle, and one sort instead of two."""
    plan: Any = frame._jdf.queryExecution().optimizedPlan()
    is_small = int(str(plan.stats().sizeInBytes())) <= _SMALL_BYTES
    return (frame.coalesce(1) if is_small else frame).dropDuplicates(keys)


def _reason(config: LookupConfig) -> Column:
    from pyspark.sql import functions as F

    told = [F.concat(F.lit(f"{pair.left} = "), F.coalesce(column(pair.left).cast("string"), F.lit("null"))) for pair in config.keys]
    return F.concat(F.lit("not in the table: "), F.concat_ws(", ", *told))
