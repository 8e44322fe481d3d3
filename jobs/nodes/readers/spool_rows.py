"""A spool as a Spark data source; its offset is the position of the last message read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from jobs.nodes.gathering import gathered
from jobs.nodes.readers.replayed import Beginning
from jobs.nodes.spool import Spool, Spooled
from jobs.nodes.spool_faults import spool_of_another, spool_trimmed
from jobs.nodes.worker_errors import carried_out

SCHEMA = "position bigint, received timestamp, key string, headers map<string, string>, value binary"
_ARROW = pa.schema(
    [
        ("position", pa.int64()),
        ("received", pa.timestamp("us", tz="UTC")),
        ("key", pa.string()),
        ("headers", pa.map_(pa.string(), pa.string())),
        ("value", pa.binary()),
    ]
)
#: A task for fewer is not worth while.
_LEAST_ROWS = 2_000


@dataclass
class Positions(InputPartition):
    """Messages `after` + 1 … `upto`."""

    after: int
    upto: int


class SpoolRows(DataSource):
    """Options: `path` of the spool, `place` whose messages are read, `rows` of a batch at most, `slots` tasks, `node`, the reader's id.

    Of a stream also `reader`, a name that no other reader has, and `beginning` (see `Beginning`). A plain read may have `after` and
    `upto`, as `Positions` has them; else it reads all that is kept.
    """

    @classmethod
    def name(cls) -> str:
        return "pipeline_spool"

    def schema(self) -> str:
        return SCHEMA

    def reader(self, schema: StructType) -> DataSourceReader:
        spool, options = self._spool(), self.options
        after, upto = options.get("after", spool.oldest() - 1), options.get("upto", spool.newest())
        return SpoolReader(spool, Positions(int(after), int(upto)), int(options["slots"]), options.get("node", ""))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        options = self.options
        beginning = Beginning.of(options["beginning"])
        rows, slots = int(options["rows"]), int(options["slots"])
        return SpoolStreamReader(self._spool(), beginning, rows, slots, options["reader"], options.get("node", ""))

    def _spool(self) -> Spool:
        return Spool(Path(self.options["path"]), self.options.get("place", ""))


class SpoolReader(DataSourceReader):
    def __init__(self, spool: Spool, asked: Positions, slots: int, node: str = "") -> None:
        self._spool = spool
        self._node = node
        self._asked = asked
        self._slots = slots

    def partitions(self) -> Sequence[Positions]:
        return _split(self._spool, self._asked.after, self._asked.upto, self._slots)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Positions)
        return _record_batches(self._spool, partition, self._node)


class SpoolStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, spool: Spool, beginning: Beginning, rows: int, slots: int, reader: str = "", node: str = "") -> None:
        self._spool = spool
        self._node = node
        self._beginning = beginning
        self._reader = reader
        self._rows = rows
        self._slots = slots
        self._end: int | None = None
        self._planned: tuple[int, int] | None = None

    def initialOffset(self) -> dict[str, Any]:
        starts = {"latest": self._spool.newest, "unread": self._spool.last_read}
        begin = starts.get(self._beginning.start, lambda: self._spool.oldest() - 1)
        return self._beginning.at(lambda: {"position": begin()})

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._rows)

    def prepareForTriggerAvailableNow(self) -> None:
        self._end = self._spool.newest()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        most = limit.max_rows if isinstance(limit, ReadMaxRows) else self._rows
        newest = self._spool.newest() if self._end is None else self._end
        after = int(start["position"])
        if newest < after:
            with carried_out(self._node):
                raise spool_of_another(after, newest)
        upto = max(after, min(newest, self._spool.first_behind(after) - 1 + most))
        self._plan(after, upto)
        return {"position": upto}

    def _plan(self, after: int, upto: int) -> None:
        """Before Spark notes the end of the batch: from now on nothing of it is discarded."""
        if self._planned != (after, upto):
            self._spool.plan(after, upto, self._reader)
            self._planned = (after, upto)

    def reportLatestOffset(self) -> dict[str, Any]:
        """For the figure of what waits."""
        return {"position": self._spool.newest()}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[Positions]:
        return _split(self._spool, int(start["position"]), int(end["position"]), self._slots)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, Positions)
        return _record_batches(self._spool, partition, self._node)


def _split(spool: Spool, after: int, upto: int, slots: int) -> list[Positions]:
    """Never none: Spark would make up a partition of its own."""
    own = spool.own(after, upto)
    size = max(-(-sum(end - begin for begin, end in own) // slots), _LEAST_ROWS)
    return [Positions(at, min(at + size, end)) for begin, end in own for at in range(begin, end, size)] or [Positions(0, 0)]


def _record_batches(spool: Spool, partition: Positions, node: str) -> Iterator[pa.RecordBatch]:
    with carried_out(node):
        try:
            for several in gathered(spool.read(partition.after, partition.upto), lambda message: len(message.value or b"")):
                yield _record_batch(several)
        except LookupError as error:
            raise spool_trimmed(str(error)) from error


def _text(key: str | bytes | None) -> str | None:
    """A routing key that is no UTF-8 was once kept as bytes."""
    return key.decode("utf-8", "replace") if isinstance(key, bytes) else key


def _record_batch(messages: Sequence[Spooled]) -> pa.RecordBatch:
    columns = [
        pa.array([one.position for one in messages], pa.int64()),
        pa.array([round(one.received * 1_000_000) for one in messages], pa.timestamp("us", tz="UTC")),
        pa.array([_text(one.key) for one in messages], pa.string()),
        pa.array([list(one.headers.items()) for one in messages], pa.map_(pa.string(), pa.string())),
        pa.array([one.value for one in messages], pa.binary()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)
