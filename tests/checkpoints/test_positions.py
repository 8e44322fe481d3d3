"""Positions that a person sets: shown before, written into a copy, refused where they cannot be."""

import logging
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from checkpoints.models import Checkpoint
from checkpoints.spark_folder import source_offsets
from checkpoints.storages import folder_of
from checkpoints.verification import checkpoint_verify
from jobs.driver.position import plan_with_position
from jobs.models import AuditEntry, Execution, ExecutionStatus, Job, Role
from jobs.nodes.base import NodeContext, NodeError
from jobs.nodes.hand_positions import HandPositions, LastKey, NumberEach, NumberPart, Wanted, position_moved, position_settable
from jobs.nodes.page_positions import PagePositions
from jobs.nodes.page_styles import PageKey
from jobs.nodes.page_walk import Position
from jobs.nodes.sources.http_api_config import HttpApiConfig
from tests.checkpoints.kept import execution_row, kept, live_of
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.services.job_rows import document_with, job_row, version_add

pytestmark = pytest.mark.django_db


def taken(job: Job, version: int = 1) -> Checkpoint:
    """A checkpoint at which 20 numbers were read."""
    execution = execution_row(job)
    Execution.objects.filter(pk=execution.pk).update(version=version)
    found = kept(Execution.objects.get(pk=execution.pk))
    ended(execution)
    return found


@pytest.fixture
def checkpoint() -> Checkpoint:
    return taken(job_row())


@pytest.fixture
def operator(checkpoint: Checkpoint) -> Client:
    return member("olga", Role.OPERATOR)


def path(checkpoint: Checkpoint) -> str:
    return f"/api/checkpoints/{checkpoint.pk}/positions"


def values(**given: Any) -> dict[str, Any]:
    return {"numbers": {"to": "values", "values": given}}


def test_what_can_be_set_is_told_of_each_source(checkpoint: Checkpoint, operator: Client) -> None:
    Checkpoint.objects.filter(pk=checkpoint.pk).update(state_data={"sources": {"numbers": {"next": 20}}})
    (source,) = send(operator, "GET", path(checkpoint))["results"]
    assert (source["node_id"], source["type"], source["ways"], source["refused"]) == ("numbers", "source.generator", ["values"], "")
    assert source["position"] == source["values"] == {"next": 20}


@pytest.fixture
def known(checkpoint: Checkpoint) -> Checkpoint:
    """With its positions in its row, as a coordinator writes them."""
    Checkpoint.objects.filter(pk=checkpoint.pk).update(state_data={"sources": {"numbers": {"next": 20}}})
    checkpoint.refresh_from_db()
    return checkpoint


def test_a_dry_run_shows_before_and_after_and_makes_nothing(known: Checkpoint, operator: Client) -> None:
    found = send(operator, "POST", path(known), {"sources": values(next=5)})
    assert (found["dry_run"], found["checkpoint"]) == (True, None)
    assert found["sources"] == [{"node_id": "numbers", "before": {"next": 20}, "after": {"next": 5}}]
    assert Checkpoint.objects.count() == 1


def test_a_position_ends_where_its_source_does() -> None:
    position = {"next": 20, "progress": {"done": 20, "total": 1000, "unit": "rows"}}

    def moved(number: int) -> Any:
        return position_moved(NumberPart("next"), position, Wanted("values", values={"next": number}), api("page"))

    assert moved(1000) == {"next": 1000, "progress": {"done": 1000, "total": 1000, "unit": "rows"}}
    with pytest.raises(NodeError, match="next is at most 1,000, which is the end"):
        moved(1001)


@pytest.mark.parametrize("foreign", [None, 7, "x", [], [1], {}, {"page": 2}, {"orders": {"0": 5}}])
def test_a_position_of_a_foreign_shape_is_told_and_cannot_be_set(checkpoint: Checkpoint, operator: Client, foreign: Any) -> None:
    Checkpoint.objects.filter(pk=checkpoint.pk).update(state_data={"sources": {"numbers": foreign}})
    (source,) = send(operator, "GET", path(checkpoint))["results"]
    assert (source["position"], source["values"]) == (foreign, {})
    assert source["refused"] == "its position cannot be read: it is not what this kind of source writes"
    error = send(operator, "POST", path(checkpoint), {"sources": values(next=3)}, expected=422)["error"]
    assert "it is not what this kind of source writes" in error["message"]


@pytest.mark.parametrize("foreign", [None, 7, "x", [1], {"orders": 5}, {"orders": {"p": "q"}}])
@pytest.mark.parametrize("hand", [NumberPart("next"), NumberEach(), LastKey()])
def test_whatever_the_position_a_move_gives_one_or_says_what_is_wrong(hand: HandPositions, foreign: Any) -> None:
    settable = position_settable(hand, foreign, api("page").config)
    assert settable is None or set(settable) <= set(foreign)
    with pytest.raises(NodeError):
        position_moved(hand, foreign, Wanted("values", values={"unheard of": 1}), api("page"))


