"""`source.jdbc` on MySQL and MariaDB."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.nodes.base import NodeError
from jobs.nodes.connections.mysql import limit_statements, mysql_away, mysql_close, mysql_open
from jobs.nodes.node_error import SystemAway
from jobs.nodes.sources.jdbc_dialect import BOUND, ReadColumn, ReadDialect

if TYPE_CHECKING:
    import pymysql

#: Type numbers of the protocol → Spark's type, signed and unsigned; all others are read as text.
_WHOLE: Mapping[int, tuple[str, str]] = {
    1: ("tinyint", "smallint"),
    2: ("smallint", "int"),
    3: ("int", "bigint"),
    8: ("bigint", "decimal(20,0)"),
    9: ("int", "int"),
    13: ("smallint", "smallint"),
}
_FLOAT, _DOUBLE, _TIMESTAMP, _DATE, _TIME, _DATETIME, _BIT, _DECIMAL, _GEOMETRY = 4, 5, 7, 10, 11, 12, 16, 246, 255
_TEXTS = frozenset({249, 250, 251, 252, 253, 254, 15})
_UNSIGNED, _BINARY_CHARSET = 32, 63
_ENUM, _SET = 256, 2048
#: The key is an ENUM or a SET: the server orders these by the numbers of their words, so they are compared by them.
_BY_NUMBER = "number of a word"
_MOST_DIGITS = 38
#: The server ended a statement, MySQL or MariaDB, or its waiting for a lock, or the client gave it up.
_TOOK_TOO_LONG = ((3024,), (1969,), (1205,), (2013,))
#: The types of keys → SQL of the key as text, and of a parameter as a key.
_BOUND_BY_TYPE = {
    "date": f"CAST({BOUND} AS DATE)",
    "timestamp": f"CAST({BOUND} AS DATETIME(6))",
    "float": f"CAST({BOUND} AS DOUBLE)",
    "double": f"CAST({BOUND} AS DOUBLE)",
    "decimal(20,0)": f"CAST({BOUND} AS UNSIGNED)",
    "binary": f"UNHEX({BOUND})",
    _BY_NUMBER: f"CAST({BOUND} AS UNSIGNED)",
}


class MysqlReadDialect(ReadDialect):
    kind: ClassVar[str] = "mysql"

    #: Known once the columns are.
    _key_type = "string"

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """One transaction that sees one state of the data and cannot write."""
        import pymysql

        session = mysql_open(self.settings)
        try:
            if self.seconds:
                limit_statements(session, self.seconds)
            with session.cursor() as cursor:
                cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                cursor.execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
                yield cursor
        except pymysql.Error as error:
            too_long = self.seconds and error.args[:1] in _TOOK_TOO_LONG
            raise self.took_too_long() if too_long else _sentence(self.settings.name, error) from error
        finally:
            mysql_close(session)

    def columns(self, cursor: Any) -> list[ReadColumn]:
        self.run(cursor, f"SELECT * FROM {self.relation} LIMIT 0")
        fields = cursor._result.fields
        found = [self._column(field) for field in fields]
        self._key_type = {column.name: column.type for column in found}.get(self.config.key_column, "string")
        if any(field.name == self.config.key_column and field.flags & (_ENUM | _SET) for field in fields):
            self._key_type = _BY_NUMBER
        return found

    def _column(self, column: Any) -> ReadColumn:
        """Times without a zone are taken for UTC, as the sink writes them; those with one are asked for in UTC."""
        name, number, quoted = column.name, column.type_code, self.quoted(column.name)
        if number == 1 and column.length == 1:
            return ReadColumn(name, "boolean", quoted, _truth)
        if number in _WHOLE:
            return ReadColumn(name, _WHOLE[number][bool(column.flags & _UNSIGNED)], quoted)
        if number in (_FLOAT, _DOUBLE):  # a bare float comes with six digits
            return ReadColumn(name, "float" if number == _FLOAT else "double", f"{quoted} + 0e0")
        if number == _DECIMAL:
            return _decimal(column, quoted)
        if number in (_DATETIME, _TIMESTAMP):
            return ReadColumn(name, "timestamp", quoted, _time)
        if number == _DATE:
            return ReadColumn(name, "date", quoted, _day)
        if number == _BIT:
            return ReadColumn(name, "boolean", quoted, _bit) if column.length == 1 else ReadColumn(name, "decimal(20,0)", f"{quoted} + 0")
        if number in _TEXTS and column.charsetnr == _BINARY_CHARSET:
            return ReadColumn(name, "binary", quoted)
        return ReadColumn(name, "string", {_TIME: f"CAST({quoted} AS CHAR)", _GEOMETRY: f"ST_AsText({quoted})"}.get(number, quoted))

    def run(self, cursor: Any, statement: str, values: tuple[Any, ...] = ()) -> None:
        if values:
            cursor.execute(statement.replace("%", "%%").replace(BOUND, "%s"), values)
        else:
            cursor.execute(statement)

    def rows(self, cursor: Any, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        from pymysql.cursors import SSCursor

        streaming = cursor.connection.cursor(SSCursor)
        try:
            self.run(streaming, statement, values)
            yield from streaming
        finally:
            streaming._result = None  # what nobody wanted goes with the session; a cursor that is closed would read it all

    def key_shown(self) -> str:
        if self._key_type == "binary":
            return f"HEX({self.key})"
        number = {"float": " + 0e0", "double": " + 0e0", _BY_NUMBER: " + 0"}.get(self._key_type, "")
        return f"CAST({self.key}{number} AS CHAR)"

    def key_bound(self) -> str:
        if self._key_type in ("boolean", "tinyint", "smallint", "int", "bigint"):
            return f"CAST({BOUND} AS SIGNED)"
        if self._key_type.startswith("decimal") and self._key_type not in _BOUND_BY_TYPE:
            return f"CAST({BOUND} AS {self._key_type})"
        return _BOUND_BY_TYPE.get(self._key_type, BOUND)

    def quoted(self, name: str) -> str:
        return "`" + name.replace("`", "``") + "`"


def _decimal(column: Any, quoted: str) -> ReadColumn:
    """The length counts the sign and the point; more digits than Spark's decimals have are read as text."""
    precision = column.length - bool(column.scale) - (not column.flags & _UNSIGNED)
    if not 0 < precision <= _MOST_DIGITS:
        return ReadColumn(column.name, "string", f"CAST({quoted} AS CHAR)")
    return ReadColumn(column.name, f"decimal({precision},{column.scale})", quoted)


def _truth(value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError("neither true nor false")
    return bool(value)


def _bit(value: bytes) -> bool:
    return value != b"\x00"


def _time(value: Any) -> datetime:
    """The client hands over what is no time, such as 0000-00-00, as text."""
    if not isinstance(value, datetime):
        raise ValueError("not a time")
    return value.replace(tzinfo=UTC)


def _day(value: Any) -> date:
    if not isinstance(value, date):
        raise ValueError("not a day")
    return value


def _sentence(connection: str, error: pymysql.Error) -> NodeError:
    code, words = (error.args[0], str(error.args[1])) if len(error.args) > 1 else (0, str(error))
    permanent = code in (1044, 1045, 1049, 1052, 1054, 1060, 1064, 1142, 1143, 1146, 1292, 1305, 1370, 1792)
    remedy = "correct table, query or rights" if permanent else "it is tried again"
    told = " ".join(words.split()) or "the line was lost"  # the server repeats the query, line by line
    message = f'reading from "{connection}": {told}; {remedy}'
    if mysql_away(error):
        return SystemAway(message)
    return NodeError(message, permanent=permanent, kind="user" if permanent else "external")
