"""Sample rows in the editor: kept from a source, edited by hand, seen behind it, and still there after a reload."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.numbers import ask
from tests.e2e.test_pipeline_tests import dock, verdict

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

PATIENCE = 90_000
DOCUMENT: dict[str, Any] = {
    "title": "Sampled",
    "type": "STREAMING",
    "nodes": {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 100}},
        "even": {"type": "flow.filter_rows", "name": "Even", "config": {"condition": "id % 2 = 0"}},
        "out": {"type": "sink.none", "name": "Nowhere", "config": {}},
    },
    "edges": {"e1": {"from": ["numbers", "out"], "to": ["even", "in"]}, "e2": {"from": ["even", "out"], "to": ["out", "in"]}},
}


def opened(page: Page, name: str) -> None:
    """A new job called `name`, in the editor with the preview of its filter."""
    page.goto("/jobs")
    ask(page, "POST", "/api/jobs", {**DOCUMENT, "name": name, "publish": False})
    page.goto(f"/jobs/{name}?dock=preview")
    look_at_the_filter(page)


def look_at_the_filter(page: Page) -> None:
    page.locator(".pw-node[data-node-id=even]").click()


def origin(page: Page) -> Locator:
    """Where the rows of the source above come from."""
    return dock(page).get_by_role("list", name="Where the rows come from").get_by_role("listitem")


def rows_out(page: Page, *rows: str) -> None:
    """The rows that leave the filter begin with these, their values side by side."""
    table = dock(page).get_by_role("region", name="Out", exact=True).locator("tbody tr:not([aria-hidden])")
    for place, row in enumerate(rows):
        expect(table.nth(place)).to_have_text(re.compile(f"^{row}"), timeout=PATIENCE)


def test_rows_edited_by_hand_go_through_the_filter_and_are_there_after_a_reload(page: Page) -> None:
    opened(page, "sampled")
    expect(origin(page)).to_contain_text("read now")
    rows_out(page, "0", "2", "4")
    origin(page).get_by_role("button", name="Edit rows of Numbers").click()
    dialog = page.get_by_role("dialog", name="Sample rows of Numbers")
    field = dialog.get_by_role("textbox", name="Sample rows of Numbers")
    expect(field).to_contain_text('"id":1,', timeout=PATIENCE)
    field.fill('[{"id": 6, "key": "kept"}, {"id": "seven"}]')
    dialog.get_by_role("button", name="Save").click()
    fault = dialog.get_by_role("button", name=re.compile("Row 2, id"))
    expect(fault).to_contain_text('"seven" is no bigint', timeout=PATIENCE)
    expect(dialog.locator(".cm-lintRange-error")).to_have_text('"id":"seven"')
    field.fill("id,key\n6,six\n7,seven\n8,eight")
    expect(dialog.get_by_text("3 rows, from CSV")).to_be_visible()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden(timeout=PATIENCE)
    expect(origin(page)).to_contain_text("3 rows edited by hand")
    rows_out(page, "6.*six", "8.*eight")
    page.reload()
    look_at_the_filter(page)
    expect(origin(page)).to_contain_text("3 rows edited by hand")
    rows_out(page, "6.*six", "8.*eight")
    origin(page).get_by_role("button", name="Refresh from source").click()
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(origin(page)).to_contain_text("3 rows edited by hand")
    origin(page).get_by_role("button", name="Refresh from source").click()
    expect(origin(page)).to_contain_text("read now")
    rows_out(page, "0", "2", "4")


def test_rows_that_are_kept_make_a_test_that_passes(page: Page) -> None:
    opened(page, "sampled-test")
    rows_out(page, "0", "2", "4")
    dock(page).get_by_role("combobox", name="Rows at most").click()
    page.get_by_role("option", name="10 rows", exact=True).click()
    origin(page).get_by_role("button", name="Keep these rows").click()
    expect(origin(page)).to_contain_text("10 rows read at", timeout=PATIENCE)
    rows_out(page, "0", "2", "4", "6", "8")
    dock(page).get_by_role("button", name="Make a test of these rows").click()
    expect(dock(page).get_by_role("textbox", name="Rows expected at Even")).to_have_value(re.compile('"id":8'), timeout=PATIENCE)
    dock(page).get_by_role("button", name="Run", exact=True).click()
    verdict(page, "Passed")


def test_rows_come_by_themselves_once_what_hindered_them_is_mended(page: Page) -> None:
    opened(page, "hindered")
    rows_out(page, "0", "2", "4")
    condition = page.locator(".pw-panel .cm-content")
    condition.fill("idd > 50")
    expect(page.locator(".pw-panel .pw-field-error")).to_contain_text("did you mean id?", timeout=PATIENCE)
    dock(page).get_by_role("button", name="Read again").click()
    expect(dock(page).get_by_role("alert")).to_contain_text("there is no column idd", timeout=PATIENCE)
    condition.fill("id > 50")
    rows_out(page, "51", "52", "53")


def test_beside_a_long_name_the_buttons_of_a_preview_stay_whole(page: Page) -> None:
    named = {**DOCUMENT["nodes"]["even"], "name": "A filter of which somebody wanted to tell everything in its name, " * 2}
    page.goto("/jobs")
    ask(page, "POST", "/api/jobs", {**DOCUMENT, "nodes": {**DOCUMENT["nodes"], "even": named}, "name": "long-name", "publish": False})
    page.goto("/jobs/long-name?dock=preview")
    look_at_the_filter(page)
    for control in (
        dock(page).get_by_role("button", name="Make a test of these rows"),
        dock(page).get_by_role("combobox", name="Rows at most"),
    ):
        expect(control).to_be_visible()
        assert control.evaluate("control => control.scrollWidth <= control.clientWidth")
