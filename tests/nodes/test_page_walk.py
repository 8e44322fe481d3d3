"""Walking pages: by number and cursor, to the end and never in circles."""

import json
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.nodes.base import NodeError
from jobs.nodes.http_messages import JsonAnswer
from jobs.nodes.page_styles import Paging
from jobs.nodes.page_walk import PageWalk, Position

Fetch = Callable[[dict[str, str]], Any]


def paging(style: Any = "page", **given: Any) -> Paging:
    defaults: dict[str, Any] = {
        "style": style,
        "page_size": 2,
        "page_size_parameter": "size",
        "page_parameter": "page",
        "first_page": 1,
        "cursor_parameter": "cursor",
        "cursor_pointer": "/next",
        "records_pointer": "/items",
        "total_pointer": "",
    }
    return Paging(**(defaults | given))


def numbers(count: int, size: int = 2) -> Fetch:
    """An API of `count` numbers by page."""
    return lambda parameters: {
        "items": list(range(count))[(int(parameters["page"]) - 1) * size : int(parameters["page"]) * size],
        "total": count,
    }


def walk_over(paging: Paging, fetch: Fetch) -> PageWalk:
    return PageWalk(paging, lambda request: JsonAnswer(fetch(dict(request.parameters))))


def everything(walk: PageWalk, pages: int) -> list[Any]:
    """All records, each offset carried through JSON as Spark does it."""
    found: list[Any] = []
    position = walk.start()
    while True:
        batch, following = walk.batch(Position.of_offset(json.loads(json.dumps(position.as_offset()))), pages)
        if following == position:
            return found
        found += [json.loads(record) for page in batch for record in page.records]
        position = following


@given(count=st.integers(0, 25), pages=st.integers(1, 7), total=st.booleans())
def test_every_record_is_read_once_whatever_the_batch(count: int, pages: int, total: bool):
    walk = walk_over(paging(total_pointer="/total" if total else ""), numbers(count))
    assert everything(walk, pages) == list(range(count))


@given(count=st.integers(0, 25), pages=st.integers(1, 7))
def test_a_cursor_is_followed_to_its_end(count: int, pages: int):
    def fetch(parameters: dict[str, str]) -> Any:
        first = int(parameters.get("cursor", "0"))
        return {"items": list(range(first, min(first + 2, count))), "next": str(first + 2) if first + 2 < count else None}

    assert everything(walk_over(paging("cursor"), fetch), pages) == list(range(count))


def test_a_total_saves_the_request_behind_the_last_page():
    asked: list[str] = []

    def fetch(parameters: dict[str, str]) -> Any:
        asked.append(parameters["page"])
        return numbers(4)(parameters)

    everything(walk_over(paging(total_pointer="/total"), fetch), 1)
    assert asked == ["1", "2"]


@pytest.mark.parametrize("repeating_from", [1, 2, 3, 5])
def test_an_api_that_answers_its_last_page_for_ever_is_noticed_at_once(repeating_from: int):
    walk = walk_over(paging(), lambda parameters: {"items": [min(int(parameters["page"]), repeating_from)]})
    position = walk.start()
    for _ in range(repeating_from):
        _, position = walk.batch(position, 1)
    with pytest.raises(NodeError, match=f"page {repeating_from + 1} holds the same records as .*: the API repeats itself") as caught:
        walk.batch(position, 1)
    assert caught.value.permanent


def test_a_walk_that_fails_leaves_no_thread_behind_that_fetches_ahead():
    before = set(threading.enumerate())
    walk = walk_over(paging(at_once=3), lambda parameters: {"items": [1]})
    with pytest.raises(NodeError, match="holds the same records") as kept:
        walk.batch(walk.start(), 5)
    assert kept.value.__traceback__ is not None
    assert set(threading.enumerate()) == before


@pytest.mark.parametrize("length", [1, 2, 3, 7, 60, 200])
def test_cursors_that_go_in_circles_are_noticed(length: int):
    seen = 0

    def fetch(parameters: dict[str, str]) -> Any:
        nonlocal seen
        seen += 1
        return {"items": [seen], "next": f"c{(int(parameters.get('cursor', 'c0')[1:]) + 1) % length}"}

    with pytest.raises(NodeError, match="goes round in circles"):
        everything(walk_over(paging("cursor"), fetch), 1)
    assert seen == length + 1 if length <= 60 else seen <= 4 * length + 2


def test_a_circle_is_noticed_by_what_an_older_position_kept():
    older = Position(3, "c3", last="c3", landmark="c2", landmark_page=2, walked=2).as_offset()
    del older["recent"]
    walk = walk_over(paging("cursor"), lambda parameters: {"items": [1], "next": "c2"})
    with pytest.raises(NodeError, match="goes round in circles"):
        walk.batch(Position.of_offset(older), 1)


def test_pages_that_hold_the_same_records_without_a_circle_are_read_on():
    pages = {"1": [1], "2": [2], "3": [1]}
    walk = walk_over(paging(page_size=1), lambda parameters: {"items": pages.get(parameters["page"], [])})
    assert everything(walk, 1) == [1, 2, 1]


@pytest.mark.parametrize("address", ["https://api.example/items?size=2&cursor=a%20b", "/items?cursor=a%20b#top", "?cursor=a%20b"])
def test_the_next_pages_address_may_stand_for_its_cursor(address: str):
    def fetch(parameters: dict[str, str]) -> Any:
        return {"items": [parameters.get("cursor")], "next": address if "cursor" not in parameters else None}

    assert everything(walk_over(paging("cursor"), fetch), 1) == [None, "a b"]


@pytest.mark.parametrize("cursor", ["/x7+Q==", "/a?b=c", "?", "//[x"])
def test_a_cursor_may_begin_as_an_address_does(cursor: str):
    def fetch(parameters: dict[str, str]) -> Any:
        return {"items": [parameters.get("cursor")], "next": cursor if "cursor" not in parameters else None}

    assert everything(walk_over(paging("cursor"), fetch), 1) == [None, cursor]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ({"data": [], "error": "x"}, 'the page has nothing at "/items": the page holds data, error; correct the records pointer'),
        ([1], "the page is no object"),
        ({"items": {"a": 1}}, 'what stands at "/items" is no list of records'),
        ({"items": [1], "next": {"a": 1}}, "what stands at /next is no cursor"),
        ({"items": [1], "next": "https://api.example/items?after=3"}, "the next page's address has no parameter cursor"),
    ],
)
def test_an_answer_of_another_shape_has_its_sentence(answer: Any, sentence: str):
    with pytest.raises(NodeError) as caught:
        everything(walk_over(paging("cursor"), lambda parameters: answer), 1)
    assert sentence in caught.value.message
    assert caught.value.permanent


def test_the_progress_counts_rows_when_the_total_is_known_and_pages_when_not():
    _, known = walk_over(paging(total_pointer="/total"), numbers(4)).batch(Position(page=1), 1)
    assert known.as_offset()["progress"] == {"done": 2, "total": 4, "unit": "rows"}
    _, unknown = walk_over(paging(), numbers(4)).batch(Position(page=1), 1)
    assert unknown.as_offset()["progress"] == {"done": 1, "total": None, "unit": "pages"}