def test_an_edit_is_a_savepoint_of_its_own_that_is_whole(known: Checkpoint, operator: Client) -> None:
    before = {file: file.read_bytes() for file in folder_of(known).rglob("*") if file.is_file()}
    made = send(operator, "POST", path(known), {"sources": values(next=5), "dry_run": False})["checkpoint"]
    assert (made["is_savepoint"], made["source"]["way"], made["source"]["checkpoint"]) == (True, "POSITIONS", known.pk)
    assert (made["source"]["before"], made["state_data"]["sources"]) == ({"numbers": {"next": 20}}, {"numbers": {"next": 5}})
    folder = folder_of(Checkpoint.objects.select_related("execution__job").get(pk=made["id"]))
    assert checkpoint_verify(folder) == []
    assert source_offsets(folder / "out", 1) == {"numbers": {"next": 5}}
    assert {file: file.read_bytes() for file in folder_of(known).rglob("*") if file.is_file()} == before
    assert AuditEntry.objects.filter(action="positions edited", object_id=str(made["id"])).exists()


def test_a_restore_goes_on_from_the_position_that_was_set(
    known: Checkpoint, operator: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "DATA_DIR", tmp_path)
    made = send(operator, "POST", path(known), {"sources": values(next=5), "dry_run": False})["checkpoint"]
    precheck = send(operator, "GET", f"/api/checkpoints/{made['id']}/precheck")
    assert (precheck["ok"], precheck["version"], precheck["own_version"]) == (True, 1, 1)
    started = send(operator, "POST", f"/api/checkpoints/{made['id']}/restore", {}, expected=202)
    Execution.objects.filter(execution_id=started["execution_id"]).update(status=ExecutionStatus.INITIALIZING, attempt=2)
    execution = Execution.objects.select_related("job").get(execution_id=started["execution_id"])
    plan_with_position(execution, actor="d", log=logging.getLogger("test"))
    assert source_offsets(live_of(execution) / "out", 1) == {"numbers": {"next": 5}}


@pytest.mark.parametrize(
    ("sources", "words"),
    [
        (values(next=-1), "next is a whole number from 0 on"),
        (values(next="5"), "next is a whole number from 0 on"),
        (values(next=True), "next is a whole number from 0 on"),
        (values(page=5), '"next" can be set, and nothing else'),
        (values(), '"next" can be set, and nothing else'),
        ({"numbers": {"to": "earliest"}}, "it can be set by values only"),
        ({"letters": {"to": "values", "values": {"next": 1}}}, "the job has no such source"),
        ({}, "no source is named"),
    ],
)
def test_what_is_no_position_is_refused(known: Checkpoint, operator: Client, sources: dict[str, Any], words: str) -> None:
    for dry_run in (True, False):
        error = send(operator, "POST", path(known), {"sources": sources, "dry_run": dry_run}, expected=422)["error"]
        assert error["code"] == "positions.invalid"
        assert words in error["message"]
        assert [problem["node_id"] for problem in error["problems"]] == list(sources)
    assert Checkpoint.objects.count() == 1


def test_who_may_set_them(known: Checkpoint) -> None:
    body = {"sources": values(next=5), "dry_run": False}
    send(member("vera", Role.VIEWER), "POST", path(known), body, expected=403)
    stranger = member("sam", Role.ADMIN, "elsewhere")
    send(stranger, "POST", path(known), body, expected=404)
    send(stranger, "GET", path(known), expected=404)


def refused(client: Client, checkpoint: Checkpoint) -> str:
    Checkpoint.objects.filter(pk=checkpoint.pk).update(state_data={"sources": {"numbers": {"next": 20}}})
    (source,) = send(client, "GET", path(checkpoint))["results"]
    assert source["ways"] == []
    error = send(client, "POST", path(checkpoint), {"sources": values(next=5)}, expected=422)["error"]
    assert source["refused"] in error["message"]
    return str(source["refused"])


def test_a_job_that_keeps_state_says_why_nothing_can_be_set(operator: Client) -> None:
    document = document_with(name="sums")
    document["nodes"]["per"] = {"type": "flow.aggregate", "name": "Per value", "config": {"group_by": ["value"]}}
    document["edges"] = {"e1": {"from": ["numbers", "out"], "to": ["per", "in"]}, "e2": {"from": ["per", "out"], "to": ["out", "in"]}}
    assert refused(operator, taken(version_add(job_row("sums"), document), 2)).startswith('"Per value" keeps state')


@pytest.mark.parametrize(
    ("node", "words"),
    [
        ({"type": "source.mqtt", "config": {"connection": "broker", "topics": "a/b"}}, "a buffer of its own"),
        ({"type": "source.file", "config": {"path": "in/*.csv", "format": "csv"}}, "a log of its own"),
    ],
)
def test_a_source_whose_position_cannot_be_set_says_why(operator: Client, node: dict[str, Any], words: str) -> None:
    document = document_with(name="others")
    document["nodes"]["numbers"] = {"name": "Numbers", **node}
    assert words in refused(operator, taken(version_add(job_row("others"), document), 2))


