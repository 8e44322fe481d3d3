"""`source.jdbc` on SQLite, whose columns promise little: declared types are tried, and a value that does not fit rejects its row."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Context, Decimal, InvalidOperation
from typing import Any, ClassVar

from jobs.nodes.base import NodeError
from jobs.nodes.connections.sqlite import sqlite_limit, sqlite_open, sqlite_path
from jobs.nodes.sources.jdbc_dialect import BOUND, Chunk, ReadColumn, ReadDialect, finite_key

_DECLARED_DECIMAL = re.compile(r"^(?:DECIMAL|NUMERIC)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)$")
_SAMPLED_ROWS = 1_000


class SqliteReadDialect(ReadDialect):
    kind: ClassVar[str] = "sqlite"

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        path = sqlite_path(self.settings, self.limits)
        if not path.exists():
            raise NodeError(
                f'reading from "{self.settings.name}": {path} does not exist; correct the path', kind="user", field="connection"
            )
        try:
            session = sqlite_open(self.settings, self.limits, read_only=True)
        except sqlite3.Error as error:
            raise NodeError(f'reading from "{self.settings.name}": {error}; check the rights of {path}') from error
        try:
            session.text_factory = _text_or_bytes
            if self.seconds:
                sqlite_limit(session, self.seconds)
            session.execute("BEGIN")
            yield session.cursor()
        except sqlite3.Error as error:
            too_long = error.sqlite_errorcode == sqlite3.SQLITE_INTERRUPT
            raise self.took_too_long() if too_long else _sentence(self.settings.name, error) from error
        finally:
            session.close()

    def columns(self, cursor: Any) -> list[ReadColumn]:
        """By the declared type, and where none is declared by the values of the first rows."""
        self.run(cursor, f"SELECT * FROM {self.relation} LIMIT 0")
        names = [column[0] for column in cursor.description]
        declared = self._declared_types(cursor)
        sampled = self._sampled_types(cursor, [name for name in names if name not in declared])
        types = {name: declared.get(name) or sampled[name] for name in names}
        return [ReadColumn(name, types[name], self.quoted(name), _converter(types[name])) for name in names]

    def _declared_types(self, cursor: Any) -> dict[str, str]:
        if not self.config.table:
            return {}
        *schema, table = self.config.table.split(".")
        prefix = f"{self.quoted(schema[0])}." if schema else ""
        self.run(cursor, f"PRAGMA {prefix}table_info({self.quoted(table)})")
        found = {row[1]: _spark_type(row[2]) for row in cursor.fetchall()}
        return {name: spark_type for name, spark_type in found.items() if spark_type}

    def _sampled_types(self, cursor: Any, names: list[str]) -> dict[str, str]:
        if not names:
            return {}
        selected = ", ".join(f"group_concat(DISTINCT typeof({self.quoted(name)}))" for name in names)
        self.run(cursor, f"SELECT {selected} FROM (SELECT * FROM {self.relation} LIMIT {_SAMPLED_ROWS})")
        return {name: _common_type(set((kinds or "null").split(","))) for name, kinds in zip(names, cursor.fetchone(), strict=True)}

    def run(self, cursor: Any, statement: str, values: tuple[Any, ...] = ()) -> None:
        cursor.execute(statement.replace(BOUND, "?"), values)

    def rows(self, cursor: Any, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        self.run(cursor, statement, values)
        yield from cursor

    def key_shown(self) -> str:
        return self.key

    def key_bound(self) -> str:
        return BOUND

    def last_key(self, cursor: Any) -> Any:
        return self._of_keys(super().last_key(cursor))

    def chunk_end(self, cursor: Any, chunk: Chunk, rows: int) -> Any:
        return self._of_keys(super().chunk_end(cursor, chunk, rows))

    def split(self, cursor: Any, chunk: Chunk, rows: int, parts: int) -> list[Chunk]:
        found = super().split(cursor, chunk, rows, parts)
        for part in found:
            self._of_keys(part.upto)
        return found

    def _of_keys(self, value: Any) -> Any:
        """`value`; NodeError for bytes, a text that is none and a number without an end, which no offset can hold."""
        if isinstance(value, bytes):
            message = (
                f"reading a table: the key column {self.config.key_column} holds binary, which has no order to read on by; choose another"
            )
            raise NodeError(message, permanent=True, kind="user", field="key_column")
        return finite_key(self.config.key_column, value)


def _spark_type(declared: str) -> str:
    """SQLite's own affinity rules (sqlite.org/datatype3.html), widened by the names that other databases give; "" when undecided."""
    name = declared.upper().strip()
    if found := _DECLARED_DECIMAL.match(name):
        precision, scale = int(found[1]), int(found[2] or 0)
        return f"decimal({precision},{scale})" if 0 < precision <= 38 and scale <= precision else "string"
    rules = {
        "BOOL": "boolean",
        "TIMESTAMP": "timestamp",
        "DATETIME": "timestamp",
        "DATE": "date",
        "INT": "bigint",
        "CHAR": "string",
        "CLOB": "string",
        "TEXT": "string",
        "BLOB": "binary",
        "REAL": "double",
        "FLOA": "double",
        "DOUB": "double",
    }
    return next((spark_type for part, spark_type in rules.items() if part in name), "")


