"""Every style of paging over a real server: to the end, once each, and never in circles."""

import json
from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import pytest
from pydantic import ValidationError

from jobs.nodes import page_walk as walking
from jobs.nodes.base import ConnectionSettings, Limits, NodeContext, NodeError
from jobs.nodes.hand_positions import Wanted
from jobs.nodes.page_positions import PagePositions
from jobs.nodes.page_requests import page_walk
from jobs.nodes.page_walk import PageWalk, Position
from jobs.nodes.sources.http_api_config import HttpApiConfig
from tests.nodes.api_server import (
    Answer,
    ApiServer,
    Request,
    api_server,
    as_json,
    by_cursor,
    by_link,
    by_offset,
    handing_out,
    paged,
    records,
)

STYLES: dict[str, Callable[[int], Callable[[Request], Answer]]] = {
    "page": paged,
    "offset": by_offset,
    "cursor": by_cursor,
    "next_link": by_link,
    "link_header": lambda count: by_link(count, header=True),
    "until_empty": handing_out,
}
WALKS: list[PageWalk] = []
OFFSET = {"page_size_parameter": "limit"}


def walk_of(server: ApiServer, auth: dict[str, Any] | None = None, secrets: dict[str, str] | None = None, **config: Any) -> Any:
    defaults: dict[str, Any] = {"connection": "api", "path": "things", "page_size": 10, "records_pointer": "/results", "attempts": 1}
    defaults |= {"columns": [{"name": "id", "type": "long"}]} if config.get("paging") == "until_empty" else {}
    defaults |= OFFSET if config.get("paging") == "offset" else {}
    connection = ConnectionSettings("api", "http_api", {"base_url": server.url, **(auth or {})}, secrets or {})
    allowed = config.pop("allowed", (server.host,))
    WALKS.append(page_walk(HttpApiConfig.model_validate(defaults | config), connection, Limits(http_allowed_hosts=allowed)))
    return WALKS[-1]


@pytest.fixture(autouse=True)
def _walks_closed() -> Iterator[None]:
    yield
    while WALKS:
        WALKS.pop().close()


def ids(walk: Any, pages: int = 1) -> list[int]:
    found: list[int] = []
    position = walk.start()
    while True:
        taken, following = walk.batch(Position.of_offset(json.loads(json.dumps(position.as_offset()))), pages)
        if following == position:
            return found
        found += [json.loads(record)["id"] for page in taken for record in page.records]
        position = following


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("count", [0, 7, 10, 20, 47])
@pytest.mark.parametrize("pages", [1, 3])
def test_every_record_is_read_once(style: str, count: int, pages: int):
    with api_server(STYLES[style](count)) as server:
        assert ids(walk_of(server, paging=style, concurrency=2), pages) == list(range(count))


@pytest.mark.parametrize("style", ["page", "offset"])
def test_a_total_saves_the_request_behind_the_last_page_and_makes_the_progress(style: str):
    with api_server(paged(20) if style == "page" else by_offset(20, total=True)) as server:
        walk = walk_of(server, paging=style, total_pointer="/total")
        assert ids(walk) == list(range(20))
        assert len(server.requests) == 2
        _, position = walk.batch(walk.start(), 1)
        assert position.as_offset()["progress"] == {"done": 10, "total": 20, "unit": "rows"}


@pytest.mark.parametrize("pages", [1, 4])
def test_pages_shorter_than_asked_for_lose_nothing(pages: int):
    with api_server(by_offset(23, most=4)) as server:
        assert ids(walk_of(server, paging="offset"), pages) == list(range(23))


def ending(answer: Callable[[Request], Answer], end: Answer) -> Callable[[Request], Answer]:
    """`answer`, but for pages behind the last one, which are not there."""

    def answered(request: Request) -> Answer:
        found = answer(request)
        return found if json.loads(bytes(found[2]))["results"] else end  # type: ignore[arg-type]

    return answered


