"""Shows the first rows of every batch."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, Sink, Written
from jobs.nodes.columns import column
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.roll_back import Hindrance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


#: Of each row in the log.
_MOST_CHARACTERS = 10_000


class PrintConfig(base.Config):
    rows: int = Field(10, ge=1, le=1000, description="How many rows of each batch to show.", examples=[10])


class PrintSink(Sink[PrintConfig]):
    """Shows the first rows of every batch in the log and on the node.

    Bounded and unbounded input. At least once: a batch that is run again is shown again. Nothing is stored.
    """

    type = "sink.print"
    title = "Print"
    icon = "terminal-2"
    Config = PrintConfig
    summary_template = "first {rows} rows"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"rows"})

    guarantee: ClassVar[str] = "at least once"
    stays: ClassVar[Hindrance] = "nothing"
    reads_every_row: ClassVar[bool] = False

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[PrintConfig]) -> Written:
        rows = tuple(_as_json(frame.limit(context.config.rows)))
        for row in rows:
            context.log(f"batch {batch.batch_id}: {_short(row)}")
        return Written(rows=batch.rows, printed=rows)

    def write_plainly(self, frame: DataFrame, context: NodeContext[PrintConfig]) -> tuple[DataFrame, str]:
        frame.show(context.config.rows, truncate=False)
        return frame, ""


def _short(row: str) -> str:
    left_out = len(row) - _MOST_CHARACTERS
    return f"{row[:_MOST_CHARACTERS]} … and {left_out:,} characters more" if left_out > 0 else row


def _as_json(frame: DataFrame) -> list[str]:
    """One JSON object a row, nulls kept, times in the session's zone."""
    from pyspark.sql import functions as F

    if not frame.columns:
        return []
    record = F.to_json(F.struct(*(column(name) for name in frame.columns)), JSON_AS_WRITTEN)
    return [row[0] for row in frame.select(record).collect()]