def test_a_source_of_which_nothing_was_read_starts_by_its_settings(known: Checkpoint, operator: Client) -> None:
    Checkpoint.objects.filter(pk=known.pk).update(state_data={"sources": {}})
    (source,) = send(operator, "GET", path(known))["results"]
    assert source["refused"].startswith("nothing of it was read yet")


PAGES = Position(page=7, rows=60, done=True, last="x", landmark="y", landmark_page=4, walked=6, batch=(PageKey(6, None),)).as_offset()
CURSORS = Position(page=7, cursor="c7", rows=60).as_offset()
OFFSETS = Position(page=7, cursor=60, rows=60, total=100).as_offset()
OFTEN = {"connection": "api", "path": "/users", "records_pointer": "/items"}


def api(paging: str) -> NodeContext[HttpApiConfig]:
    places = {"cursor": {"cursor_parameter": "after", "cursor_pointer": "/next"}, "next_link": {"link_pointer": "/next"}}
    config = HttpApiConfig.model_validate(OFTEN | {"paging": paging} | places.get(paging, {}))
    return NodeContext("numbers", "Numbers", config)


@pytest.mark.parametrize(
    ("hand", "position", "given", "after"),
    [
        (NumberPart("next"), {"next": 9, "progress": {"done": 9}}, {"next": 3}, {"next": 3, "progress": {"done": 3}}),
        (NumberPart("offset"), {"offset": 9}, {"offset": 0}, {"offset": 0}),
        (NumberEach(), {"a/0": 4, "a/1": 5}, {"a/1": 2}, {"a/0": 4, "a/1": 2}),
        (LastKey(), {"key": 100, "rows": 90}, {"key": 50}, {"key": 50, "rows": 90}),
        (LastKey(), {"key": "2026-01-02", "rows": 90}, {"key": "2026-01-01"}, {"key": "2026-01-01", "rows": 90}),
        (LastKey(), {"key": 100, "rows": 90}, {"key": None}, {"key": None, "rows": 0}),
    ],
)
def test_positions_are_moved(hand: HandPositions, position: Any, given: dict[str, Any], after: Any) -> None:
    assert hand.moved(position, Wanted("values", values=given), api("page")) == after


@pytest.mark.parametrize(
    ("paging", "position", "given", "now"),
    [
        ("page", PAGES, {"page": 3}, (3, None, 0)),
        ("offset", OFFSETS, {"offset": 20}, (7, 20, 20)),
        ("cursor", CURSORS, {"cursor": "c3"}, (7, "c3", 60)),
        ("cursor", CURSORS, {"cursor": None}, (7, None, 60)),
        ("next_link", CURSORS, {"cursor": "https://api/users?p=3"}, (7, "https://api/users?p=3", 60)),
    ],
)
def test_pages_go_on_from_the_place_that_is_named(paging: str, position: Any, given: dict[str, Any], now: tuple[Any, ...]) -> None:
    assert set(PagePositions().settable(position, api(paging).config)) == set(given)
    moved = Position.of_offset(PagePositions().moved(position, Wanted("values", values=given), api(paging)))
    assert (moved.page, moved.cursor, moved.rows) == now
    assert (moved.done, moved.total, moved.batch, moved.last, moved.landmark) == (False, None, (), "", "")


def test_pages_of_which_none_can_be_named_cannot_be_set() -> None:
    assert PagePositions().settable(OFFSETS, api("none").config) == {}


@pytest.mark.parametrize(
    ("hand", "position", "given", "paging"),
    [
        (NumberEach(), {"a/0": 4}, {"a/7": 1}, "page"),
        (NumberEach(), {"a/0": 4}, {"a/0": -1}, "page"),
        (LastKey(), {"whole": 1}, {"key": 1}, "page"),
        (LastKey(), {"key": 1, "rows": 1}, {"key": "b"}, "page"),
        (LastKey(), {"key": "a", "rows": 1}, {"key": 2}, "page"),
        (LastKey(), {"key": 1, "rows": 1}, {"key": [1]}, "page"),
        (PagePositions(), PAGES, {"cursor": "c3"}, "page"),
        (PagePositions(), PAGES, {"page": "3"}, "page"),
        (PagePositions(), OFFSETS, {"page": 3}, "offset"),
        (PagePositions(), CURSORS, {"page": 3}, "cursor"),
        (PagePositions(), CURSORS, {"cursor": 3}, "cursor"),
        (PagePositions(), CURSORS, {"cursor": ""}, "next_link"),
    ],
    ids=str,
)
def test_positions_of_another_kind_are_refused(hand: HandPositions, position: Any, given: dict[str, Any], paging: str) -> None:
    with pytest.raises(NodeError) as refusal:
        hand.moved(position, Wanted("values", values=given), api(paging))
    assert refusal.value.kind == "user"
