"""Rows as messages: the fields of a broker sink's form that say how, and the frame they make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import Field, StringConstraints

from jobs.nodes.base import NodeContext, NodeError
from jobs.nodes.columns import column, require_columns
from jobs.nodes.form import hints
from jobs.nodes.formats import FORMATS, KnownFormat
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.rejected_rows import whole_row

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

#: Under this name a message carries what tells it from others, where the broker has no place of its own for it.
MESSAGE_ID = "message-id"
#: In bytes: what the shortest place for it holds, that of RabbitMQ.
_LONGEST_ID = 255


#: How a message's value is written: one of these, or as a package does.
MessageFormatName = Annotated[str, KnownFormat(("json", "text", "binary"))]
#: Those that write one column as it is.
ONE_COLUMN = ("text", "binary")


class MessageForm(Protocol):
    @property
    def format(self) -> MessageFormatName: ...
    @property
    def value_column(self) -> str: ...
    @property
    def id_columns(self) -> tuple[str, ...]: ...


def message_format_field() -> Any:
    return Field(
        "json",
        description="JSON writes all columns as one object, times to the microsecond; text and binary write the one column that is named "
        "below.",
        examples=["json"],
    )


def value_column_field() -> Any:
    return Field(
        "",
        description="The column that becomes the message's value.",
        examples=["value"],
        json_schema_extra=hints("column", when="format=text|binary"),
    )


def id_columns_field(place: str) -> Any:
    return Field(
        (),
        description=(
            f"Columns that tell messages apart: they make the {place}, by which readers drop repeats. "
            "With none, a repeat looks like a new message."
        ),
        examples=[["id"]],
        json_schema_extra=hints("columns", advanced=True),
    )


#: A column's name, or "" for none.
OptionalColumn = Annotated[str, StringConstraints(max_length=255, pattern=r"^[^\r\n]*$")]


def message_value(frame: DataFrame, form: MessageForm, act: str) -> Column:
    """The message's value, as text or bytes. NodeError beginning with `act` where its column is not named or not there."""
    from pyspark.sql import functions as F

    if form.format == "json":
        return F.to_json(_whole_row(frame), JSON_AS_WRITTEN)
    if (brought := FORMATS.get(form.format)) is not None:
        return brought.write(_whole_row(frame))
    if not form.value_column:
        raise NodeError(f"{act}: name the column that becomes the value", permanent=True, kind="user", field="value_column")
    require_columns(frame, [form.value_column], "value_column")
    return column(form.value_column).cast("string" if form.format == "text" else "binary")


def _whole_row(frame: DataFrame) -> Column:
    from pyspark.sql import functions as F

    return F.struct(*(column(name) for name in frame.columns))


def message_id(frame: DataFrame, context: NodeContext[Any]) -> Column | None:
    """`job/node/` and the id columns' values: the same for a row that is sent again, another where they differ.

    Where that is longer than 255 bytes the values' SHA-256 stands for them. None where the form names no columns.
    """
    from pyspark.sql import functions as F

    names = context.config.id_columns
    if not names:
        return None
    require_columns(frame, names, "id_columns/{row}")
    node = F.lit(f"{context.job_uid}/{context.node_id}")
    values = F.concat_ws("/", *(_told_apart(column(name).cast("string")) for name in names))
    told = F.concat_ws("/", node, values)
    return F.when(F.octet_length(told) <= _LONGEST_ID, told).otherwise(F.concat_ws("/", node, F.sha2(values, 256)))


def _told_apart(value: Column) -> Column:
    """The text between slashes: no two values look the same, null and nothing neither."""
    from pyspark.sql import functions as F

    escaped = F.replace(F.replace(value, F.lit("%"), F.lit("%25")), F.lit("/"), F.lit("%2F"))
    return F.coalesce(escaped, F.lit("%00"))


def text_column(frame: DataFrame, name: str, field: str) -> Column:
    """The column `name` as text, null where no name is given; NodeError on `field` where there is no such column."""
    from pyspark.sql import functions as F

    if not name:
        return F.lit(None).cast("string")
    require_columns(frame, [name], field)
    return column(name).cast("string")


@dataclass(frozen=True)
class Outgoing:
    """One message. `id` and `route` are "" where the form asks for none; `kept` is the whole row, where it goes on when it is rejected."""

    value: bytes
    id: str
    route: str
    kept: str = ""

    @property
    def text(self) -> str:
        return self.kept or self.value.decode("utf-8", "replace")


def message_rows(
    frame: DataFrame, context: NodeContext[Any], act: str, *, route: tuple[str, str] = ("", ""), keeps_rows: bool = False
) -> DataFrame:
    """With the columns value (bytes), id and route (texts, null where the form names no columns), and kept: what `outgoing` reads.

    `route`: the column that holds where each message goes, and the field that names it. `keeps_rows`: rejected rows go on.
    """
    from pyspark.sql import functions as F

    told = message_id(frame, context)
    return frame.select(
        message_value(frame, context.config, act).cast("binary").alias("value"),
        (F.lit(None).cast("string") if told is None else told).alias("id"),
        text_column(frame, *route).alias("route"),
        (whole_row(frame) if keeps_rows else F.lit(None).cast("string")).alias("kept"),
    )


def outgoing(batches: Iterable[pa.RecordBatch]) -> Iterator[Outgoing]:
    """In a task: its messages in order; a row without a value is an empty message."""
    for batch in batches:
        for value, told, route, kept in zip(*(batch[name].to_pylist() for name in ("value", "id", "route", "kept")), strict=True):
            yield Outgoing(value or b"", told or "", route or "", kept or "")