NO_PAGES = {
    "404": as_json({"detail": "Invalid page."}, 404),
    "400": as_json({"code": "rest_post_invalid_page_number", "message": "…", "data": {"status": 400}}, 400),
}


def without(answer: Callable[[Request], Answer], *begins: int) -> Callable[[Request], Answer]:
    """`answer`, but for the pages that begin with these records, and for those behind the last one: they are not there."""

    def answered(request: Request) -> Answer:
        found = answer(request)
        held = json.loads(bytes(found[2]))["results"]  # type: ignore[arg-type]
        return found if held and held[0]["id"] not in begins else NO_PAGES["404"]

    return answered


def counting_more(answer: Answer) -> Answer:
    document = json.loads(bytes(answer[2]))  # type: ignore[arg-type]
    return as_json(document | {"total": document["total"] + 1}) if "total" in document else answer


@pytest.mark.parametrize("end", NO_PAGES)
@pytest.mark.parametrize("style", ["page", "offset"])
@pytest.mark.parametrize("pages", [1, 4])
def test_pages_may_end_with_one_that_is_not_there(style: str, pages: int, end: str):
    with api_server(ending(STYLES[style](20), NO_PAGES[end])) as server:
        assert ids(walk_of(server, paging=style), pages) == list(range(20))


def test_an_api_that_is_gone_is_no_end():
    with api_server(paged(20)) as server:
        walk = walk_of(server, paging="page")
        _, position = walk.batch(walk.start(), 1)
        server.answer = lambda request: as_json({}, 404)
        with pytest.raises(NodeError, match="the server answered 404"):
            walk.batch(position, 1)


def test_a_page_that_is_missing_for_a_moment_is_no_end():
    whole = paged(20)
    missing = [True]

    def answer(request: Request) -> Answer:
        return as_json({}, 404) if request.query["page"] == "2" and missing.pop() else whole(request)

    with api_server(answer) as server:
        walk = walk_of(server, paging="page")
        missing.insert(0, False)
        _, position = walk.batch(walk.start(), 1)
        with pytest.raises(NodeError, match="page 2 was missing, and is there again") as raised:
            walk.batch(position, 1)
        assert not raised.value.permanent


@pytest.mark.parametrize("pages", [1, 4])
@pytest.mark.parametrize("style", ["page", "offset"])
def test_a_page_that_is_missing_in_the_middle_is_no_end(style: str, pages: int):
    with api_server(without(STYLES[style](47), 20)) as server:
        with pytest.raises(NodeError, match="page 3 is missing, but page 4 behind it is there") as raised:
            ids(walk_of(server, paging=style), pages)
        assert not raised.value.permanent


def test_pages_that_are_missing_are_no_end_where_one_that_was_fetched_ahead_is_there():
    with api_server(without(paged(47), 20, 30)) as server:
        with pytest.raises(NodeError, match="page 3 is missing, but page 5 behind it is there"):
            ids(walk_of(server, paging="page"), 5)


def test_a_page_that_is_missing_among_such_that_are_shorter_than_asked_for_is_no_end():
    with api_server(without(by_offset(23, most=4), 12)) as server:
        with pytest.raises(NodeError, match="page 4 is missing, but page 5 behind it is there"):
            ids(walk_of(server, paging="offset"))


@pytest.mark.parametrize("pages", [1, 4])
def test_a_page_that_is_missing_before_the_total_is_there_is_no_end(pages: int):
    with api_server(ending(paged(20), NO_PAGES["404"])) as server:
        walk = walk_of(server, paging="page", total_pointer="/total")
        whole = server.answer
        server.answer = lambda request: counting_more(whole(request))
        with pytest.raises(NodeError, match="page 3 is missing, but the API counts 21 records, of which 20 came"):
            ids(walk, pages)


