"""What one chooses for `sink.hbase`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.sinks.messages import OptionalColumn

_FAMILY = r"^([^.:/\x00-\x1f\x7f][^:/\x00-\x1f\x7f]*)?$"
_FAMILY_WORDS = "a column family's name: no colon, slash or leading dot"


class HbaseCell(base.Config):
    """Where one column goes."""

    name: ColumnName = Field(description="A column of the rows.", examples=["total"], json_schema_extra=hints("column"))
    family: str = Field(
        "",
        max_length=255,
        pattern=_FAMILY,
        description="The column family it goes to; empty takes the family above.",
        examples=["sums"],
        json_schema_extra=hints(allowed=_FAMILY_WORDS),
    )
    qualifier: str = Field(
        "", max_length=1000, description="Its name within the family; empty takes the column's own name.", examples=["t"]
    )


class _Place(base.Config):
    connection: str = connection_field("hbase")
    table: str = Field(
        max_length=500,
        pattern=r"^([A-Za-z0-9_]+:)?[A-Za-z0-9_][A-Za-z0-9_.-]*$",
        description="The table, if need be with its namespace.",
        examples=["orders", "shop:orders"],
        json_schema_extra=hints(allowed="letters, digits, _, - and dots, with a namespace and a colon before them if need be"),
    )
    row_key: str = Field(
        min_length=1,
        description="A Spark SQL expression of the columns, the same whenever it is computed; a row where it is empty is rejected.",
        examples=["id", "concat(country, '|', id)"],
        json_schema_extra=hints("expression"),
    )


class _Cells(_Place):
    family: str = Field(
        "",
        max_length=255,
        pattern=_FAMILY,
        description="The column family of every column that is not listed below; empty writes the listed ones alone.",
        examples=["cf"],
        json_schema_extra=hints(allowed=_FAMILY_WORDS),
    )
    columns: tuple[HbaseCell, ...] = Field(
        (),
        description="Columns that go to another family, or get another name.",
        examples=[[{"name": "total", "family": "sums", "qualifier": "t"}]],
        json_schema_extra=hints("mapping"),
    )
    encoding: Literal["text", "bytes"] = Field(
        "text",
        description=(
            "How the row key and values that are no text are written: as text, or in big-endian bytes as HBase's Bytes.toBytes does, "
            "dates and times then as milliseconds since 1970."
        ),
        examples=["text", "bytes"],
        json_schema_extra=hints(advanced=True),
    )
    skipped_columns: tuple[ColumnName, ...] = Field(
        (),
        description="Columns that are not written, such as those that make the row key alone.",
        examples=[["id"]],
        json_schema_extra=hints("columns", advanced=True),
    )


class HbaseSinkConfig(_Cells):
    empty_cells: Literal["skip", "delete"] = Field(
        "skip",
        description=(
            "What a null does to its cell: nothing, so that an older value stays, or it deletes it. "
            "A row of nulls alone then writes nothing, or deletes all its cells."
        ),
        examples=["delete"],
        json_schema_extra=hints(advanced=True),
    )
    delete_flag: OptionalColumn = Field(
        "",
        description="A column of true and false: where it is true, the whole row with this key is deleted. It is not written itself.",
        examples=["deleted"],
        json_schema_extra=hints("column", advanced=True),
    )
    timestamp_column: OptionalColumn = Field(
        "",
        description=(
            "The column with the cells' timestamp, a time or milliseconds since 1970; empty takes the time at which a batch was begun "
            "first. Rows with different times go in requests of their own, which takes longer; of equal times, a deletion wins."
        ),
        examples=["changed_at"],
        json_schema_extra=hints("column", advanced=True),
    )
    create_table: bool = Field(
        True,
        description="Make the table with its families if it does not exist; families are never added to one that does.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    batch_size: int = Field(
        1_000,
        ge=1,
        le=100_000,
        description="Rows in one request at most; less where they are more than a megabyte.",
        examples=[1_000],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="after")
    def _cells_have_a_family(self) -> HbaseSinkConfig:
        if not self.family and not self.columns:
            raise ValueError("nothing would be written: name a family, or list columns with theirs")
        if lacking := [cell.name for cell in self.columns if not (cell.family or self.family)]:
            raise ValueError(f"{lacking[0]} has no family: name one beside it, or one for all")
        own = {cell.name.lower() for cell in self.columns}
        if both := [name for name in self.skipped_columns if name.lower() in own]:
            raise ValueError(f"{both[0]} is listed among the columns and skipped: choose one")
        return self

    @property
    def table_name(self) -> bytes:
        """As HBase lists it: its own namespace is not named."""
        return self.table.removeprefix("default:").encode()

    def families(self) -> tuple[str, ...]:
        """Every family that is named, once."""
        named = (self.family, *(cell.family for cell in self.columns))
        return tuple(dict.fromkeys(filter(None, named)))
