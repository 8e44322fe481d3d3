"""Entries of a Redis stream as a Spark data source; its offset is the ID of the last entry read. Runs in Spark's Python workers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from jobs.nodes.base import ConnectionSettings
from jobs.nodes.worker_errors import carried_out
from pipeline_web_redis.connection import redis_open
from pipeline_web_redis.source import RedisStreamConfig

Entry = tuple[str, dict[str, str]]
#: Before the first ID that Redis can give.
_BEGINNING = "0-0"
_PAGE = 1_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class IdRange(InputPartition):
    """Entries behind `after` up to `last` itself."""

    after: str
    last: str


class StreamEntries(DataSource):
    """Options: `settings` (node_id, config, connection as JSON) and `secret`."""

    @classmethod
    def name(cls) -> str:
        return "pipeline_web_redis_stream"

    def reader(self, schema: StructType) -> DataSourceReader:
        return EntriesReader(RedisStream(dict(self.options)))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return EntriesStreamReader(RedisStream(dict(self.options)))


class RedisStream:
    """One stream on one server. Goes to workers as it is: a client is opened where it is used."""

    def __init__(self, options: Mapping[str, str]) -> None:
        settings = json.loads(options["settings"])
        self.node_id = str(settings["node_id"])
        self.config = RedisStreamConfig.model_validate(settings["config"])
        self.connection = ConnectionSettings(**settings["connection"], secrets=json.loads(options["secret"]))

    def newest(self) -> str:
        """The ID of the newest entry; that before all others if there is none."""
        with carried_out(self.node_id), redis_open(self.connection, f'reading the stream "{self.config.stream}"') as client:
            found: Any = client.xrevrange(self.config.stream, count=1)
            return str(found[0][0]) if found else _BEGINNING

    def entries(self, after: str, last: str, count: int) -> list[Entry]:
        """At most `count` entries behind `after`, up to `last` ("+": to the end)."""
        with carried_out(self.node_id), redis_open(self.connection, f'reading the stream "{self.config.stream}"') as client:
            found: Any = client.xrange(self.config.stream, min=f"({after}", max=last, count=count)
            return list(found)

    def rows(self, ids: InputPartition) -> Iterator[tuple[Any, ...]]:
        """Entry by entry, in pages: memory holds one page."""
        assert isinstance(ids, IdRange)
        after = ids.after
        while page := self.entries(after, ids.last, _PAGE):
            for entry_id, fields in page:
                yield entry_id, _time_of(entry_id), *(fields.get(name) for name in self.config.columns)
            after = page[-1][0]


class EntriesReader(DataSourceReader):
    """All that is there now, by one task."""

    def __init__(self, stream: RedisStream) -> None:
        self._stream = stream

    def partitions(self) -> Sequence[IdRange]:
        return [IdRange(_BEGINNING, self._stream.newest())]

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        return self._stream.rows(partition)


class EntriesStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A batch is at most `rows_per_batch` entries behind the last one, read again by their IDs after a restart."""

    def __init__(self, stream: RedisStream) -> None:
        self._stream = stream
        self._ceiling = "+"

    def initialOffset(self) -> dict[str, Any]:
        return {"after": _BEGINNING, "rows": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Entries that come while the run goes on belong to the next one."""
        self._ceiling = self._stream.newest()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        page = self._stream.entries(start["after"], self._ceiling, self._stream.config.rows_per_batch)
        if not page:
            return start
        rows = int(start["rows"]) + len(page)
        return {"after": page[-1][0], "rows": rows, "progress": {"done": rows, "total": None, "unit": "entries"}}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[IdRange]:
        return [IdRange(start["after"], end["after"])] if start["after"] != end["after"] else []

    def read(self, partition: InputPartition) -> Iterator[tuple[Any, ...]]:
        return self._stream.rows(partition)


def _time_of(entry_id: str) -> datetime:
    """The milliseconds before the hyphen of an ID are the server's clock."""
    return _EPOCH + timedelta(milliseconds=int(entry_id.split("-")[0]))