@pytest.mark.parametrize("pages", [1, 4])
def test_from_a_page_that_a_person_chose_the_pages_end_where_the_api_has_no_more(pages: int):
    """How many records lie before it nobody knows, so that the API's total says nothing."""
    config: dict[str, Any] = {"paging": "page", "page_size": 10, "total_pointer": "/total"}
    context = NodeContext("api", "Api", HttpApiConfig.model_validate({"connection": "api", "path": "things", **config}))
    with api_server(ending(paged(40), NO_PAGES["404"])) as server:
        walk = walk_of(server, **config)
        _, position = walk.batch(walk.start(), 1)
        offset = PagePositions().moved(position.as_offset(), Wanted("values", values={"page": 3}), context)
        found: list[int] = []
        while (batch := walk.batch(Position.of_offset(offset), pages))[0]:
            found += [json.loads(record)["id"] for page in batch[0] for record in page.records]
            offset = batch[1].as_offset()
        assert found == list(range(20, 40))


@pytest.mark.parametrize(("status", "body"), [(400, {"code": "rest_invalid_param"}), (410, {}), (422, {"detail": "Invalid page."})])
def test_what_may_be_another_mistake_is_no_end(status: int, body: dict[str, str]):
    with api_server(ending(paged(20, total=False), as_json(body, status))) as server:
        with pytest.raises(NodeError, match=f"the server answered {status}"):
            ids(walk_of(server, paging="page"))


def test_an_offset_may_begin_at_one():
    with api_server(
        lambda request: as_json({"results": records(int(request.query["offset"]), min(int(request.query["offset"]) + 10, 15))})
    ) as server:
        assert ids(walk_of(server, paging="offset", first_offset=1)) == list(range(1, 15))


def test_no_more_requests_are_under_way_than_allowed():
    import threading

    under_way, most, lock = 0, 0, threading.Lock()
    met = threading.Barrier(3)

    def answer(request: Request) -> Answer:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        met.wait(10)
        with lock:
            under_way -= 1
        return paged(90)(request)

    with api_server(answer) as server:
        walk = walk_of(server, paging="page", concurrency=3)
        taken, _ = walk.batch(walk.start(), 9)
    assert [page.key.page for page in taken] == list(range(1, 10))
    assert most == 3


def always(document: Any, link: str = "") -> Callable[[Request], Answer]:
    return lambda request: as_json(document, Link=link)


@pytest.mark.parametrize(
    ("style", "answer", "sentence"),
    [
        ("page", always({"results": records(0, 10)}), 'check whether "page" is its page parameter'),
        ("offset", always({"results": records(0, 10)}), 'check whether "offset" is its offset parameter'),
        ("until_empty", always({"results": records(0, 10)}), "check whether each request asks for others"),
        ("cursor", always({"results": records(0, 10), "next_cursor": 5}), 'gives the cursor "5" that came before'),
        ("next_link", always({"results": records(0, 10), "next": "/things?from=3"}), "links to a page that came before"),
        ("link_header", always({"results": records(0, 10)}, "<?from=3>; rel=next"), "links to a page that came before"),
    ],
)
def test_an_api_that_goes_round_in_circles_is_noticed(style: str, answer: Callable[[Request], Answer], sentence: str):
    with api_server(answer) as server:
        with pytest.raises(NodeError) as caught:
            ids(walk_of(server, paging=style))
        assert sentence in caught.value.message
        assert caught.value.permanent
        assert len(server.requests) <= (20 if style == "until_empty" else 3)


SHORT = {"results": records(0, 7)}
OFFSETS = [{"name": "from", "value": "${offset}"}]


