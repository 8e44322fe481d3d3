"""From rows to the requests that send them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import quote

from jobs.nodes.base import NodeError
from jobs.nodes.http_messages import HttpRequest
from jobs.nodes.places import JsonTemplate, path_filled, place_names, text_filled, text_of

#: A longer key becomes its hash; servers commonly take 255 characters.
_LONGEST_KEY = 200
#: Servers commonly refuse longer addresses.
_LONGEST_ADDRESS = 8000
#: Of a JSON text these are between its values only; others, such as U+2028, stand within texts as they are.
_LINE_BREAKS = re.compile(r"[\r\n]+")


@dataclass(frozen=True)
class Row:
    """`text`: the whole row as JSON; `columns`: JSON texts of the columns that templates and keys name; `place`: unique in its batch.

    `kept`: its text where it goes on when it is rejected.
    """

    text: str
    columns: Mapping[str, str]
    place: str
    kept: str = ""


class NamedText(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> str: ...


class RequestForm(Protocol):
    """What is sent for a row: `${column}` in path, parameters, headers and body stands for its value."""

    @property
    def method(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def parameters(self) -> Sequence[NamedText]: ...
    @property
    def headers(self) -> Sequence[NamedText]: ...
    @property
    def body(self) -> str: ...
    @property
    def rows_per_request(self) -> int: ...
    @property
    def many_rows_as(self) -> str: ...
    @property
    def keys(self) -> Sequence[str]: ...
    @property
    def idempotency_header(self) -> str: ...


class Unfit(Exception):
    """No request can be made of these rows, and why."""


class Requests:
    """Makes the requests of one batch. `identity` is of the node, `batch` of the run's generation and the batch."""

    def __init__(self, config: RequestForm, *, identity: str, batch: str) -> None:
        self._config = config
        self._identity = identity
        self._batch = batch
        self._body = JsonTemplate(config.body) if config.body else None
        self._in_path = place_names(config.path)

    def of(self, rows: Sequence[Row]) -> HttpRequest:
        """The request that sends `rows`, one unless several go together. Unfit where a column's value stands in the way."""
        config = self._config
        several = config.rows_per_request > 1
        return HttpRequest(
            path=self._path(rows[0]),
            parameters=self._parameters(rows[0]),
            method=config.method,
            body=self._many(rows) if several else self._one(rows[0]),
            headers=self._headers(rows),
            content_type="application/x-ndjson" if several and config.many_rows_as == "lines" else "application/json",
        )

    def _path(self, row: Row) -> str:
        for name in self._in_path:
            if not text_of(row.columns[name]):
                raise Unfit(f"the column {name} is empty, so that the path is not complete")
        try:
            path = path_filled(self._config.path, _text_in(row))
        except NodeError as error:
            raise Unfit(error.message) from None
        if len(path) > _LONGEST_ADDRESS:
            raise Unfit(f"the path has {len(path):,} characters; {_LONGEST_ADDRESS:,} is the most")
        return path

    def _parameters(self, row: Row) -> tuple[tuple[str, str], ...]:
        filled = tuple((pair.name, text_filled(pair.value, _text_in(row))) for pair in self._config.parameters)
        if sum(len(value) for _, value in filled) > _LONGEST_ADDRESS:
            raise Unfit(f"the parameters have more than {_LONGEST_ADDRESS:,} characters")
        return filled

    def _headers(self, rows: Sequence[Row]) -> dict[str, str]:
        headers = {pair.name: text_filled(pair.value, _text_in(rows[0])).strip() for pair in self._config.headers}
        for name, value in headers.items():
            if not (value.isascii() and value.isprintable() and len(value) <= _LONGEST_ADDRESS):
                raise Unfit(f"the header {name} cannot hold this value: {value[:100]!r}")
        if self._config.idempotency_header:
            headers[self._config.idempotency_header] = self._key(rows)
        return headers

    def _one(self, row: Row) -> str | None:
        if self._body is not None:
            return self._body.filled(row.columns.__getitem__)
        return None if self._config.method == "DELETE" else row.text

    def _many(self, rows: Sequence[Row]) -> str:
        texts = [self._body.filled(row.columns.__getitem__) if self._body is not None else row.text for row in rows]
        if self._config.many_rows_as == "array":
            return f"[{','.join(texts)}]"
        return "".join(_LINE_BREAKS.sub(" ", text.strip("\r\n")) + "\n" for text in texts)

    def _key(self, rows: Sequence[Row]) -> str:
        """Of the node and the rows' keys, whatever run they are in; without key columns of the run, the batch and their place."""
        if self._config.keys:
            told = ";".join("/".join(_escaped(row.columns[name]) for name in self._config.keys) for row in rows)
        else:
            told = f"{self._batch}/{rows[0].place}" + (f"+{len(rows)}" if len(rows) > 1 else "")
        if len(told) > _LONGEST_KEY:
            told = hashlib.sha256(told.encode()).hexdigest()
        return f"{self._identity}/{told}"


def _text_in(row: Row) -> Callable[[str], str]:
    return lambda name: text_of(row.columns[name])


def _escaped(json_text: str) -> str:
    """No two values look the same, null and nothing neither."""
    return "%00" if json_text == "null" else quote(text_of(json_text), safe="")
