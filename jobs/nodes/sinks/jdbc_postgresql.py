"""`sink.jdbc` on PostgreSQL: large batches come by COPY, and every batch in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar, Literal

from jobs.nodes.base import NodeError
from jobs.nodes.connections.postgresql import postgresql_away, postgresql_open
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.node_error import SystemAway
from jobs.nodes.sinks.jdbc_dialect import ORDINAL_COLUMN, Dialect, Merge, Refused, TableName, TargetColumn, row_shown
from jobs.nodes.sinks.postgresql_copy import copy_files
from jobs.nodes.sinks.postgresql_times import TIME_OUT_OF_RANGE, TIMES, text_is_stored, time_text
from jobs.nodes.sinks.postgresql_tuples import NUL_IN_TEXT, Tuples, tuple_end, tuple_line

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType, StructType

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
#: Types whose precision rounds what is stored.
_ROUNDING = ("numeric", "time", "timetz", "timestamp", "timestamptz", "interval")
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
#: A value that does not fit its column, a broken rule of the table or of a view; what a trigger raises.
_ROW_CLASSES, _RAISED = ("22", "23", "44"), "P0001"
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
            raise self.sentence(error) from error
        except ValueError as error:  # psycopg2 refuses what the server could not store, such as NUL in text
            raise NodeError(f'writing to "{self.settings.name}": {error}; clean the text before', permanent=True, kind="user") from error
        finally:
            session.close()

    def lock_definitions(self, cursor: Any) -> None:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('pipeline_sink_marker'))")

    def lock_target(self, cursor: Any) -> None:
        """The marker's row is the lock."""

    def columns(self, cursor: Any, table: TableName) -> list[TargetColumn]:
        """Types without length: a cast to varchar(3) would cut silently, an assignment to it complains. Bare, these two mean length 1.
        Numbers and times, which both round, are with theirs too."""
        cursor.execute(
            "SELECT attname, CASE atttypid WHEN 'bpchar'::regtype THEN 'bpchar' WHEN 'bit'::regtype THEN 'bit varying' "
            "ELSE format_type(atttypid, NULL) END, NOT attnotnull OR atthasdef OR attidentity <> '', '', "
            "CASE WHEN atttypid = ANY(%s::regtype[]) THEN format_type(atttypid, atttypmod) ELSE '' END FROM pg_attribute "
            "WHERE attrelid = to_regclass(%s) AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            (list(_ROUNDING), self.qualified(table)),
        )
        return [TargetColumn(*row) for row in cursor.fetchall()]

    def has_schema(self, cursor: Any, table: TableName) -> bool:
        if table.schema:
            cursor.execute("SELECT to_regnamespace(%s) IS NOT NULL", (self.quoted(table.schema),))
        return not table.schema or bool(cursor.fetchone()[0])

    def has_unique_key(self, cursor: Any, table: TableName, keys: Sequence[str]) -> bool:
        """ON CONFLICT takes none that may wait for the end of the transaction."""
        cursor.execute(
            "SELECT array_agg(a.attname::text) FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey) "
            "WHERE i.indrelid = to_regclass(%s) AND i.indisunique AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL "
            "GROUP BY i.indexrelid",
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
            return F.to_json(column, JSON_AS_WRITTEN)
        return column.cast("string")

    def collectable(self, column: Column, spark_type: DataType) -> Column:
        """Times are collected as text: a Python datetime would pass through the machine's own zone, and has but the years 1 to 9999."""
        name = spark_type.simpleString()
        return time_text(column, name) if name in TIMES else column

    def bound_rows(self, frame: DataFrame, schema: StructType) -> Iterable[tuple[Any, ...]]:
        """All of them before the transaction begins: it must not idle while Spark computes."""
        from jobs.nodes.columns import column

        rows = frame.select(*(self.collectable(column(field.name), field.dataType).alias(field.name) for field in frame.schema.fields))
        types = [field.dataType.simpleString() for field in schema.fields]
        return [tuple(_bound(value, name) for value, name in zip(row, types, strict=True)) for row in rows.collect()]

    def stage_rows(self, cursor: Any, name: str, schema: StructType, rows: Iterable[tuple[Any, ...]], refused: Refused | None) -> str:
        from psycopg2.extras import execute_values

        staging, names = self._staging_create(cursor, name, schema)
        if refused is not None:
            times = [place for place, field in enumerate(schema.fields) if field.dataType.simpleString() in TIMES]
            rows = [row for row in rows if _is_storable(row, times, schema.names, refused)]
        execute_values(cursor, f"INSERT INTO {staging} ({names})".replace("%", "%%") + " VALUES %s", rows, page_size=self.rows_at_a_time)
        return staging

    def stage_files(
        self, cursor: Any, name: str, schema: StructType, files: Iterable[BinaryIO | None], refused: Refused | None
    ) -> tuple[str, int]:
        staging, names = self._staging_create(cursor, name, schema)
        return staging, copy_files(cursor, f"{staging} ({names})", files, _tuples(schema), refused)

    def _staging_create(self, cursor: Any, name: str, schema: StructType) -> tuple[str, str]:
        columns = [f"{self.quoted(field.name)} {self.column_type(field.dataType, key=False)}" for field in schema.fields]
        cursor.execute(f"CREATE TEMP TABLE {self.quoted(name)} ({', '.join([*columns, f'{ORDINAL_COLUMN} bigserial'])}) ON COMMIT DROP")
        return f"pg_temp.{self.quoted(name)}", ", ".join(self.quoted(field.name) for field in schema.fields)

    def append_files(self, cursor: Any, table: TableName, columns: Sequence[str], files: Iterable[BinaryIO | None]) -> int:
        names = ", ".join(self.quoted(name) for name in columns)
        return copy_files(cursor, f"{self.qualified(table)} ({names})", files, Tuples(columns))

    def line(self, frame: DataFrame) -> Column:
        return tuple_line(frame)

    def line_end(self, columns: Sequence[str]) -> str:
        return tuple_end(len(columns))

    def takes_as_sent(self, target: TargetColumn, spark_type: DataType) -> bool:
        mine = self.column_type(spark_type, key=False).partition("(")[0]
        return target.type == mine or (mine == "text" and target.type == "character varying")

    def merge_statements(self, merge: Merge) -> list[str]:
        """A key that comes twice in one batch would stop ON CONFLICT, so only its last row is taken.

        Behind its first, where that one's other columns stay.
        """
        into = ", ".join(self.quoted(name) for name in [*(column.name for column in merge.columns.values()), *merge.extra])
        staged = [f"CAST(staged.{self.quoted(name)} AS {column.type})" for name, column in merge.columns.items()]
        taken = ", ".join([*staged, *(self.literal(value) for value in merge.extra.values())])
        target = self.qualified(merge.target)
        if not merge.keys:
            return [f"INSERT INTO {target} ({into}) SELECT {taken} FROM {merge.rows} staged"]
        values = {
            column.name: f"CAST(staged.{self.quoted(name)} AS {column.rounded or column.type})"
            for name, column in merge.key_columns.items()
        }
        by_key, conflict = ", ".join(values.values()), ", ".join(self.quoted(name) for name in values)
        latest = f"(SELECT DISTINCT ON ({by_key}) * FROM {merge.rows} staged ORDER BY {by_key}, {ORDINAL_COLUMN} DESC)"
        insert = f"INSERT INTO {target} ({into}) SELECT {taken} FROM"
        on_conflict = f"ON CONFLICT ({conflict}) DO"
        statements = []
        if merge.delete_flag:
            flag = f"staged.{self.quoted(merge.delete_flag)}"
            same = " AND ".join(f"old.{self.quoted(name)} = {value}" for name, value in values.items())
            statements = [f"DELETE FROM {target} old USING {merge.rows if merge.is_partial else latest} staged WHERE {flag} AND {same}"]
            latest = f"(SELECT * FROM {latest} staged WHERE {flag} IS NOT TRUE)"
        if merge.is_partial:
            living = self.living_rows(merge, by_key, merge.rows)
            statements.append(f"{insert} {living} staged WHERE _place_of_key = 1 AND _rows_of_key > 1 {on_conflict} NOTHING")
        return [*statements, f"{insert} {latest} staged {on_conflict} {self.conflict_action(merge)}"]

    def prepare_parts(self, cursor: Any, staging: str) -> None:
        cursor.execute(f"CREATE INDEX ON {staging} ({ORDINAL_COLUMN})")
        cursor.execute(f"ANALYZE {staging}")

    def deferred_rules(self, cursor: Any, table: TableName) -> str:
        """Its own and those of tables that refer to it. One whose name another has that cannot wait could not be set back."""
        cursor.execute(
            "SELECT string_agg(DISTINCT format('%%I.%%I', s.nspname, c.conname), ', ') FROM pg_constraint c "
            "JOIN pg_namespace s ON s.oid = c.connamespace WHERE c.condeferred AND to_regclass(%s) IN (c.conrelid, c.confrelid) "
            "AND NOT EXISTS (SELECT FROM pg_constraint o "
            "WHERE (o.conname, o.connamespace) = (c.conname, c.connamespace) AND NOT o.condeferrable)",
            (self.qualified(table),),
        )
        return str(cursor.fetchone()[0] or "")

    def refusal(self, error: BaseException | None) -> str:
        import psycopg2

        code = (error.pgcode or "") if isinstance(error, psycopg2.Error) else ""
        return _words(error) if code[:2] in _ROW_CLASSES or code == _RAISED else ""

    def sentence(self, error: BaseException) -> NodeError:
        """The server's words with their detail, and a remedy by class of SQLSTATE."""
        code = getattr(error, "pgcode", "") or ""
        remedy = _REMEDIES.get(code[:2], "it is tried again")
        permanent = code[:2] in _PERMANENT_CLASSES
        kind: Literal["user", "external"] = "user" if permanent else "external"
        message = f'writing to "{self.settings.name}": {_words(error)}; {remedy}'
        return SystemAway(message) if postgresql_away(error) else NodeError(message, permanent=permanent, kind=kind)

    def in_transaction(self, cursor: Any) -> bool:
        from psycopg2.extensions import TRANSACTION_STATUS_INTRANS

        return bool(cursor.connection.info.transaction_status == TRANSACTION_STATUS_INTRANS)


def _is_storable(row: tuple[Any, ...], times: Sequence[int], names: Sequence[str], refused: Refused) -> bool:
    """Whether PostgreSQL has a place for each text of the row, and for each of its `times`; if not, that is told in `refused`."""
    words = ""
    if any(isinstance(value, str) and "\0" in value for value in row):
        words = NUL_IN_TEXT
    elif any(row[place] is not None and not text_is_stored(row[place]) for place in times):
        words = TIME_OUT_OF_RANGE
    if words:
        refused.add(words, lambda: row_shown(names, row))
    return not words


def _tuples(schema: StructType) -> Tuples:
    return Tuples(schema.names, [field.dataType.simpleString() for field in schema.fields])


def _bound(value: Any, type_name: str) -> Any:
    return bytes(value) if type_name == "binary" and value is not None else value


def _words(error: Any) -> str:
    """The server's, with their detail."""
    told = getattr(error, "diag", None)
    words = (told and told.message_primary) or (str(error).strip().splitlines() or [type(error).__name__])[0]
    return f"{words} ({told.message_detail.rstrip('.')})" if told and told.message_detail else words
