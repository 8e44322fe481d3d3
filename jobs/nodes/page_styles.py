"""How APIs divide their records into pages: what to ask for next in each style, and when it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import parse_qs

from jobs.nodes.base import NodeError
from jobs.nodes.exact_json import exact_dumps, is_kept
from jobs.nodes.http_messages import JsonAnswer
from jobs.nodes.json_pointer import MISSING, pointed
from jobs.nodes.places import place_names, text_filled, values_as_text

Style = Literal["page", "offset", "cursor", "next_link", "link_header", "until_empty", "none"]
#: They end with the first empty page, and repeat themselves when the records are the same again.
COUNTED = frozenset({"page", "offset", "until_empty"})
#: Places in a request that make it another for each page, where pages are counted.
COUNTING = ("offset", "page", "cursor")
#: Each page says where the next one is; pages may be empty on the way.
CHAINED = frozenset({"cursor", "next_link", "link_header"})
#: Pages that can be asked for before those in front of them are there.
AHEAD = frozenset({"page", "offset"})

#: Where a page is: an API's cursor, a page's address, or the number of records before it; None at the first or where none is needed.
Place = str | int | None


@dataclass(frozen=True)
class Paging:
    """How an API divides its records; see the node's form for what each means."""

    style: Style
    page_size: int
    page_size_parameter: str
    page_parameter: str
    first_page: int
    cursor_parameter: str
    cursor_pointer: str
    records_pointer: str
    total_pointer: str
    parameters: tuple[tuple[str, str], ...] = ()
    offset_parameter: str = "offset"
    first_offset: int = 0
    link_pointer: str = "/next"
    at_once: int = 8
    most_pages: int = 1_000_000
    #: Those of the places `${page}`, `${offset}` and the like that stand in the request.
    asks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class PageKey:
    """Enough to fetch a page again. `page` numbers them; `cursor` is its place."""

    page: int
    cursor: Place = None


@dataclass(frozen=True)
class Page:
    """`records` are JSON texts; `digest` is of their content; `following` the next page's place. `is_missing`: the API has none there."""

    key: PageKey
    records: tuple[str, ...]
    digest: str
    following: Place = None
    total: int | None = None
    is_missing: bool = False


@dataclass(frozen=True)
class PageRequest:
    """`link`: the page's address as the API gave it; `values`: what `${name}` places stand for, None for what is not there yet."""

    parameters: tuple[tuple[str, str], ...]
    values: Mapping[str, Any] = field(default_factory=dict)
    link: str | None = None


def first_place(paging: Paging) -> Place:
    return {"offset": paging.first_offset, "until_empty": 0}.get(paging.style)


def page_request(paging: Paging, key: PageKey, now: str) -> PageRequest:
    """What asks for the page at `key`. Parameters without a name are left out: then a place in path or body says it."""
    values = {"cursor": key.cursor, "page": key.page, "offset": _offset(paging, key), "page_size": paging.page_size, "now": now}
    if paging.style in ("next_link", "link_header"):
        values["cursor"] = None
        if key.cursor is not None:
            return PageRequest((), values, str(key.cursor))
    own: dict[str, str] = {}
    if paging.style != "none":
        own |= _named(paging.page_size_parameter, paging.page_size)
    if paging.style == "page":
        own |= _named(paging.page_parameter, key.page)
    elif paging.style == "offset":
        own |= _named(paging.offset_parameter, key.cursor)
    elif paging.style == "cursor" and key.cursor is not None:
        own |= _named(paging.cursor_parameter, key.cursor)
    filled = ((name, _filled(value, values)) for name, value in paging.parameters if name not in own)
    return PageRequest((*((name, value) for name, value in filled if value is not None), *own.items()), values)


def following_place(paging: Paging, key: PageKey, records: int, answer: JsonAnswer) -> Place:
    """Where the page behind `key` is; None for a chain's end and where places are not needed.

    At its end a chain may stay where it is, so that records which come later are found there.
    """
    if paging.style in ("offset", "until_empty"):
        return int(key.cursor or 0) + records
    place = _place_told(paging, answer)
    return None if place == key.cursor and not records else place


def keys_ahead(paging: Paging, start: PageKey, pages: int) -> list[PageKey]:
    """Where the next `pages` will be, if each page before them is full."""
    if paging.style == "offset":
        return [PageKey(start.page + ahead, int(start.cursor or 0) + ahead * paging.page_size) for ahead in range(pages)]
    return [PageKey(start.page + ahead) for ahead in range(pages)]


