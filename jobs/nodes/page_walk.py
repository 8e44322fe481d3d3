"""Walks the pages of an API, by number or by cursor, and knows when they end or go round in circles."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, Literal
from urllib.parse import parse_qs, urlsplit

from jobs.nodes.base import NodeError
from jobs.nodes.json_pointer import MISSING, pointed

#: Parameters of one request → the JSON of its answer.
Fetch = Callable[[dict[str, str]], Any]


@dataclass(frozen=True)
class Paging:
    """How an API divides its records; see the node's form for what each means."""

    style: Literal["page", "cursor", "none"]
    page_size: int
    page_size_parameter: str
    page_parameter: str
    first_page: int
    cursor_parameter: str
    cursor_pointer: str
    records_pointer: str
    total_pointer: str
    parameters: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class PageKey:
    """Enough to fetch a page again."""

    page: int
    cursor: str | None = None


@dataclass(frozen=True)
class Page:
    """`records` are JSON texts; `digest` is of their content; `following` the next cursor."""

    key: PageKey
    records: tuple[str, ...]
    digest: str
    following: str | None = None
    total: int | None = None


@dataclass(frozen=True)
class Position:
    """Where a walk stands before its next page. Plain JSON both ways, so that it serves as an offset.

    `landmark` is what the walk met at page `landmark_page`, moved on at doubling distances: meeting it again is a circle (Brent 1980).
    """

    page: int
    cursor: str | None = None
    rows: int = 0
    total: int | None = None
    done: bool = False
    last: str = ""
    landmark: str = ""
    landmark_page: int = 0
    walked: int = 0
    batch: tuple[PageKey, ...] = field(default=())

    def as_offset(self) -> dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if name != "batch" and value is not None}
        total, unit = (self.total, "rows") if self.total is not None else (None, "pages")
        progress = {"done": self.rows if unit == "rows" else self.walked, "total": total, "unit": unit}
        return plain | {"batch": [[key.page, key.cursor] for key in self.batch], "progress": progress}

    @classmethod
    def of_offset(cls, offset: dict[str, Any]) -> Position:
        plain = {name: value for name, value in offset.items() if name not in ("batch", "progress")}
        return cls(**plain, batch=tuple(PageKey(*key) for key in offset["batch"]))


class PageWalk:
    """Reads pages through `fetch`. Raises NodeError when an answer is not what the paging says."""

    def __init__(self, paging: Paging, fetch: Fetch) -> None:
        self._paging = paging
        self._fetch = fetch

    def start(self) -> Position:
        return Position(page=self._paging.first_page)

    def read(self, key: PageKey) -> Page:
        """One page, asked for anew."""
        paging = self._paging
        parameters = dict(paging.parameters)
        if paging.page_size_parameter and paging.style != "none":
            parameters[paging.page_size_parameter] = str(paging.page_size)
        if paging.style == "page":
            parameters[paging.page_parameter] = str(key.page)
        elif key.cursor is not None:
            parameters[paging.cursor_parameter] = key.cursor
        return self._page(key, self._fetch(parameters))

    def batch(self, start: Position, pages: int) -> tuple[list[Page], Position]:
        """The next pages, at most `pages`, and the position behind them; the same position when there are none."""
        if start.done:
            return [], start
        position = replace(start, batch=())
        taken: list[Page] = []
        for page in self._following(start, pages):
            if not page.records and self._paging.style != "cursor":
                position = replace(position, done=True)
                break
            position = self._advanced(position, page)
            taken.append(page)
            if position.done:
                break
        if not any(page.records for page in taken) and position.done:
            return [], start
        return taken, position

    def _following(self, start: Position, pages: int) -> Iterator[Page]:
        """By number all at once, by cursor one after the other."""
        if self._paging.style == "page" and pages > 1:
            keys = [PageKey(start.page + ahead) for ahead in range(pages)]
            with ThreadPoolExecutor(max_workers=min(pages, 8)) as pool:
                yield from pool.map(self.read, keys)
            return
        key = PageKey(start.page, start.cursor)
        for _ in range(pages):
            page = self.read(key)
            yield page
            key = PageKey(key.page + 1, page.following)

    def _advanced(self, position: Position, page: Page) -> Position:
        style = self._paging.style
        met = page.digest if style == "page" else (page.following or "")
        if style != "none" and met and met in (position.landmark, position.last):
            raise self._circle(page)
        rows = position.rows + len(page.records)
        total = page.total if page.total is not None else position.total
        done = (
            style == "none" or (style == "cursor" and page.following is None) or (style == "page" and total is not None and rows >= total)
        )
        walked = position.walked + 1
        moved = replace(
            position,
            last=met,
            page=page.key.page + 1,
            cursor=page.following,
            rows=rows,
            total=total,
            done=done,
            walked=walked,
            batch=(*position.batch, page.key),
        )
        if walked >= 2 * position.landmark_page:
            return replace(moved, landmark=met, landmark_page=max(walked, 1))
        return moved

    def _circle(self, page: Page) -> NodeError:
        if self._paging.style == "cursor":
            return NodeError(
                f'page {page.key.page} gives the cursor "{(page.following or "")[:60]}" that came before: the API goes round in circles; '
                "check cursor parameter and pointer",
                permanent=True,
            )
        return NodeError(
            f"page {page.key.page} holds the same records as a page before it: the API repeats itself; "
            f'check whether "{self._paging.page_parameter}" is its page parameter',
            permanent=True,
        )

    def _page(self, key: PageKey, answer: Any) -> Page:
        found = pointed(answer, self._paging.records_pointer)
        if not isinstance(found, list):
            raise NodeError(_no_records(answer, found, self._paging.records_pointer), permanent=True, kind="user", field="records_pointer")
        records = tuple(json.dumps(record, ensure_ascii=False) for record in found)
        digest = hashlib.sha256("\n".join(records).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        total = pointed(answer, self._paging.total_pointer) if self._paging.total_pointer else MISSING
        return Page(key, records, digest, self._next_cursor(answer), _whole_number(total))

    def _next_cursor(self, answer: Any) -> str | None:
        """A cursor, or the address of the next page with the cursor in it."""
        if self._paging.style != "cursor":
            return None
        found = pointed(answer, self._paging.cursor_pointer)
        if found is MISSING or found in (None, "", False):
            return None
        if isinstance(found, dict | list):
            raise NodeError(f"what stands at {self._paging.cursor_pointer} is no cursor; correct the pointer", permanent=True, kind="user")
        text = str(found)
        if text.startswith(("http://", "https://", "/", "?")):
            given = parse_qs(urlsplit(text).query).get(self._paging.cursor_parameter)
            if not given:
                raise NodeError(
                    f"the next page's address has no parameter {self._paging.cursor_parameter}; correct the cursor parameter",
                    permanent=True,
                    kind="user",
                    field="cursor_parameter",
                )
            return given[0]
        return text


def _no_records(answer: Any, found: Any, pointer: str) -> str:
    if found is not MISSING:
        return f'what stands at "{pointer}" is no list of records; correct the records pointer'
    holds = f"the page holds {', '.join(map(str, list(answer)[:10]))}" if isinstance(answer, dict) else "the page is no object"
    return f'the page has nothing at "{pointer}": {holds}; correct the records pointer'


def _whole_number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else None
