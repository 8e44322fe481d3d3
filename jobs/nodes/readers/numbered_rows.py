"""Numbered rows as a Spark data source; its offset is the next number."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxRows, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from jobs.nodes.fake_fields import FakeRows, fake_ddl
from jobs.nodes.sources.generator import GeneratorConfig

SCHEMA = "id bigint, time timestamp, key string, value double"
KEYS = np.array(["alpha", "bravo", "charlie", "delta", "echo", "foxtrot", "golf", "hotel", "india", "juliett"])
_NAMES = ("id", "time", "key", "value")
_ARROW_ROWS = 50_000


@dataclass
class NumberRange(InputPartition):
    """Rows `first` … `last - 1`."""

    first: int
    last: int


class NumberedRows(DataSource):
    @classmethod
    def name(cls) -> str:
        return "pipeline_numbered_rows"

    def schema(self) -> str:
        return columns_ddl(self._config())

    def reader(self, schema: StructType) -> DataSourceReader:
        return NumberedRowsReader(self._config(), self._slots())

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return NumberedRowsStreamReader(self._config(), self._slots())

    def _config(self) -> GeneratorConfig:
        return GeneratorConfig.model_validate_json(self.options["settings"])

    def _slots(self) -> int:
        return int(self.options["slots"])


class NumberedRowsReader(DataSourceReader):
    def __init__(self, config: GeneratorConfig, slots: int) -> None:
        self._config = config
        self._slots = slots

    def partitions(self) -> Sequence[NumberRange]:
        """Never none: Spark would make up a partition of its own."""
        return _split(0, self._config.total_rows or 0, self._slots) or [NumberRange(0, 0)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, NumberRange)
        return _record_batches(partition, self._config)


class NumberedRowsStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The clock starts anew at every start: time while nothing ran makes no rows."""

    def __init__(self, config: GeneratorConfig, slots: int) -> None:
        self._config = config
        self._slots = slots
        self._seen_at: float | None = None
        self._owed = 0.0

    def initialOffset(self) -> dict[str, Any]:
        return self._offset(0)

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadMaxRows(self._config.rows_per_batch)

    def prepareForTriggerAvailableNow(self) -> None:
        """The total is fixed, so there is nothing to remember."""

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        count = self._config.rows_per_batch
        if isinstance(limit, ReadMaxRows):
            count = min(count, limit.max_rows)
        elif not isinstance(limit, ReadAllAvailable):
            raise ValueError(f"unexpected read limit {limit}")
        if self._config.rows_per_second is not None:
            count = min(count, self._rows_due(self._config.rows_per_second))
        following = int(start["next"]) + count
        if self._config.total_rows is not None:
            following = min(following, max(self._config.total_rows, int(start["next"])))
        self._owed -= following - int(start["next"])
        return self._offset(following)

    def _rows_due(self, rows_per_second: int) -> int:
        """Rows owed by the clock; waits for the first, because a run that ends by itself takes an empty step for the end."""
        now = time.monotonic()
        self._owed += (1.0 if self._seen_at is None else now - self._seen_at) * rows_per_second
        if self._owed < 1:
            time.sleep((1 - self._owed) / rows_per_second)
            now, self._owed = time.monotonic(), 1.0
        self._seen_at = now
        return int(self._owed)

    def _offset(self, following: int) -> dict[str, Any]:
        return {"next": following, "progress": {"done": following, "total": self._config.total_rows, "unit": "rows"}}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[NumberRange]:
        return _split(int(start["next"]), int(end["next"]), self._slots)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, NumberRange)
        return _record_batches(partition, self._config)


def columns_ddl(config: GeneratorConfig) -> str:
    return SCHEMA + fake_ddl(config.fields)


def _split(first: int, last: int, slots: int) -> list[NumberRange]:
    size = max(-(-(last - first) // slots), 1000)
    return [NumberRange(at, min(at + size, last)) for at in range(first, last, size)]


def _record_batches(partition: NumberRange, config: GeneratorConfig) -> Iterator[pa.RecordBatch]:
    fake = FakeRows(config.fields, config.locale) if config.fields else None
    for at in range(partition.first, partition.last, _ARROW_ROWS):
        yield _rows(np.arange(at, min(at + _ARROW_ROWS, partition.last), dtype=np.int64), config, fake)


def _rows(ids: np.ndarray[Any, np.dtype[np.int64]], config: GeneratorConfig, fake: FakeRows | None) -> pa.RecordBatch:
    start = config.start_time if config.start_time.tzinfo else config.start_time.replace(tzinfo=UTC)
    start_us = round((start - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1_000_000)
    mixed = _mixed(ids.astype(np.uint64), config.seed)
    columns = [
        pa.array(ids),
        pa.array(start_us + ids * (config.step_ms * 1000), pa.timestamp("us", tz="UTC")),
        pa.array(KEYS[(mixed % np.uint64(len(KEYS))).astype(np.int64)], pa.string()),
        pa.array((mixed >> np.uint64(40)).astype(np.float64) * (100.0 / (1 << 24))),
    ]
    more = fake.columns(mixed.tolist()) if fake else []
    return pa.RecordBatch.from_arrays([*columns, *more], names=[*_NAMES, *(field.name for field in config.fields)])


def _mixed(numbers: np.ndarray[Any, np.dtype[np.uint64]], seed: int) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """SplitMix64 (Steele, Lea, Flood 2014): 64 well-mixed bits from a number and a seed."""
    with np.errstate(over="ignore"):
        mixed = numbers + np.uint64((seed * 0x9E3779B97F4A7C15) % (1 << 64)) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))
