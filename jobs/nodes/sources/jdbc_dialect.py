"""What differs between databases for `source.jdbc`: their types, their parameters, their errors."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.nodes.base import ConnectionSettings, Limits, NodeError

if TYPE_CHECKING:
    from jobs.nodes.sources.jdbc import JdbcSourceConfig

#: Where a bound value goes; a character that no SQL holds, so that % and ? in a person's query stay what they are.
BOUND = "\x00"
#: What no column is called: a column of that name would be taken for it where rows are put in order.
_SHOWN = "pipeline_web_shown_key"


@dataclass(frozen=True)
class ReadColumn:
    """`type` is Spark's; `selected` the SQL that gives a value which `converted` turns into a Python one, or raises ValueError."""

    name: str
    type: str
    selected: str
    converted: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class Chunk:
    """Rows with `after` < key ≤ `upto`; None on either side is open. Keys are what JSON can hold."""

    after: Any = None
    upto: Any = None


class ReadDialect(ABC):
    """One database, one table or query. Every cursor belongs to a session that may only read."""

    kind: ClassVar[str]

    def __init__(self, settings: ConnectionSettings, limits: Limits, config: JdbcSourceConfig, seconds: int = 0) -> None:
        """`seconds`: what a statement may take, and wait for a lock; 0 means no limit."""
        self.settings = settings
        self.limits = limits
        self.config = config
        self.seconds = seconds

    @abstractmethod
    def cursor(self) -> AbstractContextManager[Any]:
        """A cursor in a transaction that only reads; turns database errors into one NodeError sentence."""

    @abstractmethod
    def columns(self, cursor: Any) -> list[ReadColumn]:
        """The columns, without reading rows where the database knows their types."""

    @abstractmethod
    def run(self, cursor: Any, statement: str, values: tuple[Any, ...] = ()) -> None:
        """Execute `statement`, with `values` where BOUND stands."""

    @abstractmethod
    def rows(self, cursor: Any, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        """Rows of a statement without ever holding them all."""

    @abstractmethod
    def key_shown(self) -> str:
        """SQL of the key as something JSON can hold."""

    @abstractmethod
    def key_bound(self) -> str:
        """SQL that turns a parameter back into a key."""

    def ends_with(self, key: Any) -> bool:
        """Whether no row that comes later can have a larger key than this one."""
        return False

    def took_too_long(self) -> NodeError:
        return NodeError(
            f'reading from "{self.settings.name}": the database took longer than {self.seconds} s, or something locks the table; '
            "ask it for less, or try again later"
        )

    @property
    def relation(self) -> str:
        if self.config.query.strip():
            return f"{self.query_enclosed} AS queried"
        return ".".join(self.quoted(part) for part in self.config.table.split("."))

    @property
    def query_enclosed(self) -> str:
        """A query may end in a comment: the bracket behind it begins a line."""
        return f"({self.config.query.strip().rstrip(';')}\n)"

    @property
    def key(self) -> str:
        return self.quoted(self.config.key_column)

    def quoted(self, name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    def key_has_empty_values(self, cursor: Any) -> bool:
        self.run(cursor, f"SELECT 1 FROM {self.relation} WHERE {self.key} IS NULL LIMIT 1")
        return cursor.fetchone() is not None

    def last_key(self, cursor: Any) -> Any:
        """The largest key now; None when there are no rows. Empty keys, which some databases put last, are none."""
        there = f"{self.relation} WHERE {self.key} IS NOT NULL"
        self.run(cursor, f"SELECT {self.key_shown()} AS {_SHOWN} FROM {there} ORDER BY {self.key} DESC LIMIT 1")
        row = cursor.fetchone()
        return None if row is None else row[0]

    def count(self, cursor: Any, chunk: Chunk) -> int:
        where, values = self._where(chunk)
        self.run(cursor, f"SELECT count(*) FROM {self.relation}{where}", values)
        return int(cursor.fetchone()[0])

    def chunk_end(self, cursor: Any, chunk: Chunk, rows: int) -> Any:
        """The key of the last of the first `rows` rows of `chunk`, so that a chunk ends only where the key changes; None if it is empty."""
        where, values = self._where(chunk)
        inner = (
            f"SELECT {self.key} AS chunk_key, {self.key_shown()} AS {_SHOWN} FROM {self.relation}{where} ORDER BY {self.key} LIMIT {rows:d}"
        )
        self.run(cursor, f"SELECT {_SHOWN} FROM ({inner}) AS chunk ORDER BY chunk_key DESC LIMIT 1", values)
        row = cursor.fetchone()
        return None if row is None else row[0]

    def split(self, cursor: Any, chunk: Chunk, rows: int, parts: int) -> list[Chunk]:
        """`chunk`, of about `rows` rows, in at most `parts` of the same size; rows with the same key stay together."""
        if parts <= 1 or rows <= 1:
            return [chunk]
        where, values = self._where(chunk)
        step = -(-rows // parts)
        inner = f"SELECT {self.key_shown()} AS {_SHOWN}, row_number() OVER (ORDER BY {self.key}) AS place FROM {self.relation}{where}"
        self.run(cursor, f"SELECT {_SHOWN} FROM ({inner}) AS placed WHERE place % {step:d} = 0 AND place < {rows:d} ORDER BY place", values)
        ends = list(dict.fromkeys(shown for (shown,) in cursor.fetchall() if shown != chunk.upto))
        return [Chunk(after, upto) for after, upto in zip([chunk.after, *ends], [*ends, chunk.upto], strict=True)]

    def read(self, cursor: Any, columns: list[ReadColumn], chunk: Chunk) -> Iterator[tuple[Any, ...]]:
        where, values = self._where(chunk)
        selected = ", ".join(f"{column.selected} AS {self.quoted(column.name)}" for column in columns)
        return self.rows(cursor, f"SELECT {selected} FROM {self.relation}{where}", values)

    def _where(self, chunk: Chunk) -> tuple[str, tuple[Any, ...]]:
        conditions: Mapping[str, Any] = {">": chunk.after, "<=": chunk.upto}
        given = {sign: value for sign, value in conditions.items() if value is not None}
        text = " AND ".join(f"{self.key} {sign} {self.key_bound()}" for sign in given)
        return (f" WHERE {text}" if given else ""), tuple(given.values())


def key_refused(key_column: str, key: Any) -> NodeError:
    """What is told of a key behind which none can come: rows that come later would never be read."""
    return NodeError(
        f"reading a table: the key column {key_column} holds {key}, which is no place to read on from; "
        "leave such rows out by a query, or choose another",
        permanent=True,
        kind="user",
        field="key_column",
    )


def finite_key(key_column: str, key: Any) -> Any:
    """`key`; NodeError for what is no number, or one without an end: JSON has neither, and not every database compares with them."""
    if isinstance(key, float) and not math.isfinite(key):
        raise key_refused(key_column, "NaN" if math.isnan(key) else "Infinity" if key > 0 else "-Infinity")
    return key


def dialect_for(settings: ConnectionSettings, limits: Limits, config: JdbcSourceConfig, seconds: int = 0) -> ReadDialect:
    """The dialect of a connection's kind."""
    if settings.kind == "sqlite":
        from jobs.nodes.sources.jdbc_sqlite import SqliteReadDialect

        return SqliteReadDialect(settings, limits, config, seconds)
    if settings.kind == "mysql":
        from jobs.nodes.sources.jdbc_mysql import MysqlReadDialect

        return MysqlReadDialect(settings, limits, config, seconds)
    if settings.kind == "postgresql":
        from jobs.nodes.sources.jdbc_postgresql import PostgresqlReadDialect

        return PostgresqlReadDialect(settings, limits, config, seconds)
    if settings.kind == "jdbc":
        from jobs.nodes.sources.jdbc_other import OtherReadDialect

        return OtherReadDialect(settings, limits, config, seconds)
    raise NodeError(
        f'connection "{settings.name}" is of kind {settings.kind}; choose a database', permanent=True, kind="user", field="connection"
    )
