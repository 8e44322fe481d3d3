"""`source.jdbc` on databases that only a JDBC driver speaks to, in SQL that all of them know."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from functools import partial
from typing import Any, ClassVar

from jobs.nodes.base import NodeError
from jobs.nodes.connections.jdbc_session import jdbc_close, jdbc_open, sql_told
from jobs.nodes.gathering import fetched_ahead, fetched_first
from jobs.nodes.node_error import reworded
from jobs.nodes.sources.jdbc_dialect import BOUND, Chunk, ReadColumn, ReadDialect, finite_key
from jobs.nodes.sources.jdbc_values import JdbcColumn, JdbcKey, columns_of, key_sql

_FETCHED_KEYS = 1_000
#: A name that needs no quotes, where a database knows none.
_PLAIN_NAME = re.compile(r"[^\W\d]\w*")


class OtherReadDialect(ReadDialect):
    kind: ClassVar[str] = "jdbc"

    #: Known once the columns are.
    _key_column: JdbcKey | None = None
    _key_sql = BOUND
    _fetched = 1
    #: Known once a session is open; empty where the database knows no quotes.
    _quote = '"'

    @contextmanager
    def cursor(self) -> Iterator[_Cursor]:
        session = jdbc_open(self.settings, self.limits)
        try:
            with sql_told(self._act):
                self._quote = str(session.getMetaData().getIdentifierQuoteString() or "").strip()
                yield _Cursor(session, self.seconds)
        finally:
            jdbc_close(session)

    def columns(self, cursor: Any) -> list[ReadColumn]:
        with self._told_of_capitals(cursor), cursor.results(f"SELECT * FROM {self.relation} WHERE 1 = 0") as results:
            found = columns_of(results.getMetaData())
        self._fetched = fetched_first(sum(column.longest for column in found))
        for column in found:
            if column.name == self.config.key_column:
                self._key_column, self._key_sql = column.key, key_sql(column, cursor.product)
        return [self._column(column) for column in found]

    def _column(self, column: JdbcColumn) -> ReadColumn:
        is_parsed = column.spark_type in ("date", "timestamp")
        return ReadColumn(column.name, column.spark_type, self.quoted(column.name), _parsed if is_parsed else None)

    def run(self, cursor: Any, statement: str, values: tuple[Any, ...] = ()) -> None:
        with self._results(cursor, statement, values, most=1) as results:
            cursor.keep(results)

    def rows(self, cursor: Any, statement: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
        with self._results(cursor, statement, values, fetched=self._fetched) as results:
            takers = [(column.taken, place) for place, column in enumerate(columns_of(results.getMetaData()), start=1)]
            found = (tuple(take(results, place) for take, place in takers) for _ in iter(results.next, False))
            yield from fetched_ahead(found, partial(_fetch, results), self._fetched)

    def key_shown(self) -> str:
        return self.key

    def key_bound(self) -> str:
        return self._key_sql

    def key_has_empty_values(self, cursor: Any) -> bool:
        with cursor.results(f"SELECT {self.key} FROM {self.relation} WHERE {self.key} IS NULL", most=1) as results:
            return bool(results.next())

    def last_key(self, cursor: Any) -> Any:
        return self._largest(cursor, Chunk())

    def chunk_end(self, cursor: Any, chunk: Chunk, rows: int) -> Any:
        with self._keys(cursor, chunk, most=rows) as results:
            if all(results.next() for _ in range(rows)):
                return self._shown(results)
        return self._largest(cursor, chunk)

    def split(self, cursor: Any, chunk: Chunk, rows: int, parts: int) -> list[Chunk]:
        if parts <= 1 or rows <= 1:
            return [chunk]
        step = -(-rows // parts)
        ends: dict[Any, None] = {}
        with self._keys(cursor, chunk, most=rows - 1) as results:
            place = 0
            while results.next():
                place += 1
                if place % step == 0:
                    ends[self._shown(results)] = None
        ends.pop(chunk.upto, None)
        return [Chunk(after, upto) for after, upto in zip([chunk.after, *ends], [*ends, chunk.upto], strict=True)]

    @property
    def relation(self) -> str:
        """Without AS, which Oracle does not want here."""
        if self.config.query.strip():
            return f"{self.query_enclosed} queried"
        return super().relation

    def quoted(self, name: str) -> str:
        if self._quote:
            return self._quote + name.replace(self._quote, self._quote * 2) + self._quote
        if not _PLAIN_NAME.fullmatch(name):
            message = f'{self._act}: this database takes no name like "{name}"; write a query that gives it another'
            raise NodeError(message, permanent=True, kind="user", field="query")
        return name

    def _largest(self, cursor: Any, chunk: Chunk) -> Any:
        where, values = self._where(chunk)
        with self._results(cursor, f"SELECT max({self.key}) FROM {self.relation}{where}", values) as results:
            return self._shown(results) if results.next() else None

    def _keys(self, cursor: Any, chunk: Chunk, *, most: int) -> AbstractContextManager[Any]:
        """The first `most` keys of `chunk` in their order."""
        where, values = self._where(chunk)
        return self._results(cursor, f"SELECT {self.key} FROM {self.relation}{where} ORDER BY {self.key}", values, most=most)

    def _results(
        self, cursor: Any, statement: str, values: tuple[Any, ...] = (), *, most: int = 0, fetched: int = _FETCHED_KEYS
    ) -> AbstractContextManager[Any]:
        """What `statement` finds; each of `values`, which are keys, stands where BOUND does."""
        bound = tuple((self._key_column.bind, value) for value in values) if self._key_column else ()
        found: AbstractContextManager[Any] = cursor.results(statement.replace(BOUND, "?"), bound, most=most, fetched=fetched)
        return found

    def _shown(self, results: Any) -> Any:
        assert self._key_column is not None, "the columns were asked for"
        return finite_key(self.config.key_column, self._key_column.shown(results, 1))

    @contextmanager
    def _told_of_capitals(self, cursor: Any) -> Iterator[None]:
        """A name that was made without quotes is kept in capitals by some, and is not found by another."""
        try:
            with sql_told(self._act):
                yield
        except NodeError as error:
            table = self.config.table
            if not error.permanent or table == table.upper() or not cursor.keeps_capitals:
                raise
            raise reworded(error, f"{error.message}; this database keeps names in capitals: try {table.upper()}", "table") from error

    @property
    def _act(self) -> str:
        return f'reading from "{self.settings.name}"'


class _Cursor:
    """What one session finds; its statements are closed with it."""

    def __init__(self, session: Any, seconds: int) -> None:
        self._session = session
        self._seconds = seconds
        self._first: tuple[Any, ...] | None = None

    @property
    def keeps_capitals(self) -> bool:
        return bool(self._session.getMetaData().storesUpperCaseIdentifiers())

    @property
    def product(self) -> str:
        """What the database calls itself."""
        return str(self._session.getMetaData().getDatabaseProductName())

    @contextmanager
    def results(
        self, statement: str, bound: tuple[tuple[Any, Any], ...] = (), *, most: int = 0, fetched: int = _FETCHED_KEYS
    ) -> Iterator[Any]:
        """The `java.sql.ResultSet` of a SELECT, of at most `most` rows where it is given. `bound`: what binds, and the value."""
        with closing(self._session.prepareStatement(statement) if bound else self._session.createStatement()) as made:
            _fetch(made, fetched)
            _limit(made, self._seconds)
            if most:
                made.setMaxRows(most)
            for place, (bind, value) in enumerate(bound, start=1):
                bind(made, place, value)
            yield made.executeQuery() if bound else made.executeQuery(statement)

    def keep(self, results: Any) -> None:
        """The first row, of whole numbers."""
        width = int(results.getMetaData().getColumnCount())
        self._first = tuple(int(results.getLong(place)) for place in range(1, width + 1)) if results.next() else None

    def fetchone(self) -> tuple[Any, ...] | None:
        return self._first


def _fetch(asked: Any, rows: int) -> None:
    """So many rows at once, of a statement or of its result: a hint, which some drivers refuse at the one or the other."""
    import jpype

    with suppress(jpype.JException):
        asked.setFetchSize(rows)


def _limit(statement: Any, seconds: int) -> None:
    """What it may take; some drivers know no such thing."""
    import jpype

    with suppress(jpype.JException):
        statement.setQueryTimeout(seconds)


def _parsed(value: Any) -> Any:
    if isinstance(value, str):
        raise ValueError("neither a day nor a time")
    return value