@pytest.mark.parametrize("pages", [1, 3])
@pytest.mark.parametrize(
    ("config", "field", "check"),
    [
        ({"paging": "page"}, "page_parameter", 'check whether "page" is its page parameter'),
        ({"paging": "offset"}, "offset_parameter", 'check whether "offset" is its offset parameter'),
        ({"paging": "page", "parameters": OFFSETS}, "paging", "check whether it takes ${offset} where that stands in the request"),
        ({"paging": "until_empty", "parameters": OFFSETS}, "paging", "check whether it takes ${offset} where that stands in the request"),
        ({"paging": "until_empty", "path": "things/${page}"}, "paging", "check whether it takes ${page} where that stands in the request"),
    ],
)
@pytest.mark.parametrize("document", [SHORT, SHORT | {"total": 20}])
def test_an_api_that_does_not_heed_what_it_is_asked_for_is_read_once_and_told(
    document: dict[str, Any], config: dict[str, Any], field: str, check: str, pages: int
):
    with api_server(always(document)) as server:
        walk = walk_of(server, total_pointer="/total", **config)
        found, position = walk.batch(walk.start(), 1)
        assert len(found) == 1
        with pytest.raises(NodeError) as caught:
            walk.batch(position, pages)
    told = f"page 2 holds the same records as the first: the API repeats itself; {check}, or choose paging none if it has one page"
    assert caught.value.message == told
    assert (caught.value.permanent, caught.value.kind, caught.value.field) == (True, "user", field)


def test_an_api_whose_total_says_that_it_has_one_page_is_asked_once():
    with api_server(always(SHORT | {"total": 7})) as server:
        assert ids(walk_of(server, paging="offset", total_pointer="/total")) == list(range(7))
        assert len(server.requests) == 1


def test_what_is_handed_out_until_it_is_gone_may_be_the_same_several_times():
    pages = iter([*([records(0, 2)] * 10), *([records(2, 4), records(0, 2)] * 20)])
    with api_server(lambda request: as_json({"results": next(pages, [])})) as server:
        assert len(ids(walk_of(server, paging="until_empty"))) == 100


@pytest.mark.parametrize("style", STYLES)
def test_an_api_that_never_ends_is_given_up_at_the_limit_of_pages(style: str):
    with api_server(STYLES[style](10_000)) as server:
        with pytest.raises(NodeError, match="after 5 pages there are still more") as caught:
            ids(walk_of(server, paging=style, most_pages=5))
        assert (caught.value.permanent, caught.value.field) == (True, "most_pages")


def test_empty_pages_that_promise_more_without_end_are_given_up():
    numbers = iter(range(1, 1_000_000))
    with (
        patch.object(walking, "_MOST_EMPTY", 5),
        api_server(lambda request: as_json({"results": [], "next_cursor": next(numbers)})) as server,
    ):
        with pytest.raises(NodeError, match="5 pages in a row hold no records"):
            ids(walk_of(server, paging="cursor"))


def test_a_chain_goes_on_over_an_empty_page():
    def answer(request: Request) -> Answer:
        page = int(request.query.get("cursor", "0"))
        return as_json({"results": [] if page == 1 else records(page, page + 1), "next_cursor": page + 1 if page < 3 else None})

    with api_server(answer) as server:
        assert ids(walk_of(server, paging="cursor"), 2) == [0, 2, 3]


def staying_at_the_end(style: str, count: int) -> Callable[[Request], Answer]:
    """Every page says where to go on; behind the last that is where one is, for records to come."""

    def answer(request: Request) -> Answer:
        first = int(request.query.get("cursor", "0"))
        found = records(first, min(first + 10, count))
        place = first + len(found)
        if style == "cursor":
            return as_json({"results": found, "next_cursor": place})
        link = f"/things?cursor={place}"
        if style == "next_link":
            return as_json({"results": found, "next": link})
        return as_json({"results": found}, Link=f"<{link}>; rel=next")

    return answer


@pytest.mark.parametrize("style", ["cursor", "next_link", "link_header"])
@pytest.mark.parametrize("count", [0, 20, 25])
@pytest.mark.parametrize("pages", [1, 3])
def test_a_chain_that_stays_where_it_is_without_a_record_is_at_its_end(style: str, count: int, pages: int):
    with api_server(staying_at_the_end(style, count)) as server:
        assert ids(walk_of(server, paging=style), pages) == list(range(count))


