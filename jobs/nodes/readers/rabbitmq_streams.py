"""A RabbitMQ stream as a Spark data source; its offset is `{"offset": offset of the next message}`."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from jobs.nodes.connections.rabbitmq_client import RabbitMQAway
from jobs.nodes.patience import SETTLING_SECONDS
from jobs.nodes.rabbitmq.stream_end import StreamEnd
from jobs.nodes.rabbitmq.stream_line import Delivered, StreamLine
from jobs.nodes.rabbitmq.stream_reading import StreamRange, StreamReading, lost_words, shared_out
from jobs.nodes.rabbitmq.told import headers_told, text_told
from jobs.nodes.readers.replayed import ReaderSettings, worth_a_record_batch
from jobs.nodes.sources.rabbitmq_stream_config import RabbitMQStreamConfig
from jobs.nodes.start_time import time_of
from jobs.nodes.worker_errors import carried_out

_VALUE = "value binary"
_TOLD = "offset bigint, key string, exchange string, sent timestamp, headers map<string, string>"
_VALUE_ARROW = [("value", pa.binary())]
_TOLD_ARROW = [
    ("offset", pa.int64()),
    ("key", pa.string()),
    ("exchange", pa.string()),
    ("sent", pa.timestamp("us", tz="UTC")),
    ("headers", pa.map_(pa.string(), pa.string())),
]
_LOOK_AGAIN_SECONDS = 0.5
#: The last second of the year 9999; a sender may write anything.
_LAST_SECOND = 253_402_300_799


@dataclass
class Part(InputPartition):
    """What one task reads."""

    range: StreamRange


class RabbitMQStreams(DataSource):
    """Options: `settings` (config, connection, node_id, slots as JSON) and `secret`."""

    @classmethod
    def name(cls) -> str:
        return "pipeline_rabbitmq_stream"

    def schema(self) -> str:
        return f"{_VALUE}, {_TOLD}" if _Stream(dict(self.options)).config.metadata else _VALUE

    def reader(self, schema: StructType) -> DataSourceReader:
        return StreamsReader(dict(self.options))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return StreamsStreamReader(dict(self.options))


class _Stream:
    """What both readers share. Goes to workers as options; lines are opened where they are used."""

    def __init__(self, options: Mapping[str, str]) -> None:
        told = ReaderSettings.of(options)
        self.config = RabbitMQStreamConfig.model_validate(told.config)
        self.connection, self.node_id, self._slots, self.beginning = told.connection, told.node_id, told.slots, told.beginning

    def line(self) -> StreamLine:
        return StreamLine(self.connection, self.config.stream)

    def begin(self, line: StreamLine, start: str) -> int:
        """The first offset to read."""
        if start == "offset":
            return self.config.start_offset
        newest = line.look().newest
        if start == "latest":
            return newest
        first = line.look("first" if start == "earliest" else time_of(self.config.start_time)).first
        return newest if first is None else first

    def shared_out(self, start: int, end: int) -> list[Part]:
        return [Part(one) for one in shared_out(start, end, self._slots)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Part)
        with carried_out(self.node_id), self.line() as line:
            reading = StreamReading(line, self.config.stream, skips=self.config.lost_messages == "go_on")
            for messages in worth_a_record_batch(reading.messages(partition.range)):
                yield _record_batch(messages, told=self.config.metadata)


class StreamsReader(DataSourceReader):
    """All that is there now from the start on."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def partitions(self) -> Sequence[Part]:
        """Never none: Spark would make up a partition of its own."""
        stream = _Stream(self._options)
        with carried_out(stream.node_id), stream.line() as line:
            end = line.look().newest
            # A plain read ends at the newest message and so cannot begin there.
            start = stream.begin(line, "earliest" if stream.config.start == "latest" else stream.config.start)
            return stream.shared_out(min(start, end), end) or [Part(StreamRange(0, 0))]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return _Stream(self._options).read(partition)


class StreamsStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """While the broker does not answer there is nothing new: the stream waits, and goes on by itself."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._stream = _Stream(options)
        self._line = self._stream.line()
        self._newest_known = StreamEnd(self._line)
        self._newest = 0
        self._end: int | None = None

    def __reduce__(self) -> tuple[type[StreamsStreamReader], tuple[dict[str, str]]]:
        """Spark sends the reader to its workers, which only read."""
        return StreamsStreamReader, (self._options,)

    def initialOffset(self) -> dict[str, int]:
        with carried_out(self._stream.node_id):
            return self._stream.beginning.at(lambda: {"offset": self._stream.begin(self._line, self._stream.config.start)})

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._stream.config.max_records_per_trigger)

    def prepareForTriggerAvailableNow(self) -> None:
        with carried_out(self._stream.node_id):
            self._end = self._line.look().newest

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._stream.config.max_records_per_trigger
        here = int(start["offset"])
        with carried_out(self._stream.node_id):
            try:
                end = self._newest_or_end(here)
            except RabbitMQAway:
                if self._end is not None:
                    raise
                return start
        return {"offset": min(end, (here if here <= end else 0) + most)}

    def reportLatestOffset(self) -> dict[str, int]:
        """For the figure of what waits."""
        return {"offset": self._newest}

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> Sequence[Part]:
        return self._stream.shared_out(int(start["offset"]), int(end["offset"]))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        return self._stream.read(partition)

    def stop(self) -> None:
        self._newest_known.close()

    def _newest_or_end(self, here: int) -> int:
        """Where this run ends, or the newest; a stream that went back is an error unless lost messages are skipped."""
        deadline = time.monotonic() + SETTLING_SECONDS
        end = self._newest_known.newest() if self._end is None else self._end
        while end < here and time.monotonic() < deadline:
            time.sleep(_LOOK_AGAIN_SECONDS)
            end = self._line.look().newest
        self._newest = end
        self._end = None if self._end is None else end
        if end < here and self._stream.config.lost_messages == "fail":
            raise lost_words(self._line.act, self._stream.config.stream, here, end)
        return end


def _record_batch(messages: Sequence[Delivered], *, told: bool) -> pa.RecordBatch:
    values: list[Sequence[Any]] = [[one.value for one in messages]]
    if told:
        values += [
            [one.offset for one in messages],
            [text_told(one.method.routing_key) for one in messages],
            [text_told(one.method.exchange) for one in messages],
            [_sent(one.properties.timestamp) for one in messages],
            [list(headers_told(one.method, one.properties).items()) for one in messages],
        ]
    schema = pa.schema(_VALUE_ARROW + (_TOLD_ARROW if told else []))
    arrays = [pa.array(column, field.type) for column, field in zip(values, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _sent(seconds: Any) -> int | None:
    """The sender's time in microseconds, where it wrote one."""
    return int(seconds) * 1_000_000 if seconds is not None and 0 <= int(seconds) <= _LAST_SECOND else None
