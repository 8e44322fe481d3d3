"""Messages that Kafka would not take: its client refuses those above max.request.size, and a broker those above the topic's own limit.

For a partition that the topic does not have the client waits a minute, and a processor with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_settings import KafkaSettings
from jobs.nodes.rejected_rows import RejectedRows, whole_struct
from jobs.nodes.row_counts import RowCounts
from jobs.nodes.sinks.task_tally import SAMPLE_ROWS, task_tally
from jobs.nodes.user_python.workers import in_workers_shared

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from jobs.nodes.base import ConnectionSettings

#: In bytes: what Kafka's client sends at most unless it is told otherwise.
_CLIENT_MOST = 1_048_576
#: In bytes: what Kafka adds to a batch, and at most to a message in it.
_OVERHEAD = 61 + 21
_TEXT_CHARACTERS = 10_000
_NOWHERE = "it asks for partition {asked}, and the topic has {has}, counted from 0"
_WHY, _ROW, _REFUSED = "why", "row", "refused"


#: How many messages were rejected, and (reason, text) of some of them.
Rejected = tuple[int, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class MessageBounds:
    """`most`: the bytes of a message as Kafka counts them; `too_large`: what is said of one that has more.

    `partitions`: how many the topic has, where a column of the messages names one.
    """

    most: int
    too_large: str
    partitions: int | None = None

    def fitting(self, messages: DataFrame) -> DataFrame:
        """Those of `messages`, as Spark's writer takes them, that can be sent."""
        return messages.filter(self._refusal(messages).isNull())

    def _refusal(self, messages: DataFrame) -> Column:
        """Why a message cannot be sent; null for others."""
        from pyspark.sql import functions as F

        refusal = F.when(message_bytes(messages) > self.most, F.lit(self.too_large))
        if self.partitions is None:
            return refusal
        asked = F.col("partition")
        words = F.replace(F.lit(_NOWHERE.replace("{has}", str(self.partitions))), F.lit("{asked}"), asked.cast("string"))
        return F.when((asked < 0) | (asked >= self.partitions), words).otherwise(refusal)

    def counted(self, messages: DataFrame) -> tuple[DataFrame, RowCounts]:
        """The same, each made once; the others are told by `rejected`."""
        from pyspark.sql import functions as F

        refused = F.col(_WHY).isNotNull()
        text = F.coalesce(F.substring(F.col("value").cast("string"), 1, _TEXT_CHARACTERS), F.lit(""))
        counts = RowCounts(messages.sparkSession, "what Kafka refuses", {_REFUSED: refused}, SAMPLE_ROWS)
        told = messages.withColumn(_WHY, self._refusal(messages))
        return counts.within(told, (refused, F.col(_WHY), text)).filter(~refused).drop(_WHY), counts

    @staticmethod
    def rejected(counts: RowCounts) -> Rejected:
        """Those that could not be sent, once what was `counted` is read."""
        return counts.rows()[_REFUSED], tuple(counts.texts())

    def parted(self, messages: DataFrame, rejections: RejectedRows) -> DataFrame:
        """The same, of `messages` that have the whole row in a last column; rows that cannot be sent go to `rejections`."""
        from pyspark.sql import functions as F

        names = [name for name in messages.columns if name != _ROW]

        def kept(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            with task_tally(0, rejections) as tally:
                for batch in batches:
                    why = batch.column(_WHY)
                    for reason, row in zip(why.drop_null().to_pylist(), batch.column(_ROW).drop_null().to_pylist(), strict=True):
                        tally.add([row], reason)
                    yield batch.filter(why.is_null()).select(names)

        told = messages.withColumn(_WHY, self._refusal(messages))
        told = told.withColumn(_ROW, F.when(F.col(_WHY).isNotNull(), whole_struct(F.col(_ROW))))
        return in_workers_shared(lambda: told.mapInArrow(kept, messages.drop(_ROW).schema))


def with_whole_row(frame: DataFrame, columns: list[Column]) -> DataFrame:
    """The `columns` of messages, with the row of each behind them."""
    from pyspark.sql import functions as F

    return frame.select(*columns, F.struct("*").alias(_ROW))


def topic_bounds(settings: ConnectionSettings, topic: str) -> MessageBounds:
    """The client's limit, or the topic's where the cluster tells it and it is lower. A client that compresses messages leaves the topic's
    to the broker, who looks at what they became.
    """
    compresses = KafkaSettings.model_validate(settings.config).client_options.get("compression.type", "none") != "none"
    of_client = client_bounds(settings)
    of_topic = None if compresses else KafkaAdmin(settings).most_bytes(topic)
    if of_topic is None or of_topic >= of_client.most:
        return of_client
    return MessageBounds(of_topic, f"as a message it has more bytes than the {of_topic} that max.message.bytes of the topic allows")


def client_bounds(settings: ConnectionSettings) -> MessageBounds:
    most = int(KafkaSettings.model_validate(settings.config).client_options.get("max.request.size", _CLIENT_MOST))
    return MessageBounds(most, f"as a message it has more bytes than the {most} that max.request.size of the connection allows")


def message_bytes(messages: DataFrame) -> Column:
    """How large each of `messages` is at most on its way, as Kafka's client counts it before it sends one."""
    from pyspark.sql import functions as F

    without = [name for name in ("key", "headers") if name not in messages.columns]
    size = F.lit(_OVERHEAD + len(without)) + _measured(F.col("value"))
    if "key" in messages.columns:
        size += _measured(F.col("key"))
    if "headers" in messages.columns:
        size += _written(F.size("headers"))
        size += F.aggregate("headers", F.lit(0).cast("long"), lambda bytes, one: bytes + _measured(one["key"]) + _measured(one["value"]))
    return size


def _measured(value: Column) -> Column:
    """Bytes of a text or of bytes behind their length; one byte where there are none."""
    from pyspark.sql import functions as F

    length = F.octet_length(value)
    return F.coalesce(length + _written(length), F.lit(1))


def _written(length: Column) -> Column:
    """Bytes that a length takes itself: seven of its binary digits in each, behind one more for the sign."""
    from pyspark.sql import functions as F

    return F.ceil(F.length(F.bin(length * 2)) / 7)