def test_behind_such_an_end_the_records_that_came_since_are_read():
    with api_server(staying_at_the_end("cursor", 20)) as server:
        walk = walk_of(server, paging="cursor")
        _, position = walk.batch(walk.start(), 2)
        assert walk.batch(position, 2) == ([], position)
        server.answer = staying_at_the_end("cursor", 25)
        taken, _ = walk.batch(position, 2)
        assert [json.loads(record)["id"] for page in taken for record in page.records] == list(range(20, 25))


NO_CONTENT: Answer = (204, {}, b"")


@pytest.mark.parametrize("style", ["page", "offset", "until_empty"])
@pytest.mark.parametrize("count", [0, 20])
@pytest.mark.parametrize("pages", [1, 4])
def test_an_answer_without_content_is_a_page_without_records(style: str, count: int, pages: int):
    with api_server(ending(STYLES[style](count), NO_CONTENT)) as server:
        assert ids(walk_of(server, paging=style), pages) == list(range(count))


@pytest.mark.parametrize("style", ["cursor", "next_link", "none"])
def test_an_answer_without_content_says_of_no_page_behind_it(style: str):
    with api_server(lambda request: NO_CONTENT) as server:
        assert ids(walk_of(server, paging=style)) == []
        assert len(server.requests) == 1


def test_a_chain_goes_on_over_an_answer_without_content_by_its_link():
    def answer(request: Request) -> Answer:
        first = int(request.query.get("from", "0"))
        return (204, {"Link": "</things?from=20>; rel=next"}, b"") if first == 10 else by_link(30, header=True)(request)

    with api_server(answer) as server:
        assert ids(walk_of(server, paging="link_header")) == [*range(10), *range(20, 30)]


@pytest.mark.parametrize("style", ["next_link", "link_header"])
@pytest.mark.parametrize("base", ["{url}/things", "//{host}/things", "?", "/things"])
def test_a_next_link_may_be_written_in_any_way(style: str, base: str):
    with api_server(lambda request: as_json([])) as server:
        written = "" if base == "?" else base.format(url=server.url, host=server.host)
        server.answer = by_link(25, header=style == "link_header", base=written)
        assert ids(walk_of(server, paging=style)) == list(range(25))
        assert server.requests[-1].query == {"from": "20", "x": "a b"}


@pytest.mark.parametrize("style", ["next_link", "link_header"])
@pytest.mark.parametrize(
    "link", ["http://other.example/x", "https://127.0.0.1/x", "file:///etc/passwd", "http://[bad", "http://127.0.0.1:1/x"]
)
def test_a_next_link_that_leads_elsewhere_is_refused(style: str, link: str):
    with api_server(by_link(25, header=style == "link_header", base=link)) as server:
        with pytest.raises(NodeError, match=r"not where this connection leads|this is no address") as caught:
            ids(walk_of(server, paging=style, parameters=[{"name": "key", "value": "canary"}]))
        assert caught.value.permanent
        assert "from=10" not in caught.value.message
        assert len(server.requests) == 1


def test_a_host_that_is_allowed_gets_the_request_without_what_signs_in_and_only_if_it_is_not_private():
    with api_server(by_link(20)) as other, api_server(by_link(20, base=f"{other.url}/more")) as home:
        given: dict[str, Any] = {"paging": "next_link", "link_hosts": [other.host]}
        signed = ({"auth": "bearer", "headers": [{"name": "X-Own", "value": "o"}]}, {"token": "canary-4711"})
        assert ids(walk_of(home, *signed, **given, allowed=(home.host, other.host))) == list(range(20))
        assert home.requests[0].headers["Authorization"] == "Bearer canary-4711"
        assert "canary-4711" not in str(other.requests[0].headers)
        assert "X-Own" not in other.requests[0].headers
        asked = len(other.requests)
        with pytest.raises(NodeError, match="leads to the private address"):
            ids(walk_of(home, *signed, **given))
        assert len(other.requests) == asked


