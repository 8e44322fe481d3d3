"""What differs between databases for `sink.jdbc`: one small dialect each behind one code path."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from jobs.nodes.base import ConnectionSettings, Limits, NodeError

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

#: An attempt that never writes again: its generation was superseded.
CLOSED = 2_147_483_647
GENERATION_COLUMN = "_generation"
BATCH_COLUMN = "_batch"
#: Order of a row within its batch; stands in staging tables only.
ORDINAL_COLUMN = "_row"


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
    """A column of the target: its database type without length, and whether a row may leave it out."""

    name: str
    type: str
    optional: bool


class Dialect(ABC):
    """One database. Cursors are DB-API cursors inside a transaction that `transaction` opened."""

    kind: ClassVar[str]
    placeholder: ClassVar[str]
    marker_types: ClassVar[Mapping[str, str]] = {"text": "text", "integer": "integer", "bigint": "bigint", "time": "timestamp"}
    #: Batches of more rows travel in files that Spark's tasks write; None: never.
    files_above: ClassVar[int | None] = None

    def __init__(self, settings: ConnectionSettings, limits: Limits) -> None:
        self.settings = settings
        self.limits = limits

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
    def python_row(self, row: Sequence[Any], schema: StructType) -> tuple[Any, ...]:
        """A collected row (of `value_column`s) as bound values."""

    @abstractmethod
    def stage_rows(self, cursor: Any, name: str, schema: StructType, rows: Iterable[tuple[Any, ...]]) -> str:
        """Make a temporary table of this transaction, fill it, and return its quoted name. Columns: `schema` and ORDINAL_COLUMN."""

    @abstractmethod
    def merge_statement(
        self, target: TableName, staging: str, columns: Mapping[str, TargetColumn], keys: Sequence[str], extra: Mapping[str, str | int]
    ) -> str:
        """Move all rows of `staging` into `target`; with `keys` the last row of a key wins.

        `columns`: name in staging → column of the target. `extra`: constant columns.
        """

    def bound_rows(self, frame: DataFrame, schema: StructType) -> Iterable[tuple[Any, ...]]:
        """Rows of `frame` (of `value_column`s) as bound values, a partition at a time."""
        return (self.python_row(row, schema) for row in frame.toLocalIterator())

    def line(self, frame: DataFrame) -> Column:
        """A row of `frame` (of `value_column`s) as a line of the text that `stage_files` and `append_files` take."""
        raise NotImplementedError(f"{self.kind} takes no files")

    def stage_files(self, cursor: Any, name: str, schema: StructType, files: Iterable[BinaryIO | None]) -> tuple[str, int]:
        """Like `stage_rows`, from files of `line`s (None: none yet); the quoted name and how many rows it holds."""
        raise NotImplementedError(f"{self.kind} takes no files")

    def append_files(self, cursor: Any, table: TableName, columns: Sequence[str], files: Iterable[BinaryIO | None]) -> int:
        """Add files of `line`s (None: none yet) to `columns` of `table`; how many rows."""
        raise NotImplementedError(f"{self.kind} takes no files")

    def takes_as_text(self, target: TargetColumn, spark_type: DataType) -> bool:
        """Whether the column reads the text of a value as it would take the value itself."""
        return False

    def conflict_action(self, columns: Mapping[str, TargetColumn], keys: Sequence[str]) -> str:
        """What follows DO after ON CONFLICT: the new row replaces the old one but for its keys."""
        wanted = {key.lower() for key in keys}
        updated = [self.quoted(column.name) for column in columns.values() if column.name.lower() not in wanted]
        return f"UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in updated)}" if updated else "NOTHING"

    def literal(self, value: str | int) -> str:
        """A generation or a batch number as SQL."""
        return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"

    def qualified(self, table: TableName) -> str:
        return f"{self.quoted(table.schema)}.{self.quoted(table.table)}" if table.schema else self.quoted(table.table)

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'


def dialect_for(settings: ConnectionSettings, limits: Limits) -> Dialect:
    """The dialect of a connection's kind."""
    if settings.kind == "sqlite":
        from jobs.nodes.sinks.jdbc_sqlite import SqliteDialect

        return SqliteDialect(settings, limits)
    if settings.kind == "postgresql":
        from jobs.nodes.sinks.jdbc_postgresql import PostgresqlDialect

        return PostgresqlDialect(settings, limits)
    raise NodeError(
        f'connection "{settings.name}" is of kind {settings.kind}; choose a database', permanent=True, kind="user", field="connection"
    )
