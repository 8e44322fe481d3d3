"""Queues of a RocketMQ topic as a Spark data source; its offset is `{"broker/queue": offset of the next message}`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from jobs.nodes.patience import SETTLING_SECONDS
from jobs.nodes.readers.replayed import ReaderSettings, worth_a_record_batch
from jobs.nodes.rocketmq.client import RocketMq, RocketmqAway
from jobs.nodes.rocketmq.messages import Message, properties_of
from jobs.nodes.rocketmq.positions import QueueRange, Start, admitted, begin, newest, offsets_json, offsets_of, oldest, ranges, shared_out
from jobs.nodes.rocketmq.pulling import Wanted
from jobs.nodes.rocketmq.reading import QueueReading, lost_words
from jobs.nodes.rocketmq.route import Queue
from jobs.nodes.sources.rocketmq_config import RocketmqSourceConfig
from jobs.nodes.worker_errors import carried_out

_VALUE = "value binary, damage string"
_TOLD = "broker string, queue int, offset bigint, topic string, tags string, keys string, born timestamp, properties map<string, string>"
_VALUE_ARROW = [("value", pa.binary()), ("damage", pa.string())]
_TOLD_ARROW = [
    ("broker", pa.string()),
    ("queue", pa.int32()),
    ("offset", pa.int64()),
    ("topic", pa.string()),
    ("tags", pa.string()),
    ("keys", pa.string()),
    ("born", pa.timestamp("us", tz="UTC")),
    ("properties", pa.map_(pa.string(), pa.string())),
]
_LOOK_AGAIN_SECONDS = 0.5
#: So long a broker that says nothing holds up the messages of the others.
_PLANNING_SECONDS = 5.0


@dataclass
class Ranges(InputPartition):
    """What one task reads."""

    ranges: list[QueueRange]


class RocketmqQueues(DataSource):
    """Options: `settings` (config, connection, node_id, slots as JSON) and `secret`."""

    @classmethod
    def name(cls) -> str:
        return "pipeline_rocketmq"

    def schema(self) -> str:
        return f"{_VALUE}, {_TOLD}" if _Topic(dict(self.options)).config.metadata else _VALUE

    def reader(self, schema: StructType) -> DataSourceReader:
        return QueuesReader(dict(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return QueuesStreamReader(dict(self.options))


class _Topic:
    """What both readers share. Goes to workers as options; connections are made where they are used."""

    def __init__(self, options: Mapping[str, str]) -> None:
        told = ReaderSettings.of(options)
        self.config = RocketmqSourceConfig.model_validate(told.config)
        self.connection, self.node_id, self.slots, self.beginning = told.connection, told.node_id, told.slots, told.beginning

    def shared_out(self, start: Mapping[Queue, int], end: Mapping[Queue, int]) -> list[Ranges]:
        return [Ranges(part) for part in shared_out(ranges(start, end), self.slots)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Ranges)
        wanted = Wanted(self.config.topic, self.config.group, self.config.tag_names)
        with carried_out(self.node_id), RocketMq(self.connection) as client:
            reading = QueueReading(client, wanted, skips=self.config.lost_messages == "go_on")
            for one in partition.ranges:
                for messages in worth_a_record_batch(reading.messages(one)):
                    yield _record_batch(messages, wanted.topic, one.queue.broker, told=self.config.metadata)


class QueuesReader(DataSourceReader):
    """All that is there now from the start on."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def partitions(self) -> Sequence[Ranges]:
        """Never none: Spark would make up a partition of its own."""
        topic = _Topic(self._options)
        with carried_out(topic.node_id), RocketMq(topic.connection) as client:
            given = topic.config.begins()
            # A plain read ends at the newest message and so cannot begin there.
            start = begin(client, topic.config.topic, Start() if given.at == "latest" else given)
            return topic.shared_out(start, {**start, **newest(client, topic.config.topic)}) or [Ranges([])]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _Topic(self._options).read(partition)


class QueuesStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """While no broker answers there is nothing new: the stream waits, and goes on by itself."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._topic = _Topic(options)
        self._client: RocketMq | None = None
        self._newest: dict[Queue, int] = {}
        self._end: dict[Queue, int] | None = None

    def __reduce__(self) -> tuple[type[QueuesStreamReader], tuple[dict[str, str]]]:
        """Spark sends the reader to its workers, which only read."""
        return QueuesStreamReader, (self._options,)

    def initialOffset(self) -> dict[str, int]:
        config = self._topic.config
        with carried_out(self._topic.node_id):
            return self._topic.beginning.at(lambda: offsets_json(begin(self._asking(), config.topic, config.begins())))

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._topic.config.max_records_per_trigger)

    def prepareForTriggerAvailableNow(self) -> None:
        with carried_out(self._topic.node_id):
            self._end = newest(self._asking(), self._topic.config.topic)

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._topic.config.max_records_per_trigger
        with carried_out(self._topic.node_id):
            here = offsets_of(start)
            try:
                end = self._newest_or_end(here)
                begun = {**oldest(self._asking(), self._topic.config.topic, [queue for queue in end if queue not in here]), **here}
            except RocketmqAway:
                if self._end is not None:
                    raise
                return start
            return offsets_json(admitted(begun, end, most))

    def reportLatestOffset(self) -> dict[str, int]:
        """For the figure of what waits."""
        return offsets_json(self._newest)

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Ranges]:
        here, there = offsets_of(start), offsets_of(end)
        with carried_out(self._topic.node_id):
            new = oldest(self._asking(), self._topic.config.topic, [queue for queue in there if queue not in here])
        return self._topic.shared_out({**new, **here}, there)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._topic.read(partition)

    def stop(self) -> None:
        if self._client is not None:
            self._client.close()

    def _asking(self) -> RocketMq:
        self._client = self._client or RocketMq(self._topic.connection, seconds=_PLANNING_SECONDS)
        return self._client

    def _newest_or_end(self, here: Mapping[Queue, int]) -> Mapping[Queue, int]:
        """Where this run ends, or the newest; queues that went back are an error unless lost messages are skipped."""
        deadline = time.monotonic() + SETTLING_SECONDS
        while True:
            end = self._end if self._end is not None else newest(self._asking(), self._topic.config.topic, of_some=True)
            self._newest = {**here, **end}
            back = [queue for queue, offset in end.items() if offset < here.get(queue, 0)]
            if not back:
                return end
            if time.monotonic() > deadline:
                break
            time.sleep(_LOOK_AGAIN_SECONDS)
            if self._end is not None:
                self._end = newest(self._asking(), self._topic.config.topic)
        if self._topic.config.lost_messages == "fail":
            queue = back[0]
            raise lost_words(self._topic.connection.name, QueueRange(queue, here[queue], end[queue]), here[queue], end[queue])
        return end


def _record_batch(messages: Sequence[Message], topic: str, broker: str, *, told: bool) -> pa.RecordBatch:
    values: list[Sequence[Any]] = [[one.value for one in messages], [one.damage for one in messages]]
    if told:
        properties = [properties_of(one.properties) for one in messages]
        values += [
            [broker] * len(messages),
            [one.queue for one in messages],
            [one.offset for one in messages],
            [topic] * len(messages),
            [told.get("TAGS") for told in properties],
            [told.get("KEYS") for told in properties],
            [one.born * 1000 for one in messages],
            [list(told.items()) for told in properties],
        ]
    schema = pa.schema(_VALUE_ARROW + (_TOLD_ARROW if told else []))
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)
