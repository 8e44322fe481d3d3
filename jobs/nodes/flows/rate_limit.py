"""Lets rows through at a pace."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext
from jobs.nodes.columns import numbered
from jobs.nodes.user_python.arrow_schema import handed_schema
from jobs.nodes.user_python.workers import in_workers_shared

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

#: Rows go on in portions of so many seconds, so that those behind get them evenly.
_PORTION_SECONDS = 0.1
#: How many rows Spark hands to Python together; and how many bytes of them its workers keep back before they hand them on.
_TOGETHER, _KEPT_BACK = "spark.sql.execution.arrow.maxRecordsPerBatch", "spark.sql.execution.pandas.udf.buffer.size"
#: Less than any piece of what is handed on, so that nothing is kept back.
_NOTHING = "4"


class RateLimitConfig(base.Config):
    rows_per_second: float = Field(
        100,
        gt=0,
        le=10_000_000,
        description=(
            "At most so many rows go on each second, however many tasks the job has: one task passes them all on. Several sinks behind it "
            "get each batch at once, when all of it has gone through: put a limit of its own right before each."
        ),
        examples=[100, 0.5],
    )


class RateLimit(Flow[RateLimitConfig]):
    """Lets at most so many rows through each second, for the whole job; the rows stay as they are.

    N rows of a batch take at least N divided by `rows_per_second`, and the batch behind begins after that. So a faster source gives larger
    batches each time, up to what one may take: choose that (rows per batch, records per trigger) as what goes through in some seconds. A
    sink that alone reads the rows gets them at this pace. Where several do, or one that shows only some of them, the rows are kept: each
    gets a batch at once, when all of it has gone through. Put one right before each sink whose system bears no more. Python of the same
    query is handed no more rows together than go on in a tenth of a second. A stop is held up no longer than by any other batch: past its
    grace period the batch is cut, and begun again later.
    """

    type = "flow.rate_limit"
    title = "Rate limit"
    icon = "gauge"
    Config = RateLimitConfig
    computes_once: ClassVar[bool] = True
    changes_row_count: ClassVar[bool] = True  # within a batch: those that it still holds
    pace_fields: ClassVar[frozenset[str]] = frozenset({"rows_per_second"})
    summary_template = "{rows_per_second} / s"

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[RateLimitConfig]) -> DataFrame:
        (frame,) = frames["in"]
        handed_schema(frame.schema, context.time_zone, "goes through the limit")
        paced = Paced(context.config.rows_per_second)
        one = numbered(frame).coalesce(1)
        if context.for_script:
            return one.mapInArrow(paced.run, one.schema).toDF(*frame.columns)
        if not context.is_run:
            return frame
        _hand_on_at_once(frame.sparkSession, paced.portion)
        return in_workers_shared(lambda: one.mapInArrow(lambda batches: paced.run(batches), one.schema)).toDF(*frame.columns)


def _hand_on_at_once(session: SparkSession, rows: int) -> None:
    """Python that `session` runs takes and gives no more than so many rows together, and as soon as they are there."""
    session.conf.set(_TOGETHER, str(min(rows, int(session.conf.get(_TOGETHER) or rows))))
    session.conf.set(_KEPT_BACK, _NOTHING)


@dataclass(frozen=True)
class Paced:
    """Goes to the one task by value; its clock begins with the task."""

    per_second: float
    clock: Callable[[], float] = field(default=time.monotonic)
    sleep: Callable[[float], None] = field(default=time.sleep)

    @property
    def portion(self) -> int:
        return max(1, int(self.per_second * _PORTION_SECONDS))

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows; the Nth leaves no sooner than N / `per_second` seconds after the first call.

        Time in which no rows came is not made up for: those behind would get them in a heap.
        """
        due = self.clock()
        for batch in batches:
            for start in range(0, batch.num_rows, self.portion):
                part = batch.slice(start, self.portion)
                due = max(due, self.clock() - _PORTION_SECONDS) + part.num_rows / self.per_second
                early = due - self.clock()
                if early > 0:
                    self.sleep(early)
                yield part
