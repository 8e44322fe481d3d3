"""`sink.jdbc` on PostgreSQL: large batches come by COPY, and every batch in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal

from jobs.nodes.base import NodeError
from jobs.nodes.connections.postgresql import postgresql_open
from jobs.nodes.sinks.jdbc_dialect import ORDINAL_COLUMN, Dialect, TableName, TargetColumn
from jobs.nodes.sinks.postgresql_copy import copy_files, copy_line

if TYPE_CHECKING:
    import psycopg2
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TYPES: Mapping[str, str] = {
    "boolean": "boolean",
    "tinyint": "smallint",
    "smallint": "smallint",
    "int": "integer",
    "bigint": "bigint",
    "float": "real",
    "double": "double precision",
    "date": "date",
    "timestamp": "timestamp with time zone",
    "timestamp_ntz": "timestamp",
    "binary": "bytea",
}
#: SQLSTATE class → what to do.
_REMEDIES: Mapping[str, str] = {
    "22": "change the column's type, or convert the value before",
    "23": "correct the rows, or the table's rule",
    "42": "correct the table or the column, or the user's rights",
    "28": "correct user or password",
    "3D": "create the database, or correct its name in the connection",
    "3F": "create the schema, or correct the table's name",
    "53": "free disk space, memory or connections of the server",
}
_PERMANENT_CLASSES = ("22", "23", "28", "3D", "3F", "42")


class PostgresqlDialect(Dialect):
    kind: ClassVar[str] = "postgresql"
    placeholder: ClassVar[str] = "%s"
    files_above: ClassVar[int | None] = 10_000

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        import psycopg2

        session = postgresql_open(self.settings, self.limits, application="pipeline web sink")
        try:
            with session, session.cursor() as cursor:
                yield cursor
        except psycopg2.Error as error:
            raise _sentence(self.settings.name, error) from error
        except ValueError as error:  # psycopg2 refuses what the server could not store, such as NUL in text
            raise NodeError(f'writing to "{self.settings.name}": {error}; clean the text before', permanent=True, kind="user") from error
        finally:
            session.close()

    def lock_definitions(self, cursor: Any) -> None:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('pipeline_sink_marker'))")

    def lock_target(self, cursor: Any) -> None:
        """The marker's row is the lock."""

    def columns(self, cursor: Any, table: TableName) -> list[TargetColumn]:
        """Types without length: a cast to varchar(3) would cut silently, an assignment to it complains."""
        cursor.execute(
            "SELECT attname, format_type(atttypid, NULL), NOT attnotnull OR atthasdef OR attidentity <> '' FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            (self.qualified(table),),
        )
        return [TargetColumn(*row) for row in cursor.fetchall()]

    def has_unique_key(self, cursor: Any, table: TableName, keys: Sequence[str]) -> bool:
        cursor.execute(
            "SELECT array_agg(a.attname::text) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
            "WHERE i.indrelid = to_regclass(%s) AND i.indisunique AND i.indpred IS NULL AND i.indexprs IS NULL GROUP BY i.indexrelid",
            (self.qualified(table),),
        )
        return any({name.lower() for name in row[0]} == {key.lower() for key in keys} for row in cursor.fetchall())

    def column_type(self, spark_type: DataType, *, key: bool) -> str:
        name = spark_type.simpleString()
        return name.replace("decimal", "numeric") if name.startswith("decimal") else _TYPES.get(name, "text")

    def value_column(self, column: Column, spark_type: DataType) -> Column:
        from pyspark.sql import functions as F

        name = spark_type.simpleString()
        if name in _TYPES or name == "string" or name.startswith("decimal"):
            return column
        if name.startswith(("array", "map", "struct")):
            return F.to_json(column, {"ignoreNullFields": "false"})
        return column.cast("string")

    def collectable(self, column: Column, spark_type: DataType) -> Column:
        """Times are collected as microseconds since 1970: a Python datetime would pass through the machine's own zone."""
        from pyspark.sql import functions as F

        name = spark_type.simpleString()
        if name == "timestamp":
            return F.unix_micros(column)
        return column.cast("string") if name == "timestamp_ntz" else column

    def bound_rows(self, frame: DataFrame, schema: StructType) -> Iterable[tuple[Any, ...]]:
        """All of them before the transaction begins: it must not idle while Spark computes."""
        from jobs.nodes.columns import column

        rows = frame.select(*(self.collectable(column(field.name), field.dataType).alias(field.name) for field in frame.schema.fields))
        return [self.python_row(row, schema) for row in rows.collect()]

    def python_row(self, row: Sequence[Any], schema: StructType) -> tuple[Any, ...]:
        return tuple(_bound(value, field.dataType.simpleString()) for value, field in zip(row, schema.fields, strict=True))

    def stage_rows(self, cursor: Any, name: str, schema: StructType, rows: Iterable[tuple[Any, ...]]) -> str:
        from psycopg2.extras import execute_values

        staging, names = self._staging_create(cursor, name, schema)
        execute_values(cursor, f"INSERT INTO {staging} ({names})".replace("%", "%%") + " VALUES %s", rows, page_size=1000)
        return staging

    def stage_files(self, cursor: Any, name: str, schema: StructType, files: Iterable[BinaryIO | None]) -> tuple[str, int]:
        staging, names = self._staging_create(cursor, name, schema)
        return staging, copy_files(cursor, f"COPY {staging} ({names}) FROM STDIN", files)

    def _staging_create(self, cursor: Any, name: str, schema: StructType) -> tuple[str, str]:
        columns = [f"{self.quoted(field.name)} {self.column_type(field.dataType, key=False)}" for field in schema.fields]
        cursor.execute(f"CREATE TEMP TABLE {self.quoted(name)} ({', '.join([*columns, f'{ORDINAL_COLUMN} bigserial'])}) ON COMMIT DROP")
        return f"pg_temp.{self.quoted(name)}", ", ".join(self.quoted(field.name) for field in schema.fields)

    def append_files(self, cursor: Any, table: TableName, columns: Sequence[str], files: Iterable[BinaryIO | None]) -> int:
        names = ", ".join(self.quoted(name) for name in columns)
        return copy_files(cursor, f"COPY {self.qualified(table)} ({names}) FROM STDIN", files)

    def line(self, frame: DataFrame) -> Column:
        return copy_line(frame)

    def takes_as_text(self, target: TargetColumn, spark_type: DataType) -> bool:
        mine = self.column_type(spark_type, key=False).partition("(")[0]
        return target.type == mine or (mine == "text" and target.type == "character varying")

    def merge_statement(
        self, target: TableName, staging: str, columns: Mapping[str, TargetColumn], keys: Sequence[str], extra: Mapping[str, str | int]
    ) -> str:
        """A key that comes twice in one batch would stop ON CONFLICT, so only its last row is taken."""
        into = ", ".join(self.quoted(name) for name in [*(column.name for column in columns.values()), *extra])
        staged = [f"CAST(staged.{self.quoted(name)} AS {column.type})" for name, column in columns.items()]
        taken = ", ".join([*staged, *(self.literal(value) for value in extra.values())])
        if not keys:
            return f"INSERT INTO {self.qualified(target)} ({into}) SELECT {taken} FROM {staging} staged"
        wanted = {key.lower() for key in keys}
        by_key = ", ".join(f"staged.{self.quoted(name)}" for name, column in columns.items() if column.name.lower() in wanted)
        conflict = ", ".join(self.quoted(column.name) for column in columns.values() if column.name.lower() in wanted)
        action = self.conflict_action(columns, keys)
        return (
            f"INSERT INTO {self.qualified(target)} ({into}) SELECT DISTINCT ON ({by_key}) {taken} FROM {staging} staged "
            f"ORDER BY {by_key}, {ORDINAL_COLUMN} DESC ON CONFLICT ({conflict}) DO {action}"
        )


def _bound(value: Any, type_name: str) -> Any:
    if value is None:
        return None
    if type_name == "timestamp":
        return _EPOCH + timedelta(microseconds=value)
    return bytes(value) if type_name == "binary" else value


def _sentence(connection: str, error: psycopg2.Error) -> NodeError:
    """The server's words with their detail, and a remedy by class of SQLSTATE."""
    code = error.pgcode or ""
    words = error.diag.message_primary or str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    detail = f" ({error.diag.message_detail.rstrip('.')})" if error.diag.message_detail else ""
    remedy = _REMEDIES.get(code[:2], "it is tried again")
    permanent = code[:2] in _PERMANENT_CLASSES
    kind: Literal["user", "external"] = "user" if permanent else "external"
    return NodeError(f'writing to "{connection}": {words}{detail}; {remedy}', permanent=permanent, kind=kind)
