"""Computes every row and keeps none, to measure what stands before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, Sink, Written
from jobs.nodes.roll_back import Hindrance

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class NoneSinkConfig(base.Config):
    """Nothing to set."""


class NoneSink(Sink[NoneSinkConfig]):
    """Computes every row and writes none, to measure a job without its target.

    Bounded and unbounded input. Exactly once: nothing is written, so nothing is there twice.
    """

    type = "sink.none"
    title = "None"
    icon = "circle-off"
    Config = NoneSinkConfig
    guarantee: ClassVar[str] = "exactly once"
    stays: ClassVar[Hindrance] = "nothing"

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[NoneSinkConfig]) -> Written:
        self.write_plainly(frame, context)
        return Written(rows=batch.rows)

    def write_plainly(self, frame: DataFrame, context: NodeContext[NoneSinkConfig]) -> tuple[DataFrame, str]:
        """Spark's target without files asks for every column, so that no part of the plan is left out."""
        frame.write.format("noop").mode("overwrite").save()
        return frame, ""
