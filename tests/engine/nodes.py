"""Node types that behave badly on purpose, or let a test look inside."""

from __future__ import annotations

import threading
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.nodes import base
from jobs.nodes.backpressure import Buffered, Skip
from jobs.nodes.base import REJECTED, Batch, Flow, NodeContext, NodeError, Sink, Source, Written
from jobs.nodes.sources.file import FileSource
from jobs.nodes.sources.generator import GeneratorConfig, GeneratorSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class NoConfig(base.Config):
    pass


class CollectSink(Sink[NoConfig]):
    """Keeps rows in memory, by node and batch."""

    type = "sink.collect"
    title = "Collect"
    icon = "database"
    Config = NoConfig
    rows: ClassVar[dict[str, dict[int, list[Any]]]] = defaultdict(dict)
    began: ClassVar[dict[str, StructType]] = {}

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[NoConfig]) -> None:
        self.began[context.generation + context.node_id] = schema

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[NoConfig]) -> Written:
        rows = frame.collect()
        self.rows[context.generation + context.node_id][batch.batch_id] = rows
        return Written(rows=len(rows))


class HangingSink(Sink[NoConfig]):
    """Hangs outside Spark until it is let go."""

    type = "sink.hang"
    title = "Hang"
    icon = "clock"
    Config = NoConfig
    hanging: ClassVar[threading.Event] = threading.Event()
    let_go: ClassVar[threading.Event] = threading.Event()

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[NoConfig]) -> Written:
        self.hanging.set()
        self.let_go.wait(120)
        return Written(rows=frame.count())


class SlowSink(Sink[NoConfig]):
    """Takes 500 rows a second. Keeps their ids."""

    type = "sink.slow"
    title = "Slow"
    icon = "clock"
    Config = NoConfig
    took: ClassVar[dict[str, list[int]]] = defaultdict(list)

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[NoConfig]) -> Written:
        ids = [row.id for row in frame.collect()]
        threading.Event().wait(len(ids) / 500)
        self.took[context.generation] += ids
        return Written(rows=len(ids))


class RefusingSink(Sink[NoConfig]):
    """Its target does not take ids that end in 3, and no batch twice. Keeps what it took."""

    type = "sink.refuses"
    title = "Refuse"
    icon = "x"
    Config = NoConfig
    rejects_rows: ClassVar[bool] = True
    took: ClassVar[dict[str, list[int]]] = defaultdict(list)
    batches: ClassVar[dict[str, list[int]]] = defaultdict(list)

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[NoConfig]) -> Written:
        from jobs.nodes.rejected_rows import whole_row

        key = context.generation + context.node_id
        if batch.batch_id in self.batches[key]:
            return Written(rows=0, repeated=True)
        rows = [(row.id, row.text) for row in frame.select("id", whole_row(frame).alias("text")).collect()]
        refused = [row for row in rows if row[0] % 10 == 3][: 1 if batch.fails_at_rejected else None]
        if batch.rejections is not None:
            with batch.rejections.part("rows") as part:
                for number, text in refused:
                    part.add(f"no {number} wanted", text)
            batch.rejections.complete()
        self.took[context.generation] += [number for number, _ in rows if number % 10 != 3]
        self.batches[key].append(batch.batch_id)
        kept = tuple((f"no {number} wanted", f'{{"id":{number}}}') for number, _ in refused[:2])
        return Written(rows=len(rows) - len(refused), rejected=len(refused), rejected_rows=kept)


class FailConfig(base.Config):
    how: str = "node_error"


class FailingSink(Sink[FailConfig]):
    """Fails in the second batch."""

    type = "sink.fail"
    title = "Fail"
    icon = "bug"
    Config = FailConfig

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[FailConfig]) -> Written:
        rows = frame.count()
        if batch.batch_id == 1:
            if context.config.how == "disk":
                raise OSError(28, "No space left on device")
            if context.config.how == "fenced":
                raise base.SinkFenced("a newer attempt took over the table t")
            if context.config.how == "bug":
                raise ZeroDivisionError("division by zero")
            raise NodeError('writing to "t": the password is wrong; correct the connection', permanent=True, kind="user")
        return Written(rows=rows)


class RejectConfig(base.Config):
    condition: str


class RejectRows(Flow[RejectConfig]):
    """Rejects rows for which a condition is true."""

    type = "flow.rejects"
    title = "Reject"
    icon = "x"
    Config = RejectConfig
    rejects_rows: ClassVar[bool] = True

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[RejectConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        reason = F.when(F.expr(context.config.condition), F.concat(F.lit("bad id "), F.col("id").cast("string")))
        return frame.withColumn(REJECTED, reason)


class BrokenSource(Source[NoConfig]):
    """Cannot be reached."""

    type = "source.broken"
    title = "Broken"
    icon = "plug"
    Config = NoConfig

    def read(self, spark: SparkSession, context: NodeContext[NoConfig]) -> DataFrame:
        raise NodeError("reading shop: the host shop.example does not answer; check the connection", kind="external")


class RestlessNumbers(GeneratorSource):
    """Always says that more waits than may, and then leaves nothing out: its query is stopped and started again and again."""

    type = "source.restless"
    asked: ClassVar[Counter[str]] = Counter()

    def buffered(self, context: NodeContext[GeneratorConfig], positions: Sequence[Any] = ()) -> Buffered:
        return Buffered(1, 0, "DROPPING")

    def skip(self, context: NodeContext[GeneratorConfig], positions: Sequence[Any]) -> Skip:
        self.asked[context.generation] += 1
        return Skip(tuple(positions), tuple(positions), 0)


class VanishingFiles(FileSource):
    """A file source whose files vanish just after they were checked, before their batch reads them."""

    type = "source.vanishing"
    folder: ClassVar[Path]

    def check(self, missing: Sequence[str]) -> None:
        super().check(missing)
        for file in self.folder.glob("*.csv"):
            file.unlink()
