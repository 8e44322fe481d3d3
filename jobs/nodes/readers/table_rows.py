"""Rows of a table or query as a Spark data source; the offset is the last key read, or whether the one whole read is done."""

from __future__ import annotations

import json
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from jobs.nodes.base import REJECTED, ConnectionSettings, Limits, NodeError
from jobs.nodes.columns import quoted
from jobs.nodes.gathering import gathered, row_size
from jobs.nodes.sources.jdbc import JdbcSourceConfig
from jobs.nodes.sources.jdbc_dialect import Chunk, ReadColumn, ReadDialect, dialect_for, key_refused
from jobs.nodes.worker_errors import carried_out


def schema_ddl(columns: Sequence[ReadColumn]) -> str:
    """The columns with REJECTED behind them."""
    return ", ".join([*(f"{quoted(column.name)} {column.type}" for column in columns), f"{REJECTED} string"])


@dataclass
class ChunkPartition(InputPartition):
    chunk: Chunk


class TableRows(DataSource):
    @classmethod
    def name(cls) -> str:
        return "pipeline_table_rows"

    def reader(self, schema: StructType) -> DataSourceReader:
        return TableRowsReader(dict(self.options), schema)

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return TableRowsStreamReader(dict(self.options), schema)


class _Table:
    """What both readers share: options in, rows out."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        self._options = options
        self._schema = schema
        self._settings = json.loads(options["settings"])
        self.config = JdbcSourceConfig.model_validate(self._settings["config"])
        self.node_id = str(self._settings["node_id"])
        self.bounded = bool(self._settings["bounded"])

    def dialect(self) -> ReadDialect:
        connection = ConnectionSettings(**self._settings["connection"], secrets=json.loads(self._options["secret"]))
        roots, drivers = tuple(Path(root) for root in self._settings["file_roots"]), self._settings.get("jdbc_drivers", "")
        limits = Limits(file_roots=roots, data_dir=Path(self._settings["data_dir"]), jdbc_drivers=Path(drivers) if drivers else None)
        return dialect_for(connection, limits, self.config, int(self._settings.get("seconds", 0)))

    def end_check(self, dialect: ReadDialect, read: Any, coming: Any) -> None:
        """NodeError where rows that come later would never be read, as none can have a larger key. `read`, `coming`: the last keys."""
        if self.bounded and not self.config.incremental:
            return
        if dialect.ends_with(read):
            raise NodeError(
                f"reading a table: the last key that was read is {read}, which is no place to read on from; start from the beginning",
                permanent=True,
                kind="user",
            )
        if dialect.ends_with(coming):
            raise key_refused(self.config.key_column, coming)

    def parts(self, chunk: Chunk, rows: int | None = None) -> list[Chunk]:
        """What the tasks read, each its part."""
        wanted = self.config.partitions
        if wanted <= 1:
            return [chunk]
        dialect = self.dialect()
        with carried_out(self.node_id), dialect.cursor() as cursor:
            dialect.columns(cursor)  # tells the key's type
            return dialect.split(cursor, chunk, dialect.count(cursor, chunk) if rows is None else rows, wanted)

    def record_batches(self, chunk: Chunk) -> Iterator[pa.RecordBatch]:
        arrow_schema = to_arrow_schema(self._schema, timezone="UTC")
        dialect = self.dialect()
        with carried_out(self.node_id), dialect.cursor() as cursor:
            columns = {column.name: column for column in dialect.columns(cursor)}
            wanted = [columns[name] for name in self._names_there(columns)]
            rows = (_converted(row, wanted) for row in dialect.read(cursor, wanted, chunk))
            for taken in gathered(rows, row_size):
                values = list(zip(*taken, strict=True))
                arrays = [self._array(part, field) for part, field in zip(values, arrow_schema, strict=True)]
                yield pa.RecordBatch.from_arrays(arrays, schema=arrow_schema)

    def _names_there(self, columns: Collection[str]) -> list[str]:
        """Of the rows' own columns; a new one in the table is left out until the next attempt."""
        names = [name for name in self._schema.names if name != REJECTED]
        if gone := [name for name in names if name not in columns]:
            raise NodeError(f"{self._act}: the table has no column {', '.join(gone)} any more; the next attempt reads it as it is now")
        return names

    def _array(self, values: Sequence[Any], field: pa.Field) -> pa.Array:
        try:
            return pa.array(values, field.type)
        except (TypeError, ValueError, OverflowError, pa.ArrowException) as error:
            words = " ".join(str(error).split())[:200]
            message = f"{self._act}: column {field.name} holds what is no {field.type} any more ({words})"
            raise NodeError(f"{message}; the next attempt reads the table as it is now") from error

    @property
    def _act(self) -> str:
        return f'reading from "{self._settings["connection"]["name"]}"'


