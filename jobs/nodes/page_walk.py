"""Walks the pages of an API in any style, and knows when they end, go round in circles or never end."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any, Protocol

from jobs.nodes.base import NodeError
from jobs.nodes.exact_json import exact_dumps
from jobs.nodes.http_answers import NotThere
from jobs.nodes.http_messages import JsonAnswer
from jobs.nodes.json_pointer import MISSING, pointed
from jobs.nodes.page_styles import (
    AHEAD,
    CHAINED,
    COUNTED,
    COUNTING,
    Page,
    PageKey,
    PageRequest,
    Paging,
    Place,
    circle_error,
    first_place,
    following_place,
    is_over,
    key_behind,
    keys_ahead,
    page_request,
    passed_over_error,
)

#: What one page is asked with → its answer.
Fetch = Callable[[PageRequest], JsonAnswer]


class KeptPages(Protocol):
    """Where pages stay that cannot be had again."""

    def page(self, key: PageKey) -> Page | None:
        """None when it was never kept, or is gone."""

    def keep(self, page: Page) -> None: ...


#: So many pages without a record, one after the other, each with another one behind it, are taken for a chain without end.
_MOST_EMPTY = 1000
#: An API that hands out what is there until that is gone may well hand out the same twice: so many same pages in a row repeat for ever.
_MOST_SAME = 20
#: A circle of at most so many pages is known at its first page, before any of them comes twice.
_RECENT = 64


@dataclass(frozen=True)
class Position:
    """Where a walk stands before its next page. Plain JSON both ways, so that it serves as an offset.

    `landmark` is what the walk met at page `landmark_page`, moved on at doubling distances: meeting it again is a circle (Brent 1980).
    `recent` are marks of the last cursors, for short circles; pages with the same records may come apart from each other.
    `now` is when the walk began, for requests that say so; `empty` counts the pages without records just before, `same` those that hold
    the same as the last. `by_hand`: a person chose the page, so that nobody knows how many `rows` lie before it.
    """

    page: int
    cursor: Place = None
    rows: int = 0
    total: int | None = None
    done: bool = False
    last: str = ""
    landmark: str = ""
    landmark_page: int = 0
    walked: int = 0
    batch: tuple[PageKey, ...] = field(default=())
    now: str = ""
    empty: int = 0
    same: int = 0
    recent: tuple[str, ...] = ()
    by_hand: bool = False

    def as_offset(self) -> dict[str, Any]:
        plain = {name: value for name, value in vars(self).items() if name != "batch" and value is not None}
        total, unit = (self.total, "rows") if self.total is not None else (None, "pages")
        progress = {"done": self.rows if unit == "rows" else self.walked, "total": total, "unit": unit}
        return plain | {"batch": [[key.page, key.cursor] for key in self.batch], "progress": progress}

    @classmethod
    def of_offset(cls, offset: dict[str, Any]) -> Position:
        plain = {name: value for name, value in offset.items() if name not in ("batch", "progress")}
        plain["recent"] = tuple(plain.get("recent", ()))
        return cls(**plain, batch=tuple(PageKey(*key) for key in offset["batch"]))


class PageWalk:
    """Reads pages through `fetch`. Raises NodeError when an answer is not what the paging says."""

    def __init__(self, paging: Paging, fetch: Fetch, close: Callable[[], None] = lambda: None, kept: KeptPages | None = None) -> None:
        self._paging = paging
        self._fetch = fetch
        self._kept = kept
        #: Let go of what it fetches with.
        self.close = close

    def start(self) -> Position:
        now = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        return Position(page=self._paging.first_page, cursor=first_place(self._paging), now=now)

    def read(self, key: PageKey, now: str = "") -> Page:
        """One page, asked for anew unless it was kept. One without records is not kept: later there may be more."""
        if self._kept is not None and (kept := self._kept.page(key)) is not None:
            return kept
        page = self._page(key, self._fetch(page_request(self._paging, key, now)))
        if self._kept is not None and page.records:
            self._kept.keep(page)
        return page

    def _looked_up(self, key: PageKey, now: str) -> Page:
        """One page of those whose places are known before; some APIs have none behind the last, where others have empty ones."""
        try:
            return self.read(key, now)
        except NotThere:
            if self._paging.style not in AHEAD or key.page == self._paging.first_page:
                raise
            return Page(key, (), "", keys_ahead(self._paging, key, 2)[1].cursor, is_missing=True)

    def _check_ended(self, position: Position, key: PageKey, ahead: Iterator[Page]) -> None:
        """That `key` is behind the last page: the API itself is there, and has none at `key` still nor behind it, as far as is known.

        Else its NodeError, or ours. `ahead`: pages behind `key` that may have been fetched already.
        """
        first = self.read(PageKey(self._paging.first_page, first_place(self._paging)), position.now)
        if not self._looked_up(key, position.now).is_missing:
            raise NodeError(f"page {key.page} was missing, and is there again: whether the pages end there is not sure; it is tried again")
        total = first.total if first.total is not None else position.total
        if total is not None and position.rows < total and not position.by_hand:
            raise NodeError(
                f"page {key.page} is missing, but the API counts {total:,} records, of which {position.rows:,} came; it is tried again"
            )
        asked_anew = (self._looked_up(one, position.now) for one in [key_behind(self._paging, key, position.rows, position.walked)])
        for page in chain(asked_anew, islice(ahead, self._paging.at_once - 1)):
            if page.records:
                raise NodeError(f"page {key.page} is missing, but page {page.key.page} behind it is there; it is tried again")

    def _check_passed_over(self, position: Position, page: Page) -> None:
        """That `${offset}`, which takes every page for full, left out no records of an API that gives fewer than it is asked for.

        Else the page would not be the same at the offset of the records that were read.
        """
        paging, passed = self._paging, position.walked * self._paging.page_size
        if paging.style != "page" or "offset" not in paging.asks or position.rows >= passed:
            return
        if not page.records and position.walked > 1 and passed - position.rows < paging.page_size:
            return  # the last page alone was short, as it may be; records that came since are no fault
        offset = (page.key.page - paging.first_page) * paging.page_size - passed + position.rows
        if self._looked_up(PageKey(page.key.page, offset), position.now).records != page.records:
            raise passed_over_error(page, passed, position.rows)

    def batch(self, start: Position, pages: int) -> tuple[list[Page], Position]:
        """The next pages, at most `pages`, and the position behind them; the same position when there are none."""
        if start.done:
            return [], start
        position = replace(start, batch=())
        taken: list[Page] = []
        # Closed here: threads that the garbage collector has to end hang whoever it runs in, if that is a thread at its beginning.
        with closing(self._following(start, pages)) as coming:
            for page in coming:
                self._check_passed_over(position, page)
                if not page.records and self._paging.style not in CHAINED:
                    if page.is_missing:
                        self._check_ended(position, page.key, coming)
                    position = replace(position, done=True)
                    break
                position = self._advanced(position, page)
                taken.append(page)
                if position.done:
                    break
        if not any(page.records for page in taken) and position.done:
            return [], start
        return taken, position

    def _following(self, start: Position, pages: int) -> Generator[Page]:
        """Several at once where their places are known before, one after the other where each tells the next."""
        key = PageKey(start.page, start.cursor)
        with ExitStack() as fetching:
            ahead: Iterator[Page] | None = None
            if self._paging.style in AHEAD and min(pages, self._paging.at_once) > 1:
                ahead = fetching.enter_context(closing(self._ahead(key, pages, start.now)))
            for _ in range(pages):
                page = next(ahead) if ahead is not None else self._looked_up(key, start.now)
                if page.key != key:  # the page before was shorter than asked for, so that all behind it are elsewhere
                    fetching.close()
                    ahead = None
                    page = self._looked_up(key, start.now)
                yield page
                key = PageKey(key.page + 1, page.following)

    def _ahead(self, start: PageKey, pages: int, now: str) -> Generator[Page]:
        with ThreadPoolExecutor(max_workers=min(pages, self._paging.at_once)) as pool:
            coming = [pool.submit(self._looked_up, key, now) for key in keys_ahead(self._paging, start, pages)]
            try:
                for page in coming:
                    yield page.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def _advanced(self, position: Position, page: Page) -> Position:
        paging = self._paging
        met = page.digest if paging.style in COUNTED else str(page.following or "")
        mark = "" if paging.style in COUNTED else hashlib.blake2b(met.encode(), digest_size=6).hexdigest()
        same = position.same + 1 if met == position.last else 1
        if self._goes_round(position, met, mark, same):
            raise circle_error(paging, page, position.walked)
        rows = position.rows + len(page.records)
        total = page.total if page.total is not None else position.total
        moved = replace(
            position,
            last=met,
            recent=(*position.recent, mark)[-_RECENT:] if mark else (),
            page=page.key.page + 1,
            cursor=page.following,
            rows=rows,
            total=total,
            done=is_over(paging, page, rows, total),
            walked=position.walked + 1,
            batch=(*position.batch, page.key),
            empty=0 if page.records else position.empty + 1,
            same=same,
        )
        self._check_end(moved)
        if moved.walked >= 2 * position.landmark_page:
            return replace(moved, landmark=met, landmark_page=max(moved.walked, 1))
        return moved

    def _goes_round(self, position: Position, met: str, mark: str, same: int) -> bool:
        """Whether the walk is where it was before. Pages that are asked for in the same way differ by what they hold alone."""
        if self._paging.style == "until_empty" and self._paging.asks.isdisjoint(COUNTING):
            return same >= _MOST_SAME
        return self._paging.style != "none" and bool(met) and (met in (position.landmark, position.last) or mark in position.recent)

    def _check_end(self, position: Position) -> None:
        if position.done:
            return
        if position.empty >= _MOST_EMPTY:
            raise NodeError(
                f"{_MOST_EMPTY} pages in a row hold no records, and each says that there are more: the API does not end; "
                "check records pointer and paging",
                permanent=True,
            )
        if position.walked >= self._paging.most_pages:
            raise NodeError(
                f"after {position.walked:,} pages there are still more; raise the limit of pages if that is meant, else check the paging",
                permanent=True,
                kind="user",
                field="most_pages",
            )

    def _page(self, key: PageKey, answer: JsonAnswer) -> Page:
        found = [] if answer.document is MISSING else pointed(answer.document, self._paging.records_pointer)
        if not isinstance(found, list):
            text = _no_records(answer.document, found, self._paging.records_pointer)
            raise NodeError(text, permanent=True, kind="user", field="records_pointer")
        records = tuple(exact_dumps(record) for record in found)
        digest = hashlib.sha256("\n".join(records).encode("utf-8", "surrogatepass")).hexdigest()[:32]
        total = pointed(answer.document, self._paging.total_pointer) if self._paging.total_pointer else MISSING
        return Page(key, records, digest, following_place(self._paging, key, len(records), answer), _whole_number(total))


def _no_records(answer: Any, found: Any, pointer: str) -> str:
    if found is not MISSING:
        return f'what stands at "{pointer}" is no list of records; correct the records pointer'
    holds = f"the page holds {', '.join(map(str, list(answer)[:10]))}" if isinstance(answer, dict) else "the page is no object"
    return f'the page has nothing at "{pointer}": {holds}; correct the records pointer'


def _whole_number(value: Any) -> int | None:
    return int(value) if isinstance(value, int | str) and str(value).isdigit() else None
