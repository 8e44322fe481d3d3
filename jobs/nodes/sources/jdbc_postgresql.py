"""`source.jdbc` on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from decimal import Context, Decimal, InvalidOperation
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.nodes.base import NodeError
from jobs.nodes.connections.postgresql import postgresql_away, postgresql_open
from jobs.nodes.gathering import fetched
from jobs.nodes.node_error import SystemAway
from jobs.nodes.sources.jdbc_dialect import BOUND, ReadColumn, ReadDialect

if TYPE_CHECKING:
    import psycopg2

#: Type names as the server writes them → Spark's; all others are read as the server's text.
_TYPES: Mapping[str, str] = {
    "boolean": "boolean",
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "real": "float",
    "double precision": "double",
    "bytea": "binary",
    "text": "string",
    "character varying": "string",
}
#: In a cast these two mean length 1 where they stand bare: the types that take any length.
_OF_ANY_LENGTH: Mapping[str, str] = {"character": "bpchar", "bit": "bit varying"}
_MOST_DIGITS = 38
#: Types that have a last value, behind all others; in a text these are words like any.
_WITH_AN_END = frozenset(
    {"real", "double precision", "numeric", "timestamp without time zone", "timestamp with time zone", "date", "interval"}
)
_ENDS = frozenset({"nan", "infinity"})
#: The server ended a statement, or its waiting for a lock.
_TOOK_TOO_LONG = ("57014", "55P03")


class PostgresqlReadDialect(ReadDialect):
    kind: ClassVar[str] = "postgresql"

    #: Known once the columns are: a key travels as text and comes back by a cast.
    _key_type = "text"

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """One transaction that sees one state of the data and cannot write."""
        import psycopg2

        session = postgresql_open(self.settings, self.limits, application="pipeline web source", idle_limit=False, seconds=self.seconds)
        try:
            session.set_session(isolation_level="REPEATABLE READ", readonly=True)
            _keep_far_times(session)
            with session.cursor() as cursor:
                yield cursor
        except psycopg2.Error as error:
            too_long = self.seconds and error.pgcode in _TOOK_TOO_LONG
            raise self.took_too_long() if too_long else _sentence(self.settings.name, error) from error
        finally:
            session.close()

    def columns(self, cursor: Any) -> list[ReadColumn]:
        self.run(cursor, f"SELECT * FROM {self.relation} LIMIT 0")
        described = list(cursor.description)
        cursor.execute(
            "SELECT format_type(given.type, NULL) FROM unnest(%s::oid[]) WITH ORDINALITY AS given(type, place) ORDER BY place",
            ([column.type_code for column in described],),
        )
        types = [name for (name,) in cursor.fetchall()]
        key_type = dict(zip((column.name for column in described), types, strict=True)).get(self.config.key_column, "text")
        self._key_type = _OF_ANY_LENGTH.get(key_type, key_type)
        return [self._column(column, name) for column, name in zip(described, types, strict=True)]

    def _column(self, column: Any, type_name: str) -> ReadColumn:
        """Times without a zone are taken for UTC, as the sink writes them."""
        quoted = self.quoted(column.name)
        if type_name == "timestamp without time zone":
            return ReadColumn(column.name, "timestamp", f"{quoted} AT TIME ZONE 'UTC'", _time)
        if type_name == "timestamp with time zone":
            return ReadColumn(column.name, "timestamp", quoted, _time)
        if type_name == "date":
            return ReadColumn(column.name, "date", quoted, _time)
        if type_name == "numeric":
            return _numeric(column, quoted)
        if type_name == "bytea":
            return ReadColumn(column.name, "binary", quoted, bytes)
        spark_type = _TYPES.get(type_name)
        return ReadColumn(column.name, spark_type, quoted) if spark_type else ReadColumn(column.name, "string", f"{quoted}::text")

    def run(self, cursor: Any, statement: str, values: tuple[Any, ...] = ()) -> None:
        if values:
            cursor.execute(statement.replace("%", "%%").replace(BOUND, "%s"), values)
        else:
            cursor.execute(statement)

    def rows(self, cursor: Any, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        with cursor.connection.cursor(name="pipeline_rows") as streaming:
            self.run(streaming, statement, values)
            yield from fetched(streaming.fetchmany)

    def key_shown(self) -> str:
        return f"{self.key}::text"

    def key_bound(self) -> str:
        return f"CAST({BOUND} AS {self._key_type})"

    def ends_with(self, key: Any) -> bool:
        return self._key_type in _WITH_AN_END and str(key).lower() in _ENDS


def _keep_far_times(session: Any) -> None:
    """Times before the year 1 or after 9999, which Python does not have, come as text instead of ending what is read."""
    from psycopg2.extensions import PYDATE, PYDATETIME, PYDATETIMETZ, new_type, register_type

    for usual in (PYDATE, PYDATETIME, PYDATETIMETZ):
        register_type(new_type(usual.values, usual.name, partial(_time_or_text, usual)), session)


def _time_or_text(usual: Any, text: str | None, cursor: Any) -> Any:
    if text is not None and text.endswith("infinity"):  # psycopg2 takes it for the last moment, or the first, that Python knows
        return text
    try:
        return usual(text, cursor)
    except ValueError:
        return text


def _time(value: Any) -> date:
    if not isinstance(value, date):
        raise ValueError("not a time")
    return value


def _numeric(column: Any, quoted: str) -> ReadColumn:
    """Spark's decimals have at most 38 digits; a numeric without limits gets the widest, as Spark's own reader gives it."""
    limited = column.precision is not None and 0 < column.precision <= _MOST_DIGITS and 0 <= column.scale <= column.precision
    precision, scale = (column.precision, column.scale) if limited else (_MOST_DIGITS, 18)
    exact = Context(prec=precision)

    def converted(value: Decimal) -> Decimal:
        try:
            fitting = exact.quantize(value, Decimal(1).scaleb(-scale))
        except InvalidOperation:
            raise ValueError(f"{value} does not fit decimal({precision},{scale})") from None
        if fitting.is_nan():
            raise ValueError("not a number")
        return fitting

    return ReadColumn(column.name, f"decimal({precision},{scale})", quoted, converted)


def _sentence(connection: str, error: psycopg2.Error) -> NodeError:
    code = error.pgcode or ""
    words = error.diag.message_primary or str(error).strip().split("\n")[0] or type(error).__name__
    permanent = code[:2] in ("22", "25", "28", "3D", "3F", "42")
    remedy = "correct table, query or rights" if permanent else "it is tried again"
    message = f'reading from "{connection}": {words}; {remedy}'
    if postgresql_away(error):
        return SystemAway(message)
    return NodeError(message, permanent=permanent, kind="user" if permanent else "external")