def _common_type(kinds: set[str]) -> str:
    kinds = kinds - {"null"}
    if kinds == {"integer"}:
        return "bigint"
    if kinds and kinds <= {"integer", "real"}:
        return "double"
    return "binary" if kinds == {"blob"} else "string"


def _text_or_bytes(value: bytes) -> str | bytes:
    """SQLite keeps whatever is written as text; what is none rejects its row, instead of ending what is read."""
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return value


def _converter(spark_type: str) -> Callable[[Any], Any]:
    if spark_type.startswith("decimal"):
        precision, scale = (int(part) for part in spark_type.removeprefix("decimal(").rstrip(")").split(","))
        return lambda value: _decimal(value, precision, scale)
    return {
        "bigint": _whole_number,
        "double": _real_number,
        "string": _text,
        "binary": lambda value: value.encode() if isinstance(value, str) else bytes(value),
        "boolean": _truth,
        "date": lambda value: date.fromisoformat(str(value)[:10]),
        "timestamp": _time,
    }[spark_type]


def _whole_number(value: Any) -> int:
    number = int(value)
    if isinstance(value, bytes) or (isinstance(value, float) and number != value) or not -(2**63) <= number < 2**63:
        raise ValueError("not a whole number")
    return number


def _real_number(value: Any) -> float:
    if isinstance(value, bytes):
        raise ValueError("not a number")
    return float(value)


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _truth(value: Any) -> bool:
    try:
        return {"0": False, "1": True, "f": False, "t": True, "false": False, "true": True}[str(value).lower()]
    except KeyError:
        raise ValueError("neither true nor false") from None


def _time(value: Any) -> datetime:
    """ISO 8601 text, UTC unless it says otherwise, or seconds since 1970."""
    if isinstance(value, int | float):
        return datetime.fromtimestamp(value, UTC)
    found = datetime.fromisoformat(str(value))
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def _decimal(value: Any, precision: int, scale: int) -> Decimal:
    try:
        found = Context(prec=precision).quantize(Decimal(str(value)), Decimal(1).scaleb(-scale))
    except InvalidOperation:
        raise ValueError("not a decimal number") from None
    if not found.is_finite():
        raise ValueError("not a number")
    return found


def _sentence(connection: str, error: sqlite3.Error) -> NodeError:
    text = str(error)
    if "locked" in text or "busy" in text:
        return NodeError(f'reading from "{connection}": another program kept the database locked; let it finish')
    return NodeError(f'reading from "{connection}": {text}; correct table or query', permanent=True, kind="user")
