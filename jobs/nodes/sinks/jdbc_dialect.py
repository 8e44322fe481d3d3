"""What differs between databases for `sink.jdbc`: one small dialect each behind one code path."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from jobs.nodes.base import ConnectionSettings, Limits, NodeError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

    from jobs.nodes.rejected_rows import RejectedPart

#: An attempt that never writes again: its generation was superseded.
CLOSED = 2_147_483_647
GENERATION_COLUMN = "_generation"
BATCH_COLUMN = "_batch"
#: Order of a row within its batch; stands in staging tables only.
ORDINAL_COLUMN = "_row"
#: The whole row as text, where rejected rows go on; stands in staging tables only, as the last of the columns that are filled.
KEPT_COLUMN = "_row_kept"
#: Of a batch's refused rows, so many are kept to be looked at.
_SAMPLE_ROWS = 100


@dataclass(frozen=True)
class TableName:
    """A table, in a schema or in the connection's usual one (schema "")."""

    schema: str
    table: str

    @classmethod
    def parsed(cls, text: str) -> TableName:
        schema, _, table = text.rpartition(".")
        return cls(schema, table)

    def __str__(self) -> str:
        return f"{self.schema}.{self.table}" if self.schema else self.table


@dataclass(frozen=True)
class TargetColumn:
    """A column of the target: its database type without length, and whether a row may leave it out.

    `collation`: by which rules its texts are equal, where that differs from column to column. `rounded`: its database type with its
    precision, where values that differ may be the same once they are stored.
    """

    name: str
    type: str
    optional: bool
    collation: str = ""
    rounded: str = ""