def test_a_key_in_a_next_link_is_not_kept_in_the_position():
    def answer(request: Request) -> Answer:
        assert request.query["api_key"] == "canary-4711"
        first = int(request.query.get("from", "0"))
        return as_json(
            {"results": records(first, first + 10), "next": f"/things?api_key=canary-4711&from={first + 10}" if first < 20 else ""}
        )

    with api_server(answer) as server:
        walk = walk_of(server, {"auth": "api_key", "api_key_in": "query"}, {"api_key": "canary-4711"}, paging="next_link")
        _, position = walk.batch(walk.start(), 1)
        assert "canary-4711" not in json.dumps(position.as_offset())
        assert ids(walk) == list(range(30))


def test_a_body_is_posted_with_the_cursor_and_its_type():
    def answer(request: Request) -> Answer:
        assert (request.method, request.headers["Content-Type"]) == ("POST", "application/json")
        asked = request.document
        first = asked.get("after", 0)
        return as_json({"results": records(first, first + asked["size"]), "next_cursor": first + asked["size"] if first < 20 else None})

    body = '{"after": "${cursor}", "size": "${page_size}", "filter": {"since": "${now}", "label": "at ${cursor}!"}}'
    with api_server(answer) as server:
        config: dict[str, Any] = {"paging": "cursor", "method": "POST", "body": body, "cursor_parameter": "", "page_size_parameter": ""}
        assert ids(walk_of(server, **config)) == list(range(30))
        sent = server.documents()
    assert "after" not in sent[0]
    assert sent[1]["after"] == 10
    assert [document["filter"]["label"] for document in sent] == ["at !", "at 10!", "at 20!"]
    assert len({document["filter"]["since"] for document in sent}) == 1
    assert sent[0]["filter"]["since"].endswith("Z")


def test_places_are_filled_in_path_and_parameters_too():
    with api_server(lambda request: as_json({"results": records(0, 10) if "/p3/" not in request.path else []})) as server:
        parameters = [{"name": "skip", "value": "${offset}"}, {"name": "c", "value": "${cursor}"}, {"name": "x", "value": "${other}"}]
        server.answer = lambda request: as_json(
            {"results": records(int(request.query["skip"]), int(request.query["skip"]) + 10)[: 30 - int(request.query["skip"])]}
        )
        walk = walk_of(server, path="p${page}/x", page_parameter="", page_size_parameter="", parameters=parameters)
        assert ids(walk) == list(range(30))
        assert [request.path for request in server.requests] == ["/p1/x", "/p2/x", "/p3/x", "/p4/x"]
        assert server.requests[1].query == {"skip": "10", "x": "${other}"}


def test_a_parameter_may_be_named_several_times():
    parameters = [{"name": "status", "value": "open"}, {"name": "status", "value": "pending"}, {"name": "page_size", "value": "99"}]
    with api_server(paged(15)) as server:
        assert ids(walk_of(server, {"auth": "api_key", "api_key_in": "query"}, {"api_key": "k"}, parameters=parameters)) == list(range(15))
        assert [request.query_string for request in server.requests] == [
            f"status=open&status=pending&page_size=10&page={page}&api_key=k" for page in (1, 2, 3)
        ]


SKIPPING: dict[str, Any] = {"paging": "page", "parameters": [{"name": "skip", "value": "${offset}"}]}


@pytest.mark.parametrize("pages", [1, 4])
@pytest.mark.parametrize("count", [50, 300])
def test_an_offset_of_numbered_pages_that_passes_over_records_is_told(count: int, pages: int):
    """Of an API that never gives more than ten: whether the page there holds records or none."""

    def answer(request: Request) -> Answer:
        first = int(request.query["skip"])
        return as_json({"results": records(first, min(first + 10, count))})

    with api_server(answer) as server:
        with pytest.raises(NodeError, match=r"page 2 counts 100 records.*these hold 10:.*choose paging by offset") as caught:
            ids(walk_of(server, page_size=100, **SKIPPING), pages)
        assert (caught.value.permanent, caught.value.field) == (True, "paging")
        assert ids(walk_of(server, **SKIPPING), pages) == list(range(count))


