"""Makes several rows of one."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext, NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.form import ColumnName, hints

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


#: Lines may end in \r\n.
_BLANKS = " \t\r\n"


class FlatMapConfig(base.Config):
    column: ColumnName = Field(
        description="A column that holds a list, a map, or a text to be split.", examples=["tags"], json_schema_extra=hints("column")
    )
    separator: str = Field(
        ",",
        min_length=1,
        max_length=100,
        description=r"Where a text is split: \n at the ends of its lines, \t at tabs; blanks around the parts are cut off.",
        examples=[",", "|", r"\n"],
    )
    output: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        description="The column that gets one element, or one value of a map; empty takes the place of the column itself.",
        examples=["tag"],
    )
    key: ColumnName = Field("key", description="The column that gets the key, for a map.", examples=["key"])
    position: str = Field(
        "",
        max_length=255,
        pattern=r"^[^\r\n]*$",
        description="A column for the element's place, counted from 0; empty adds none.",
        examples=["position"],
    )
    keep_empty: bool = Field(
        False,
        description="A row whose list is empty or missing goes on as one row without an element. A text always has one, be it empty.",
        examples=[True],
    )


class FlatMap(Flow[FlatMapConfig]):
    """Makes one row of each element of a list, of a map, or of a text that is split."""

    type = "flow.flat_map"
    title = "Flat map"
    icon = "list-tree"
    Config = FlatMapConfig
    real_time: ClassVar[bool] = True
    changes_row_count: ClassVar[bool] = True
    summary_template = "{column}"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[FlatMapConfig]) -> DataFrame:
        from pyspark.sql.types import StringType

        (frame,) = frames["in"]
        config = context.config
        require_columns(frame, [config.column], "column")
        taken = next(field for field in frame.schema.fields if field.name.lower() == config.column.lower())
        elements, made = _elements(taken.dataType, config)
        names = list(made.values())
        kept = [name for name in frame.columns if config.output or name != taken.name]
        _refuse_twice(kept, made)
        rows = frame.select(*(column(name) for name in kept), _exploded(elements, config).alias(*names))
        order = list(rows.columns) if config.output else _in_place(list(frame.columns), taken.name, names)
        part = names[-1] if isinstance(taken.dataType, StringType) else ""
        return rows.select(*(_trimmed(name).alias(name) if name == part else column(name) for name in order))


def _elements(kind: DataType, config: FlatMapConfig) -> tuple[Column, dict[str, str]]:
    """The list or map to take apart, and the names of what comes out of it, by their fields."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import ArrayType, MapType, StringType

    taken, output = column(config.column), {"output": config.output or config.column}
    place = {"position": config.position} if config.position else {}
    if isinstance(kind, MapType):
        return taken, {**place, "key": config.key, **output}
    if isinstance(kind, ArrayType):
        return taken, place | output
    if isinstance(kind, StringType):
        separator = config.separator.replace(r"\n", "\n").replace(r"\t", "\t")
        return F.split(taken, re.escape(separator)), place | output
    raise NodeError(
        f"the column {config.column} is {kind.simpleString()}; only a list, a map or a text has elements",
        permanent=True,
        kind="user",
        field="column",
    )


def _exploded(elements: Column, config: FlatMapConfig) -> Column:
    from pyspark.sql import functions as F

    if config.position:
        return F.posexplode_outer(elements) if config.keep_empty else F.posexplode(elements)
    return F.explode_outer(elements) if config.keep_empty else F.explode(elements)


def _refuse_twice(kept: Sequence[str], made: Mapping[str, str]) -> None:
    """NodeError on the first field of `made` whose column another one is called like."""
    for field, name in made.items():
        others = [*kept, *(other for one, other in made.items() if one != field)]
        if name.lower() in {other.lower() for other in others}:
            raise NodeError(f"{name.lower()} would come out more than once: choose other names", permanent=True, kind="user", field=field)


def _in_place(order: list[str], taken: str, made: list[str]) -> list[str]:
    """The new columns stand where the old one stood."""
    at = order.index(taken)
    return [*order[:at], *made, *order[at + 1 :]]


def _trimmed(name: str) -> Column:
    """A part of a text without the blanks around it.

    Spaces are what there is to cut mostly, and Spark is quick at these alone: for others it compares letter by letter.
    """
    from pyspark.sql import functions as F

    bare = F.trim(column(name))
    others = [ends(bare, F.lit(blank)) for blank in _BLANKS if blank != " " for ends in (F.startswith, F.endswith)]
    return F.when(reduce(or_, others), F.btrim(bare, F.lit(_BLANKS))).otherwise(bare)
