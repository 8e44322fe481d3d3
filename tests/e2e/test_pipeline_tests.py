"""Tests of a job in the editor's dock: written, taken from a preview, run, mended."""

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

DOCUMENT: dict[str, Any] = {
    "title": "Tested",
    "type": "STREAMING",
    "nodes": {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 100}},
        "even": {"type": "flow.filter_rows", "name": "Even", "config": {"condition": "id % 2 = 0"}},
        "out": {"type": "sink.none", "name": "Nowhere", "config": {}},
    },
    "edges": {"e1": {"from": ["numbers", "out"], "to": ["even", "in"]}, "e2": {"from": ["even", "out"], "to": ["out", "in"]}},
}

#: The newest row's own window stays open in a stream.
MINUTES: dict[str, Any] = {
    "nodes": {
        "numbers": DOCUMENT["nodes"]["numbers"],
        "out": DOCUMENT["nodes"]["out"],
        "timed": {
            "type": "flow.compute_columns",
            "name": "Timed",
            "config": {"columns": [{"name": "at", "expression": "timestamp_seconds(id * 20)"}]},
        },
        "minutes": {
            "type": "flow.window_aggregate",
            "name": "Minutes",
            "config": {"time_column": "at", "window": "1 min", "emit": "close", "aggregates": [{"name": "n"}]},
        },
    },
    "edges": {
        "e1": {"from": ["numbers", "out"], "to": ["timed", "in"]},
        "e2": {"from": ["timed", "out"], "to": ["minutes", "in"]},
        "e3": {"from": ["minutes", "out"], "to": ["out", "in"]},
    },
}


def dock(page: Page) -> Locator:
    return page.get_by_role("region", name="Problems, schema and document")


def verdict(page: Page, words: str) -> None:
    expect(page.locator(".pw-tests-verdict")).to_contain_text(words, timeout=90_000)


def opened(page: Page, name: str, **changed: Any) -> None:
    """A new job called `name`, in the editor with its tests."""
    page.goto("/jobs")
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    headers = {"X-CSRFToken": token, "Referer": page.url}
    made = page.request.post("/api/jobs", data={**DOCUMENT, **changed, "name": name, "publish": False}, headers=headers)
    assert made.status == 201, made.text()
    page.goto(f"/jobs/{name}?dock=tests")


def test_a_test_is_written_fails_readably_is_mended_and_kept(page: Page) -> None:
    opened(page, "tested")
    expect(dock(page).get_by_text("A test gives rows to the sources")).to_be_visible()
    dock(page).get_by_role("button", name="Write a test").click()
    dock(page).get_by_role("textbox", name="Name").fill("even numbers pass")
    dock(page).get_by_role("combobox", name="Expect rows at…").click()
    page.get_by_role("option", name="Nowhere").click()
    given = dock(page).get_by_role("textbox", name="Rows of Numbers")
    given.fill("id,key\n1,a\n2,b\n4,c\n")
    expected = dock(page).get_by_role("textbox", name="Rows expected at Nowhere")
    expected.fill('[{"id": 2, "key": "b"}, {"id": 4, "key": "x"}]')
    dock(page).get_by_label("Compare only the columns named").check()
    expect(given).to_have_value('[\n  {"id":1,"key":"a"},\n  {"id":2,"key":"b"},\n  {"id":4,"key":"c"}\n]')
    dock(page).get_by_role("button", name="Run", exact=True).click()
    verdict(page, "Failed")
    differing = dock(page).get_by_role("region", name="1 row with other values")
    expect(differing.locator("del")).to_have_text("expectedx")
    expect(differing.locator("ins")).to_have_text("camec")
    expected.fill('[{"id": 2, "key": "b"}, {"id": 4, "key": "c"}]')
    dock(page).get_by_role("button", name="Run all").click()
    verdict(page, "Passed")
    expect(page.get_by_text("Saved draft")).to_be_visible()
    page.reload()
    expect(dock(page).get_by_role("button", name="even numbers pass")).to_be_visible()
    kept = page.request.get("/api/jobs/tested/draft").json()["document"]["tests"]
    assert kept[0]["given"] == {"numbers": [{"id": 1, "key": "a"}, {"id": 2, "key": "b"}, {"id": 4, "key": "c"}]}


def test_a_test_taken_from_the_preview_passes_and_fails_once_the_drawing_is_changed(page: Page) -> None:
    opened(page, "taken")
    page.locator(".pw-node[data-node-id=even]").click()
    dock(page).get_by_role("button", name="Take from preview").click()
    expect(dock(page).get_by_role("textbox", name="Rows expected at Even")).to_have_value(re.compile('"id":8'), timeout=90_000)
    dock(page).get_by_role("button", name="Run", exact=True).click()
    verdict(page, "Passed")
    page.locator(".pw-panel .cm-content").fill("id % 2 = 1")
    expect(page.locator(".pw-tests-verdict")).to_contain_text("Changed since")
    dock(page).get_by_role("button", name="Run", exact=True).click()
    verdict(page, "Failed")
    expect(dock(page).get_by_role("region", name="5 rows missing")).to_be_visible()


def test_a_test_taken_of_a_streams_windows_expects_those_that_close_in_it(page: Page) -> None:
    opened(page, "taken-windows", **MINUTES)
    page.locator(".pw-node[data-node-id=minutes]").click()
    dock(page).get_by_role("button", name="Take from preview").click()
    expected = dock(page).get_by_role("textbox", name="Rows expected at Minutes")
    expect(expected).to_have_value(re.compile("1970-01-01T00:02:00"), timeout=90_000)
    assert len(json.loads(expected.input_value())) == 3
    dock(page).get_by_role("button", name="Run", exact=True).click()
    verdict(page, "Passed")


def test_a_window_by_the_clock_is_tested_at_the_times_that_are_written(page: Page) -> None:
    by_clock = {"time": "processing", "window": "1 min", "emit": "close", "aggregates": [{"name": "n"}]}
    minutes = {**DOCUMENT["nodes"]["even"], "type": "flow.window_aggregate", "name": "Minutes", "config": by_clock}
    closed = [{"window_start": "2026-01-31 12:00:00", "window_end": "2026-01-31 12:01:00", "n": 2}]
    test = {"name": "minutes", "given": {"numbers": [[{"id": 1}, {"id": 2}], [{"id": 3}]]}, "expect": {"out": closed}}
    opened(page, "clocked", nodes={**DOCUMENT["nodes"], "even": minutes}, tests=[test])
    dock(page).get_by_role("button", name="Run", exact=True).click()
    expect(dock(page).get_by_text("give the test a clock")).to_be_visible(timeout=90_000)
    clock = dock(page).get_by_role("textbox", name="Clock")
    clock.fill("2026-01-31 12:00:10\n 5 min\n")
    dock(page).get_by_role("textbox", name="Name").click()
    expect(clock).to_have_value("2026-01-31 12:00:10\n5 min")
    dock(page).get_by_role("button", name="Run", exact=True).click()
    verdict(page, "Passed")
