"""`sink.jdbc` on SQLite: one file, one writer, one transaction a batch."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.nodes.base import NodeError
from jobs.nodes.connections.sqlite import sqlite_open, sqlite_path
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.sinks.jdbc_dialect import ORDINAL_COLUMN, Dialect, Merge, Refused, TableName, TargetColumn, row_shown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of UTC, which its text need not say
#: After 400 years the calendar begins anew.
_CYCLE_MICROS = 146_097 * 86_400_000_000
_MICROS: Mapping[str, int] = {"timestamp": 1, "date": 86_400_000_000}
_FAR_TIME = "a time lies outside the years 1 to 9999, which are all that SQLite knows"
#: Decimals are text: SQLite's NUMERIC would round them to binary fractions.
_TYPES: Mapping[str, str] = {
    "boolean": "BOOLEAN",
    "tinyint": "INTEGER",
    "smallint": "INTEGER",
    "int": "INTEGER",
    "bigint": "INTEGER",
    "float": "REAL",
    "double": "REAL",
    "date": "TEXT",
    "timestamp": "TEXT",
    "timestamp_ntz": "TEXT",
    "binary": "BLOB",
}

_FULL = 'writing to "{}": the disk is full; free some space, then start again: it goes on where it was'
_LEAST_ROOM = 64 << 10
#: SQLite takes null for a key, and gives an INTEGER PRIMARY KEY a number of its own: this refuses a row without its key.
_GUARD, _GUARD_COLUMN = "_pipeline_row", "key"
_GUARD_WORDS = f"NOT NULL constraint failed: {_GUARD}.{_GUARD_COLUMN}"
_NO_KEY = "a column of its key is null"


class SqliteDialect(Dialect):
    kind: ClassVar[str] = "sqlite"
    placeholder: ClassVar[str] = "?"

    def is_there(self) -> bool:
        return sqlite_path(self.settings, self.limits).exists()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Cursor]:
        """The write lock is taken by the first write to the file itself, so filling a temporary table keeps nobody waiting."""
        try:
            connection = sqlite_open(self.settings, self.limits)
        except (sqlite3.Error, OSError) as error:
            if self._is_disk_full():
                raise NodeError(_FULL.format(self.settings.name)) from error
            raise NodeError(f'opening "{self.settings.name}": {error}; check the path and the rights of its folder') from error
        try:
            cursor = connection.cursor()
            cursor.execute("BEGIN")
            yield cursor
            connection.commit()
        except sqlite3.Error as error:
            if self._is_disk_full():
                raise NodeError(_FULL.format(self.settings.name)) from error
            raise self.sentence(error) from error
        finally:
            connection.rollback()  # closing alone keeps the lock for as long as a traceback holds a statement
            connection.close()

    def _is_disk_full(self) -> bool:
        """SQLite itself says "disk I/O error" where there is no room for its log."""
        try:
            return shutil.disk_usage(sqlite_path(self.settings, self.limits).parent).free < _LEAST_ROOM
        except (NodeError, OSError):
            return False

    def lock_definitions(self, cursor: Any) -> None:
        self.lock_target(cursor)

    def lock_target(self, cursor: Any) -> None:
        """Take the write lock before the first read: a read lock cannot be raised once another program wrote."""
        cursor.execute("COMMIT")
        cursor.execute("BEGIN IMMEDIATE")

    def columns(self, cursor: Any, table: TableName) -> list[TargetColumn]:
        schema = f"{self.quoted(table.schema)}." if table.schema else ""
        found = cursor.execute(f"PRAGMA {schema}table_info({self.quoted(table.table)})").fetchall()
        return [
            TargetColumn(name, declared, not required or default is not None or key > 0)
            for _, name, declared, required, default, key in found
        ]

    def has_unique_key(self, cursor: Any, table: TableName, keys: Sequence[str]) -> bool:
        wanted = {key.lower() for key in keys}
        info = cursor.execute(f"PRAGMA table_info({self.quoted(table.table)})").fetchall()
        if {row[1].lower() for row in info if row[5]} == wanted:
            return True
        for index in cursor.execute(f"PRAGMA index_list({self.quoted(table.table)})").fetchall():
            columns = cursor.execute(f"PRAGMA index_info({self.quoted(index[1])})").fetchall()
            if index[2] and not index[4] and {row[2].lower() for row in columns if row[2]} == wanted:
                return True
        return False

    def column_type(self, spark_type: DataType, *, key: bool) -> str:
        return _TYPES.get(spark_type.simpleString(), "TEXT")

    def value_column(self, column: Column, spark_type: DataType) -> Column:
        """Times travel as microseconds since 1970: a Python datetime would pass through the machine's own zone."""
        from pyspark.sql import functions as F

        name = spark_type.simpleString()
        if name == "timestamp":
            return F.unix_micros(column)
        if (name in _TYPES and name != "timestamp_ntz") or name == "string":
            return column
        if name.startswith(("array", "map", "struct")):
            return F.to_json(column, JSON_AS_WRITTEN)
        return column.cast("string")

    def bound_rows(self, frame: DataFrame, schema: StructType) -> Iterable[tuple[Any, ...]]:
        """Days travel as their number since 1970, lest one that Python does not know ends all."""
        from pyspark.sql import functions as F

        from jobs.nodes.columns import column

        days = {field.name: F.unix_date(column(field.name)) for field in schema.fields if field.dataType.typeName() == "date"}
        rows: Iterable[tuple[Any, ...]] = frame.withColumns(days).toLocalIterator()
        return rows

    def stage_rows(self, cursor: Any, name: str, schema: StructType, rows: Iterable[tuple[Any, ...]], refused: Refused | None) -> str:
        columns = [f"{self.quoted(field.name)} {self.column_type(field.dataType, key=False)}" for field in schema.fields]
        staging = f"temp.{self.quoted(name)}"
        cursor.execute(f"CREATE TEMP TABLE {self.quoted(name)} ({', '.join([*columns, f'{ORDINAL_COLUMN} INTEGER PRIMARY KEY'])})")
        marks = ", ".join("?" * len(columns))
        names = ", ".join(self.quoted(field.name) for field in schema.fields)
        cursor.executemany(f"INSERT INTO {staging} ({names}) VALUES ({marks})", self._storable(rows, schema, refused))
        return staging

    def _storable(self, rows: Iterable[tuple[Any, ...]], schema: StructType, refused: Refused | None) -> Iterator[tuple[Any, ...]]:
        types = [field.dataType.typeName() for field in schema.fields]
        for row in rows:
            try:
                bound = tuple(_bound(value, name) for value, name in zip(row, types, strict=True))
            except OverflowError:
                if refused is None:
                    message = f'writing to "{self.settings.name}": {_FAR_TIME}; correct the time before'
                    raise NodeError(message, permanent=True, kind="user") from None
                refused.add(_FAR_TIME, lambda row=row: row_shown(schema.names, list(map(_shown, row, types))))  # type: ignore[misc]
                continue
            yield bound

    def merge_statements(self, merge: Merge) -> list[str]:
        """SQLite upserts row by row, so the order of the rows lets the last one win."""
        into = ", ".join(self.quoted(name) for name in [*(column.name for column in merge.columns.values()), *merge.extra])
        taken = ", ".join([*(self.quoted(name) for name in merge.columns), *(self.literal(value) for value in merge.extra.values())])
        target = self.qualified(merge.target)
        if not merge.keys:
            return [f"INSERT INTO {target} ({into}) SELECT {taken} FROM {merge.rows} ORDER BY {ORDINAL_COLUMN}"]
        staged_keys = ", ".join(self.quoted(name) for name in merge.key_columns)
        keys = ", ".join(self.quoted(column.name) for column in merge.key_columns.values())
        conflict = f"ON CONFLICT ({keys}) DO {self.conflict_action(merge)}"
        no_key = " OR ".join(f"{self.quoted(name)} IS NULL" for name in merge.key_columns)
        guarded = [
            f"CREATE TEMP TABLE IF NOT EXISTS {_GUARD} ({_GUARD_COLUMN} NOT NULL)",
            f"INSERT INTO temp.{_GUARD} SELECT NULL FROM {merge.rows} WHERE {no_key} LIMIT 1",
        ]
        insert = f"INSERT INTO {target} ({into}) SELECT {taken} FROM"
        if not merge.delete_flag:
            return [*guarded, f"{insert} {merge.rows} WHERE true ORDER BY {ORDINAL_COLUMN} {conflict}"]
        rank = f"ROW_NUMBER() OVER (PARTITION BY {staged_keys} ORDER BY {ORDINAL_COLUMN} DESC) AS _rank"
        latest, flag = f"(SELECT *, {rank} FROM {merge.rows})", f"coalesce({self.quoted(merge.delete_flag)}, 0)"
        going, kept = f"_rank = 1 AND {flag}", f"{latest} WHERE _rank = 1 AND NOT {flag}"
        if merge.is_partial:
            going, kept = flag, f"{self.living_rows(merge, staged_keys, merge.rows)} WHERE true"
        return [
            *guarded,
            f"DELETE FROM {target} WHERE ({keys}) IN (SELECT {staged_keys} FROM {latest} WHERE {going})",
            f"{insert} {kept} ORDER BY {ORDINAL_COLUMN} {conflict}",
        ]

    def refusal(self, error: BaseException | None) -> str:
        return _rule(error) if isinstance(error, sqlite3.IntegrityError) else ""

    def in_transaction(self, cursor: Any) -> bool:
        return bool(cursor.connection.in_transaction)

    def sentence(self, error: BaseException) -> NodeError:
        connection, text = self.settings.name, str(error)
        if isinstance(error, sqlite3.IntegrityError):
            return NodeError(
                f'writing to "{connection}": a row breaks a rule of the table: {_rule(error)}; correct the rows or the rule',
                permanent=True,
                kind="user",
            )
        if "locked" in text or "busy" in text:
            return NodeError(f'writing to "{connection}": another program kept the database locked; let it finish')
        if "full" in text:
            return NodeError(_FULL.format(connection))
        return NodeError(f'writing to "{connection}": {text}')


def _rule(error: sqlite3.IntegrityError) -> str:
    return _NO_KEY if str(error) == _GUARD_WORDS else str(error)


def _bound(value: Any, type_name: str) -> Any:
    if value is None:
        return None
    if type_name == "timestamp":
        return (_EPOCH + timedelta(microseconds=value)).isoformat(" ")
    if type_name == "date":
        return (_EPOCH + timedelta(days=value)).date().isoformat()
    if type_name == "binary":
        return bytes(value)
    return value


def _shown(value: Any, type_name: str) -> Any:
    """A day or a time of any year as text, everything else as it is."""
    if value is None or type_name not in _MICROS:
        return value
    cycles, rest = divmod(value * _MICROS[type_name], _CYCLE_MICROS)
    text = (_EPOCH + timedelta(microseconds=rest)).isoformat(" ")
    year = int(text[:4]) + 400 * cycles
    told = (f"{year:04d}" if 0 <= year <= 9999 else f"{year:+05d}") + text[4:]
    return told.partition(" ")[0] if type_name == "date" else told
