"""Reads a table or the result of a query, whole or in chunks by a key."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import empty_frame, missing_column, schema_from_ddl
from jobs.nodes.config_refused import place_of_second
from jobs.nodes.form import connection_field, hints
from jobs.nodes.hand_positions import HandPositions, LastKey
from jobs.nodes.node_error import reworded
from jobs.nodes.plainly import sign_in_fault
from jobs.nodes.unread_columns import TellsUnread, names_listed
from jobs.nodes.user_python.workers import in_workers_shared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from jobs.nodes.sources.jdbc_dialect import ReadColumn, ReadDialect


#: A table's name, if need be behind that of its schema, or nothing.
TABLE_NAME = r"^([^\x00\r\n.]+(\.[^\x00\r\n.]+)?)?$"


#: Where no job runs, a database that takes its time must not hold up who draws: for its columns, and for rows to look at. A script
#: reads its rows as a job does, but asks for the columns while it is written.
_COLUMNS_SECONDS, _ROWS_SECONDS = 20, 60


class JdbcSourceConfig(base.Config):
    connection: str = connection_field("postgresql", "mysql", "sqlite", "jdbc")
    table: str = Field(
        "",
        max_length=200,
        pattern=TABLE_NAME,
        description="The table or view, if need be with its schema; or write a query.",
        examples=["flights", "reporting.delays"],
    )
    query: str = Field(
        "",
        max_length=100_000,
        description="One SELECT in the database's own SQL, instead of a table.",
        examples=["SELECT carrier, dep_delay FROM flights WHERE NOT cancelled"],
        json_schema_extra=hints("sql"),
    )
    key_column: str = Field(
        "",
        max_length=255,
        description="A column without empty values, best unique: rows are read in its order, in chunks; empty reads all at once.",
        examples=["id"],
        json_schema_extra=hints("column"),
    )
    rows_per_batch: int = Field(
        50_000,
        ge=1,
        le=10_000_000,
        description="Rows of a chunk, which is a batch and a checkpoint.",
        examples=[50_000],
        json_schema_extra=hints(advanced=True),
    )

    incremental: bool = Field(
        False,
        description="When all is read, the next start goes on behind the largest key instead of at the beginning.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    late_rows_seconds: float = Field(
        0,
        ge=0,
        le=3600,
        description="How long rows with smaller keys may still appear after larger ones, as slow transactions let them; keys wait so long.",
        examples=[30],
        json_schema_extra=hints(advanced=True),
    )
    partitions: int = Field(
        1,
        ge=1,
        le=64,
        description="How many connections read at the same time, each its share of the keys.",
        examples=[4],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="after")
    def _table_or_query(self) -> JdbcSourceConfig:
        if bool(self.table) == bool(self.query.strip()):
            raise ValueError("give either a table or a query")
        return self

    @model_validator(mode="after")
    def _key_for_what_needs_one(self) -> JdbcSourceConfig:
        asked = {
            "reading on behind the last key": self.incremental,
            "waiting for late rows": self.late_rows_seconds > 0,
            "reading in several partitions": self.partitions > 1,
        }
        if wanting := [words for words, wanted in asked.items() if wanted and not self.key_column]:
            raise ValueError(f"{wanting[0]} needs a key column: name one")
        return self


class JdbcSource(TellsUnread, Source[JdbcSourceConfig]):
    """Reads a database table, or what a query finds, whole or in chunks by a key column.

    Bounded; with a key column also unbounded, reading rows with larger keys as they come. Exactly once: rows that come or go while
    it reads shift nothing, but those that appear behind the key that was read last are not read.
    """

    type = "source.jdbc"
    title = "Database table"
    icon = "database-export"
    Config = JdbcSourceConfig
    connection_kinds = ("postgresql", "mysql", "sqlite", "jdbc")
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    summary_template = "{table}{query}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"rows_per_batch", "incremental", "late_rows_seconds", "partitions"})
    hand_positions: ClassVar[HandPositions | None] = LastKey()

    def __init__(self) -> None:
        self._taken: list[str] = []

    def plain_fault(self, context: NodeContext[JdbcSourceConfig]) -> str:
        return sign_in_fault(context)

    def needs_to_begin(self, context: NodeContext[JdbcSourceConfig]) -> str:
        """Asked with a whole sign-in: a server that starts up takes connections before it takes sessions."""
        from jobs.nodes.connections.databases import database_silent

        return database_silent(context.connection(context.config.connection), context.limits)

    def resumes(self, config: JdbcSourceConfig) -> bool:
        return bool(config.key_column)

    def read(self, spark: SparkSession, context: NodeContext[JdbcSourceConfig]) -> DataFrame:
        from jobs.nodes.readers.table_rows import TableRows, schema_ddl

        if not (context.bounded or context.beside or context.config.key_column):
            raise NodeError("reading a table: a job that never ends needs a key column", permanent=True, kind="user", field="key_column")
        dialect = read_dialect(context)
        columns = _checked_columns(dialect, context)
        ddl = schema_ddl(columns)
        if context.schema_only:
            return empty_frame(spark, schema_from_ddl(ddl))
        self._taken = [column.name for column in columns]
        in_workers_shared(lambda: spark.dataSource.register(TableRows))
        options = reader_options(dialect, context)
        if context.mode == "batch":
            return spark.read.format(TableRows.name()).schema(ddl).options(**options).load()
        return spark.readStream.name(context.stream_name).format(TableRows.name()).schema(ddl).options(**options).load()

    def unread(self, context: NodeContext[JdbcSourceConfig]) -> str:
        dialect = read_dialect(context)
        with dialect.cursor() as cursor:
            offered = [column.name for column in dialect.columns(cursor)]
        if not self._taken or not (names := names_listed(offered, self._taken)):
            return ""
        return f"columns came that are not read: {names}; stop and resume the job to read them from then on"


def read_dialect(context: NodeContext[JdbcSourceConfig]) -> ReadDialect:
    from jobs.nodes.sources.jdbc_dialect import dialect_for

    seconds = 0 if context.is_run else _COLUMNS_SECONDS
    return dialect_for(context.connection(context.config.connection), context.limits, context.config, seconds)


def reader_options(dialect: ReadDialect, context: NodeContext[JdbcSourceConfig]) -> dict[str, str]:
    """What the reader is told: Spark hands it to the driver's and the tasks' processes as texts."""
    settings = {
        "node_id": context.node_id,
        "config": context.config.model_dump(mode="json"),
        "connection": {"name": dialect.settings.name, "kind": dialect.settings.kind, "config": dict(dialect.settings.config)},
        "file_roots": [str(root) for root in context.limits.file_roots],
        "data_dir": str(context.limits.data_dir),
        "jdbc_drivers": str(context.limits.jdbc_drivers or ""),
        "bounded": context.bounded or context.beside,
        "seconds": _ROWS_SECONDS if context.is_drawn else 0,
    }
    return {"settings": json.dumps(settings), "secret": json.dumps(dict(dialect.settings.secrets))}  # Spark hides options of this name


@contextmanager
def _asked(dialect: ReadDialect) -> Iterator[Any]:
    """A cursor; what a database finds wrong with what it is asked, once it let us in, is told on the table or the query."""
    is_in = False
    try:
        with dialect.cursor() as cursor:
            is_in = True
            yield cursor
    except NodeError as error:
        if is_in and error.permanent and not error.field:
            raise reworded(error, error.message, "table" if dialect.config.table else "query") from error
        raise


def _checked_columns(dialect: ReadDialect, context: NodeContext[JdbcSourceConfig]) -> list[ReadColumn]:
    """Columns of the table or query; NodeError when the key is not among them, or has empty values."""
    with _asked(dialect) as cursor:
        columns = dialect.columns(cursor)
        names = [column.name for column in columns]
        _names_told_apart(names, "table" if context.config.table else "query")
        key = context.config.key_column
        if not key:
            return columns
        if key not in names:
            raise NodeError(missing_column(key, names), permanent=True, kind="user", field="key_column")
    if not context.schema_only and _has_empty_keys(dialect, context):
        raise NodeError(
            f"reading a table: the key column {key} has empty values, whose rows would be missed; choose one without",
            permanent=True,
            kind="user",
            field="key_column",
        )
    return columns


def _has_empty_keys(dialect: ReadDialect, context: NodeContext[JdbcSourceConfig]) -> bool:
    """A large table may have to be read whole for it: who only looks at rows is not told where that takes long."""
    try:
        with _asked(dialect) as cursor:
            return dialect.key_has_empty_values(cursor)
    except NodeError as error:
        if context.is_run or error.permanent:
            raise
        return False


def _names_told_apart(names: list[str], field: str) -> None:
    """NodeError where two columns have names that Spark takes for one."""
    if (second := place_of_second([name.lower() for name in names])) is None:
        return
    raise NodeError(
        f"reading a table: two columns are called {names[second]}, in capitals or not: "
        "write a query that gives each a name of its own, by AS",
        permanent=True,
        kind="user",
        field=field,
    )