def key_behind(paging: Paging, key: PageKey, rows: int, pages: int) -> PageKey:
    """Where the page behind the one at `key` would be, by what the pages before it held, for an API may give fewer than it is asked for."""
    if paging.style == "offset":
        usual = -(-rows // pages) if rows and pages else paging.page_size
        return PageKey(key.page + 1, int(key.cursor or 0) + min(usual, paging.page_size))
    return PageKey(key.page + 1)


def is_over(paging: Paging, page: Page, rows: int, total: int | None) -> bool:
    """Whether nothing comes behind a page that was not empty."""
    if paging.style in CHAINED:
        return page.following is None
    return paging.style == "none" or (paging.style in AHEAD and total is not None and rows >= total)


def circle_error(paging: Paging, page: Page, walked: int) -> NodeError:
    """The API is where it was before, `walked` pages behind the beginning."""
    if paging.style in COUNTED:
        return _repeated(paging, page, walked)
    if paging.style == "cursor":
        text = (
            f'page {page.key.page} gives the cursor "{str(page.following)[:60]}" that came before: the API goes round in circles; '
            "check cursor parameter and pointer"
        )
    else:
        text = f"page {page.key.page} links to a page that came before: the API goes round in circles; check its links"
    return NodeError(text, permanent=True)


def _repeated(paging: Paging, page: Page, walked: int) -> NodeError:
    """Records came again: what asks for others is not heeded, or there is one page alone, with all of them."""
    number, (field, check) = page.key.page, _to_check(paging)
    text = f"page {number} holds the same records as a page before it: the API repeats itself; {check}"
    if walked == 1:
        text = (
            f"page {number} holds the same records as the first: the API repeats itself; {check}, or choose paging none if it has one page"
        )
    return NodeError(text, permanent=True, kind="user", field=field)


def _to_check(paging: Paging) -> tuple[str, str]:
    """What says which page is asked for: its field, and what to do about it."""
    if place := next((name for name in COUNTING if name in paging.asks), ""):
        return "paging", f"check whether it takes ${{{place}}} where that stands in the request"
    if paging.style == "page":
        return "page_parameter", f'check whether "{paging.page_parameter}" is its page parameter'
    if paging.style == "offset":
        return "offset_parameter", f'check whether "{paging.offset_parameter}" is its offset parameter'
    return "paging", "check whether each request asks for others"


def passed_over_error(page: Page, passed: int, rows: int) -> NodeError:
    return NodeError(
        f"${{offset}} of page {page.key.page} counts {passed:,} records in the pages read before it, but these hold {rows:,}: "
        "what lies between would be missing; choose paging by offset",
        permanent=True,
        kind="user",
        field="paging",
    )


def _offset(paging: Paging, key: PageKey) -> int | None:
    if paging.style == "page" and key.cursor is None:
        return (key.page - paging.first_page) * paging.page_size
    return int(key.cursor or 0) if paging.style in COUNTED else None


def _filled(value: str, values: Mapping[str, Any]) -> str | None:
    """None for a parameter that is nothing but a value that is not there yet."""
    names = place_names(value)
    if len(names) == 1 and value == f"${{{names[0]}}}" and values.get(names[0], "") is None:
        return None
    return text_filled(value, values_as_text(values))


def _named(parameter: str, value: Any) -> dict[str, str]:
    return {parameter: str(value)} if parameter else {}


def _place_told(paging: Paging, answer: JsonAnswer) -> Place:
    """What an answer says of the page behind it; None where it has nothing to say."""
    if paging.style == "cursor":
        return _next_cursor(paging, answer.document)
    if paging.style == "next_link":
        found = _scalar(pointed(answer.document, paging.link_pointer), paging.link_pointer, "address")
        return None if found is None else answer.linked(str(found))
    return answer.next_link if paging.style == "link_header" else None


def _next_cursor(paging: Paging, answer: Any) -> Place:
    """A cursor, or the address of the next page with the cursor in it. A cursor may itself begin as a relative address does."""
    found = _scalar(pointed(answer, paging.cursor_pointer), paging.cursor_pointer, "cursor")
    if not isinstance(found, str) or not paging.cursor_parameter or not found.startswith(("http://", "https://", "/", "?")):
        return found
    query = found.partition("?")[2].partition("#")[0]
    if given := parse_qs(query).get(paging.cursor_parameter):
        return given[0]
    if not found.startswith("http"):
        return found
    raise NodeError(
        f"the next page's address has no parameter {paging.cursor_parameter}; correct the cursor parameter",
        permanent=True,
        kind="user",
        field="cursor_parameter",
    )


def _scalar(found: Any, pointer: str, what: str) -> Place:
    if found is MISSING or found in (None, "", False):
        return None
    if isinstance(found, dict | list):
        raise NodeError(f"what stands at {pointer} is no {what}; correct the pointer", permanent=True, kind="user")
    return found if type(found) is int else found if isinstance(found, str) and not is_kept(found) else exact_dumps(found)
