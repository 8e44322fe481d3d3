"""`sink.jdbc` as lines of plain Python: the rows of a batch go into a temporary table and from there into theirs, in one transaction."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeContext, NodeError
from jobs.nodes.columns import column
from jobs.nodes.connections.mysql import MysqlSettings
from jobs.nodes.connections.postgresql import PostgresqlSettings
from jobs.nodes.connections.sqlite import sqlite_path
from jobs.nodes.sinks.jdbc_config import JdbcSinkConfig
from jobs.nodes.sinks.jdbc_dialect import ORDINAL_COLUMN, Dialect, Merge, TableName, TargetColumn
from jobs.nodes.sinks.jdbc_mysql import SESSION
from jobs.nodes.sinks.jdbc_table import schema_written, table_create

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import StructType

_STAGING = "batch_rows"
#: In a statement the name (0), the type (1) or the rounding type (2) of a column that only the script finds out; no name holds it.
_OPEN, _LEFT_OPEN = "\x00{}.{}\x00", re.compile(r"\x00(\d+)\.(\d)\x00")
_MYSQL_TABLE = " CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"


def plain_rows(dialect: Dialect, frame: DataFrame, time_zone: str) -> DataFrame:
    """`frame` with values that any client takes: times as text in UTC."""
    columns = []
    for field in frame.schema.fields:
        value = column(field.name)
        kind = field.dataType.simpleString()
        sent = _utc_text(value, time_zone) if kind == "timestamp" else dialect.value_column(value, field.dataType)
        columns.append((sent.cast("string") if kind in ("date", "timestamp_ntz") else sent).alias(field.name))
    return frame.select(*columns)


def _utc_text(time: Column, time_zone: str) -> Column:
    """With microseconds where there are any."""
    from pyspark.sql import functions as F

    micros = F.unix_micros(time)
    fraction = F.pmod(micros, F.lit(1_000_000))
    if time_zone == "UTC":
        text = F.date_format(time, "yyyy-MM-dd HH:mm:ss")
    else:  # counted from 1970: a wall clock of that zone leaves hours out, and has some twice
        seconds = F.make_dt_interval(secs=(micros / 1_000_000).cast("decimal(18, 6)"))
        text = F.substring((F.lit("1970-01-01 00:00:00").cast("timestamp_ntz") + seconds).cast("string"), 1, 19)
    return F.when(fraction == 0, text).otherwise(F.concat(text, F.lit("."), F.lpad(fraction.cast("string"), 6, "0")))


def plain_lines(dialect: Dialect, schema: StructType, context: NodeContext[JdbcSinkConfig]) -> str:
    """What writes `rows`, as `plain_rows` made them, to a table whose columns are called as those of `schema`.

    PostgreSQL's are found without regard to case, and filled in their own types: not all of them take a text by themselves.
    """
    config = context.config
    table = TableName.parsed(config.table)
    written = schema_written(schema, config)
    target = dialect.qualified(table)
    asks = dialect.kind == "postgresql"
    staging = f"temp.{dialect.quoted(_STAGING)}" if dialect.kind == "sqlite" else dialect.quoted(_STAGING)
    merge = _merge(dialect, schema, config, staging, asks=asks)
    marks = ", ".join([dialect.placeholder] * (len(schema.fields) + 1))
    into = ", ".join([*(dialect.quoted(name) for name in schema.names), ORDINAL_COLUMN])
    insert = f"INSERT INTO {staging} ({into})".replace("%", "%%" if dialect.placeholder == "%s" else "%") + f" VALUES ({marks})"
    return "\n".join(
        [
            *_opened(dialect, context),
            "    cursor = database.cursor()",
            *([f"    cursor.execute({_text(_made(dialect, table, written, config))})"] if config.create_table else []),
            *(_asked(dialect, table, written) if asks else []),
            f"    cursor.execute({_text(_staging(dialect, schema))})",
            "    numbered = ((*row, number) for number, row in enumerate(rows.toLocalIterator()))",
            f"    cursor.executemany({_text(insert)}, numbered)",
            *(["    if batch_id == 0:", f"        cursor.execute({_text(f'DELETE FROM {target}')})"] if config.mode == "overwrite" else []),
            *([f"    cursor.execute({_text(config.sql_before)})"] if config.sql_before else []),
            *(f"    cursor.execute({_found_in(statement) if asks else _text(statement)})" for statement in dialect.merge_statements(merge)),
            *([f"    cursor.execute({_text(config.sql_after)})"] if config.sql_after else []),
            f"    cursor.execute({_text(f'DROP TABLE {staging}')})",
            "    database.commit()",
        ]
    )


def _merge(dialect: Dialect, schema: StructType, config: JdbcSinkConfig, staging: str, *, asks: bool) -> Merge:
    """`asks`: names and types of the target's columns are left open, to be filled in with what `columns` of the script holds."""
    flag = next((name for name in schema.names if config.delete_flag and name.lower() == config.delete_flag.lower()), "")
    columns, keys = {}, config.keys
    for number, field in enumerate(schema_written(schema, config).fields):
        is_key = field.name.lower() in {key.lower() for key in keys}
        kind = dialect.column_type(field.dataType, key=is_key)
        name, kind, rounded = [_OPEN.format(number, part) for part in range(3)] if asks else (field.name, kind, "")
        columns[field.name] = TargetColumn(name, kind, True, rounded=rounded)
    if asks:
        keys = tuple(column.name for name, column in columns.items() if name.lower() in {key.lower() for key in keys})
    return Merge(TableName.parsed(config.table), staging, columns, keys, delete_flag=flag, update_columns=config.update_columns)


