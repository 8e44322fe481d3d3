"""A query of a test that has a clock: each batch comes at the time that the test gives."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from jobs.engine.clock import SparkClock
from jobs.engine.query import StreamQuery
from jobs.nodes.hadoop_paths import hadoop_path


class ClockedQuery(StreamQuery):
    """Of a plan with a clock. Where something goes by the clock Spark goes on with empty batches for ever: one of them is the last."""

    _clock: SparkClock

    def _started_by(self, writer: DataStreamWriter) -> StreamingQuery:
        self._clock = SparkClock(self._spark, self._steps.plan.clock[0])
        return self._clock.start(writer, self._frame, self._name(), hadoop_path(self.folder))

    def _batch(self, frame: DataFrame, batch_id: int) -> None:
        super()._batch(frame, batch_id)
        time = self._steps.plan.time_of(batch_id + 1)
        assert time is not None
        self._clock.set(time)
        if batch_id >= len(self._steps.plan.clock):
            self.request_stop()