@dataclass(frozen=True)
class Merge:
    """Rows of a staging table on their way into `target`; with `keys` the last row of a key wins.

    `columns`: name in staging → column of the target. `extra`: constant columns. `delete_flag`: the staged column that is true
    where the row of these keys goes. `update_columns`: those that change in a row that is there; none stands for all. With some, what
    comes of a key is what its rows would make of it one after the other, for its other columns are those of the first.
    `part`: first and last ordinal of the rows that are meant; None stands for all. `types`: name in staging → Spark's type.
    """

    target: TableName
    staging: str
    columns: Mapping[str, TargetColumn]
    keys: Sequence[str] = ()
    extra: Mapping[str, str | int] = field(default_factory=dict)
    delete_flag: str = ""
    update_columns: Sequence[str] = ()
    part: tuple[int, int] | None = None
    types: Mapping[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> str:
        """What to select from."""
        if self.part is None:
            return self.staging
        return f"(SELECT * FROM {self.staging} WHERE {ORDINAL_COLUMN} BETWEEN {self.part[0]:d} AND {self.part[1]:d})"

    @property
    def key_columns(self) -> dict[str, TargetColumn]:
        return {name: column for name, column in self.columns.items() if self.is_key(column)}

    @property
    def changed(self) -> dict[str, TargetColumn]:
        """What a row that is there takes over."""
        wanted = {name.lower() for name in self.update_columns}
        others = {name: column for name, column in self.columns.items() if not self.is_key(column)}
        return {name: column for name, column in others.items() if not wanted or name.lower() in wanted}

    @property
    def is_partial(self) -> bool:
        """Whether only some columns change: then a key that comes anew behind its deletion must not find its old row."""
        return bool(self.update_columns)

    def is_key(self, column: TargetColumn) -> bool:
        return column.name.lower() in {key.lower() for key in self.keys}


@dataclass
class Refused:
    """Rows that the table does not take. `every` takes all; `sample`: (the database's words, JSON text) of the first of them."""

    every: RejectedPart | None = None
    rows: int = 0
    sample: list[tuple[str, str]] = field(default_factory=list)

    def add(self, words: str, shown: Callable[[], str]) -> None:
        """One more; `shown` makes its text where it is wanted."""
        self.rows += 1
        if self.every is not None:
            self.every.add(words, shown())
        if len(self.sample) < _SAMPLE_ROWS:
            self.sample.append((words, shown()))


def row_shown(names: Sequence[str], values: Sequence[Any]) -> str:
    """The text of a staged row: the one that was kept of it, or what the database has of it as JSON."""
    by_name = dict(zip(names, values, strict=True))
    return str(by_name[KEPT_COLUMN]) if KEPT_COLUMN in by_name else json.dumps(by_name, ensure_ascii=False, default=_shown)


def _shown(value: Any) -> str:
    return bytes(value).hex() if isinstance(value, bytes | bytearray | memoryview) else str(value)


class Dialect(ABC):
    """One database. Cursors are DB-API cursors inside a transaction that `transaction` opened."""

    kind: ClassVar[str]
    placeholder: ClassVar[str]
    marker_types: ClassVar[Mapping[str, str]] = {"text": "text", "integer": "integer", "bigint": "bigint", "time": "timestamp"}
    #: Batches of more rows travel in files that Spark's tasks write; None: never.
    files_above: ClassVar[int | None] = None
    #: What follows the columns of a table that we create.
    table_options: str = ""

    def __init__(self, settings: ConnectionSettings, limits: Limits, rows_at_a_time: int = 10_000) -> None:
        self.settings = settings
        self.limits = limits
        self.rows_at_a_time = rows_at_a_time

    def is_there(self) -> bool:
        """False where the database is made by the first write to it, and nobody has written yet."""
        return True

    @abstractmethod
    def transaction(self) -> AbstractContextManager[Any]:
        """A cursor; commits at the end, rolls back on any error, and turns database errors into one NodeError sentence."""

    @abstractmethod
    def lock_definitions(self, cursor: Any) -> None:
        """Until the end of the transaction nobody else makes the same tables."""

    @abstractmethod
    def lock_target(self, cursor: Any) -> None:
        """Called when the rows are staged, before the marker and the target are touched."""

    @abstractmethod
    def columns(self, cursor: Any, table: TableName) -> list[TargetColumn]:
        """The columns of `table`, empty when there is no such table."""

    def has_schema(self, cursor: Any, table: TableName) -> bool:
        """False where `table` names a schema that is known not to be there."""
        return True

    @abstractmethod
    def has_unique_key(self, cursor: Any, table: TableName, keys: Sequence[str]) -> bool:
        """Whether exactly `keys` are held unique by the table."""

    @abstractmethod
    def column_type(self, spark_type: DataType, *, key: bool) -> str:
        """The type of a column that we create."""

    @abstractmethod
    def value_column(self, column: Column, spark_type: DataType) -> Column:
        """`column` in the form this database's client takes."""

    @abstractmethod
    def bound_rows(self, frame: DataFrame, schema: StructType) -> Iterable[Any]:
        """Rows of `frame` (of `value_column`s) as `stage_rows` takes them; computed now, or a partition at a time."""

    @abstractmethod
    def stage_rows(self, cursor: Any, name: str, schema: StructType, rows: Iterable[Any], refused: Refused | None) -> str:
        """Make a temporary table of this transaction, fill it, and return its quoted name. Columns: `schema` and ORDINAL_COLUMN.

        A row that no table of this database can hold goes to `refused`; without it such a row is an error.
        """

    @abstractmethod
    def merge_statements(self, merge: Merge) -> list[str]:
        """What moves all rows of a staging table into their target, in turn."""

    def line(self, frame: DataFrame) -> Column:
        """A row of `frame` (of `value_column`s) as a line of the files that `stage_files` and `append_files` take."""
        raise NotImplementedError(f"{self.kind} takes no files")

    def line_end(self, columns: Sequence[str]) -> str:
        """What stands behind each line of so many columns."""
        return "\n"

    def stage_files(
        self, cursor: Any, name: str, schema: StructType, files: Iterable[BinaryIO | None], refused: Refused | None
    ) -> tuple[str, int]:
        """Like `stage_rows`, from files of `line`s (None: none yet); the quoted name and how many rows it holds."""
        raise NotImplementedError(f"{self.kind} takes no files")

    def append_files(self, cursor: Any, table: TableName, columns: Sequence[str], files: Iterable[BinaryIO | None]) -> int:
        """Add files of `line`s (None: none yet) to `columns` of `table`; how many rows."""
        raise NotImplementedError(f"{self.kind} takes no files")

    def living_rows(self, merge: Merge, by_key: str, rows: str) -> str:
        """Those of `rows` behind the last deletion of their key, with their `_place_of_key`, from 1, among `_rows_of_key`."""
        if merge.delete_flag:
            flagged = f"CASE WHEN staged.{self.quoted(merge.delete_flag)} THEN 1 END"
            behind = f"COUNT({flagged}) OVER (PARTITION BY {by_key} ORDER BY {ORDINAL_COLUMN} DESC) AS _goes_behind"
            rows = f"(SELECT * FROM (SELECT staged.*, {behind} FROM {rows} staged) staged WHERE _goes_behind = 0)"
        place = f"ROW_NUMBER() OVER (PARTITION BY {by_key} ORDER BY {ORDINAL_COLUMN}) AS _place_of_key"
        return f"(SELECT staged.*, {place}, COUNT(*) OVER (PARTITION BY {by_key}) AS _rows_of_key FROM {rows} staged)"

    def takes_as_sent(self, target: TargetColumn, spark_type: DataType) -> bool:
        """Whether the column reads a value from a `line` as it would take the value itself."""
        return False

    def prepare_parts(self, cursor: Any, staging: str) -> None:
        """Called before the first merge of a part: rows are then found by their ordinals."""
        return

    def deferred_rules(self, cursor: Any, table: TableName) -> str:
        """Rules of the table that are looked at when the transaction ends, as SET CONSTRAINTS takes them; "" for none."""
        return ""

    @abstractmethod
    def refusal(self, error: BaseException | None) -> str:
        """What the database says of a row that its table does not take; "" where `error` is about something else."""

    @abstractmethod
    def sentence(self, error: BaseException) -> NodeError:
        """A database error in one sentence, with what to do."""

    @abstractmethod
    def in_transaction(self, cursor: Any) -> bool:
        """Whether the transaction that `transaction` opened still goes on."""

    def target_fault(self, cursor: Any, table: TableName) -> str:
        """Why the table cannot be written exactly once; "" if it can."""
        return ""

    def conflict_action(self, merge: Merge) -> str:
        """What follows DO after ON CONFLICT: the new row replaces the old one but for its keys."""
        updated = [self.quoted(column.name) for column in merge.changed.values()]
        return f"UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in updated)}" if updated else "NOTHING"

    def literal(self, value: str | int) -> str:
        """A generation or a batch number as SQL."""
        return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"

    def qualified(self, table: TableName) -> str:
        return f"{self.quoted(table.schema)}.{self.quoted(table.table)}" if table.schema else self.quoted(table.table)

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'


def dialect_for(settings: ConnectionSettings, limits: Limits, rows_at_a_time: int = 10_000) -> Dialect:
    """The dialect of a connection's kind."""
    if settings.kind == "sqlite":
        from jobs.nodes.sinks.jdbc_sqlite import SqliteDialect

        return SqliteDialect(settings, limits, rows_at_a_time)
    if settings.kind == "mysql":
        from jobs.nodes.sinks.jdbc_mysql import MysqlDialect

        return MysqlDialect(settings, limits, rows_at_a_time)
    if settings.kind == "postgresql":
        from jobs.nodes.sinks.jdbc_postgresql import PostgresqlDialect

        return PostgresqlDialect(settings, limits, rows_at_a_time)
    raise NodeError(
        f'connection "{settings.name}" is of kind {settings.kind}; choose a database', permanent=True, kind="user", field="connection"
    )