def _asked(dialect: Dialect, table: TableName, schema: StructType) -> list[str]:
    """What finds the columns that are written: a name between quotes, a type, and a type that rounds as the column does."""
    heard = _Heard()
    dialect.columns(heard, table)
    own = [(field.name, dialect.column_type(field.dataType, key=False)) for field in schema.fields]
    return [
        f"    cursor.execute({_text(heard.statement)}, {heard.values!r})",
        "    held = [(name, kind, rounded or kind) for name, kind, _, _, rounded in cursor.fetchall()]",
        "    found = {column[0].lower(): column for column in held} | {column[0]: column for column in held}",
        f"    named = [found.get(name) or found.get(name.lower()) or (name, kind, kind) for name, kind in {own!r}]",
        "    columns = [(name.replace('\"', '\"\"'), kind, rounded) for name, kind, rounded in named]",
    ]


def _found_in(statement: str) -> str:
    """The expression of a statement in which what was left open is filled in."""
    filled = _LEFT_OPEN.sub(r"{\1[\2]}", statement.replace("{", "{{").replace("}", "}}"))
    return f"{_text(filled)}.format(*columns)"


class _Heard:
    """In the place of a cursor: keeps what it is asked to run."""

    def __init__(self) -> None:
        self.statement = ""
        self.values: Any = None

    def execute(self, statement: str, values: Any = None) -> None:
        self.statement, self.values = statement, values

    def fetchall(self) -> list[Any]:
        return []


def _made(dialect: Dialect, table: TableName, schema: StructType, config: JdbcSinkConfig) -> str:
    cursor = _Heard()
    table_create(dialect, cursor, table, schema, keys=config.keys, appended=False)
    made = cursor.statement.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1)
    # Which of them has the collation that a run takes is known only once it was asked: this one both have.
    return made.removesuffix(dialect.table_options) + _MYSQL_TABLE if dialect.kind == "mysql" else made


def _staging(dialect: Dialect, schema: StructType) -> str:
    columns = [f"{dialect.quoted(field.name)} {dialect.column_type(field.dataType, key=False)}" for field in schema.fields]
    made = "CREATE TEMPORARY TABLE" if dialect.kind == "mysql" else "CREATE TEMP TABLE"
    return f"{made} {dialect.quoted(_STAGING)} ({', '.join([*columns, f'{ORDINAL_COLUMN} bigint'])})"


def _opened(dialect: Dialect, context: NodeContext[JdbcSinkConfig]) -> list[str]:
    settings = dialect.settings
    password = settings.secrets.get("password", "")
    if dialect.kind == "sqlite":
        place = _text(str(sqlite_path(settings, context.limits)))
        return ["import sqlite3", "from contextlib import closing", "", f"with closing(sqlite3.connect({place}, timeout=30)) as database:"]
    if dialect.kind == "mysql":
        mysql = MysqlSettings.model_validate(settings.config)
        _refuse_tls(mysql.tls not in ("disable", "prefer"))
        given = {"host": mysql.host, "port": mysql.port, "user": mysql.user, "password": password, "database": mysql.database}
        given |= {"charset": "utf8mb4", "init_command": SESSION.replace("SET SESSION ", "SET SESSION time_zone = '+00:00', ", 1)}
        return ["import pymysql", "", f"with pymysql.connect({_keywords(given)}) as database:"]
    server = PostgresqlSettings.model_validate(settings.config)
    _refuse_tls(bool(server.certificate_authority))
    given = {"host": server.host, "port": server.port, "dbname": server.database, "user": server.user, "password": password}
    path = f" -c search_path={server.search_path.replace(' ', '')}" if server.search_path else ""
    given |= {"sslmode": server.tls, "options": f"-c TimeZone=UTC{path}"}
    opened = f"with closing(psycopg2.connect({_keywords(given)})) as database:"
    return ["from contextlib import closing", "", "import psycopg2", "", opened]


def _refuse_tls(own: bool) -> None:
    if own:
        raise NodeError(
            "its connection checks the server by settings of its own, which a script cannot take along", permanent=True, kind="user"
        )


def _keywords(given: dict[str, Any]) -> str:
    return ", ".join(f"{name}={_text(value) if isinstance(value, str) else value}" for name, value in given.items())


def _text(value: str) -> str:
    return repr(value)