def _converted(row: Sequence[Any], columns: Sequence[ReadColumn]) -> tuple[Any, ...]:
    """The row with its reason behind it; a value that does not fit is empty, and the first such the reason."""
    reason = None
    values: list[Any] = []
    for value, column in zip(row, columns, strict=True):
        if value is not None and column.converted is not None:
            try:
                value = column.converted(value)
            except (ValueError, TypeError, OverflowError):
                reason = reason or f"{column.name}: cannot read '{str(value)[:200]}' as {column.type}"
                value = None
        values.append(value)
    return (*values, reason)


class TableRowsReader(DataSourceReader):
    """All rows; by one task they are of one state of the data, several each look for themselves."""

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        self._options = options
        self._schema = schema

    def partitions(self) -> Sequence[InputPartition]:
        return [ChunkPartition(part) for part in _Table(self._options, self._schema).parts(Chunk())]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ChunkPartition)
        return _Table(self._options, self._schema).record_batches(partition.chunk)


class TableRowsStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Chunks by key: offset `{"key", "rows", "progress"}`; without a key one chunk: `{"whole": 0 or 1}`.

    No key is read before it was seen to be the largest for `late_rows_seconds`, so that rows with smaller ones had time to come in.
    """

    def __init__(self, options: dict[str, str], schema: StructType) -> None:
        self._options = options
        self._schema = schema
        self._ceiling: Any = None
        #: Of a run that has an end: there was no row when it began, and so there is no ceiling.
        self._is_empty = False
        #: When which key was the largest, by a clock that never goes back; since the newest that is old enough.
        self._largest: list[tuple[float, Any]] = []
        self._total: int | None = None

    def initialOffset(self) -> dict[str, Any]:
        return {"key": None, "rows": 0} if self._table().config.key_column else {"whole": 0}

    def getDefaultReadLimit(self) -> ReadLimit:
        return ReadAllAvailable()

    def prepareForTriggerAvailableNow(self) -> None:
        """Rows that come while the run goes on belong to the next one."""
        table = self._table()
        if table.config.key_column:
            dialect = table.dialect()
            with carried_out(table.node_id), dialect.cursor() as cursor:
                dialect.columns(cursor)  # tells the key's type
                self._ceiling = dialect.last_key(cursor)
                table.end_check(dialect, None, self._ceiling)
            self._is_empty = self._ceiling is None
            if not self._is_empty:
                time.sleep(table.config.late_rows_seconds)

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        table = self._table()
        if not table.config.key_column:
            return {"whole": 1, "progress": {"done": 1, "total": 1, "unit": "queries"}}
        if self._is_empty:
            return start
        dialect = table.dialect()
        with carried_out(table.node_id), dialect.cursor() as cursor:
            dialect.columns(cursor)  # tells the key's type
            if not table.bounded and table.config.late_rows_seconds and not self._rise(dialect.last_key(cursor), table.config):
                return start
            chunk = Chunk(start["key"], self._ceiling)
            end = dialect.chunk_end(cursor, chunk, table.config.rows_per_batch)
            table.end_check(dialect, start["key"], end)
            if end is None:
                return start
            if self._total is None and table.bounded:
                self._total = int(start["rows"]) + dialect.count(cursor, chunk)
            rows = int(start["rows"]) + dialect.count(cursor, Chunk(start["key"], end))
        return {"key": end, "rows": rows, "progress": {"done": rows, "total": self._total, "unit": "rows"}}

    def _rise(self, largest: Any, config: JdbcSourceConfig) -> bool:
        """Whether there is a ceiling: the newest largest key that was seen long enough ago."""
        now = time.monotonic()
        self._largest.append((now, largest))
        old_enough = [seen for seen in self._largest if seen[0] <= now - config.late_rows_seconds]
        if old_enough:
            self._ceiling = old_enough[-1][1]
            self._largest = self._largest[len(old_enough) - 1 :]
        return self._ceiling is not None

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        if "whole" in end:
            return [ChunkPartition(Chunk())] if start["whole"] < end["whole"] else []
        if start["key"] == end["key"]:
            return []
        rows = int(end["rows"]) - int(start["rows"])
        return [ChunkPartition(part) for part in self._table().parts(Chunk(start["key"], end["key"]), rows)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, ChunkPartition)
        return self._table().record_batches(partition.chunk)

    def _table(self) -> _Table:
        return _Table(self._options, self._schema)