def test_an_offset_behind_the_last_page_which_is_short_passes_over_nothing():
    def answer(request: Request) -> Answer:
        """One more comes when all were read."""
        return as_json({"results": records(int(request.query["skip"]), 25 if request.query["page"] < "4" else 26)[:10]})

    with api_server(answer) as server:
        assert ids(walk_of(server, **SKIPPING)) == list(range(25))


@pytest.mark.parametrize("config", [{"paging": "page"}, SKIPPING])
def test_numbered_pages_may_be_short_where_the_api_takes_no_offset(config: dict[str, Any]):
    pages = {"1": records(0, 3), "2": records(3, 5), "3": records(5, 15)}
    with api_server(lambda request: as_json({"results": pages.get(request.query["page"], [])})) as server:
        assert ids(walk_of(server, **config)) == list(range(15))


def test_a_cursor_cannot_lead_out_of_the_path_nor_be_filled_in_again():
    answers = iter([{"results": records(0, 1), "next_cursor": "a/../${now}"}, {"results": records(1, 2), "next_cursor": ".."}])
    with api_server(lambda request: as_json(next(answers))) as server:
        walk = walk_of(server, paging="cursor", path="x/${cursor}/y", cursor_parameter="c")
        with pytest.raises(NodeError, match="leads out of its place"):
            ids(walk)
        assert server.requests[1].query["c"] == "a/../${now}"
        assert len(server.requests) == 2


def test_a_token_is_carried_by_every_page_and_asked_for_once():
    def answer(request: Request) -> Answer:
        if request.path == "/token":
            return as_json({"access_token": "t-1", "expires_in": 3600})
        return by_cursor(30)(request) if request.headers.get("Authorization") == "Bearer t-1" else (401, {}, b"")

    with api_server(answer) as server:
        auth = {"auth": "oauth2", "token_url": f"{server.url}/token", "client_id": "walk"}
        assert ids(walk_of(server, auth, {"client_secret": server.host}, paging="cursor")) == list(range(30))
        assert [request.path for request in server.requests].count("/token") == 1


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"paging": "offset", "offset_parameter": ""}, "an offset parameter"),
        ({"paging": "next_link", "link_pointer": ""}, "the pointer to it"),
        ({"paging": "cursor", "cursor_parameter": ""}, "a cursor parameter"),
        ({"paging": "page", "page_parameter": ""}, "a page parameter"),
        ({"body": "{}"}, "a body has no meaning for GET"),
        ({"paging": "until_empty"}, "list the columns"),
        ({"method": "POST", "body": '{"a": }'}, "the body must be JSON"),
    ],
)
def test_what_does_not_fit_together_is_refused(config: dict[str, Any], sentence: str):
    with pytest.raises(ValidationError, match=sentence):
        HttpApiConfig.model_validate({"connection": "api"} | config)


def test_a_config_of_before_reads_the_same():
    saved: dict[str, Any] = {
        "connection": "api",
        "path": "flights",
        "paging": "cursor",
        "page_size": 10,
        "pages_per_batch": 2,
        "attempts": 3,
    }
    saved |= {"cursor_parameter": "after", "cursor_pointer": "/next", "parameters": [{"name": "year", "value": "2013"}]}
    read = HttpApiConfig.model_validate(saved)
    assert {name: value for name, value in read.model_dump(mode="json").items() if name in saved} == saved
    assert (read.method, read.body, read.concurrency, read.requests_per_second) == ("GET", "", 8, None)


def test_an_offset_of_before_is_still_a_position():
    kept = {
        "page": 3,
        "rows": 20,
        "done": False,
        "last": "x",
        "landmark": "x",
        "landmark_page": 1,
        "walked": 2,
        "batch": [[2, None]],
        "progress": {},
    }
    assert Position.of_offset(kept).page == 3
    assert Position.of_offset(kept).cursor is None
