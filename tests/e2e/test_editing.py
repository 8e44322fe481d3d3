"""Small things of the editor's form, code and canvas that a person meets all day."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

NODES = {
    "rows": {"type": "source.generator", "type_version": 1, "name": "Rows", "config": {}},
    "query": {"type": "flow.sql", "type_version": 1, "name": "Query", "config": {"query": "select id from rows"}},
    "mask": {"type": "flow.mask", "type_version": 1, "name": "Mask", "config": {"fields": [{"column": "key"}, {"column": "nope"}]}},
}
EDGES = {"e1": {"from": ["rows", "out"], "to": ["query", "in"]}, "e2": {"from": ["query", "gone"], "to": ["mask", "in"]}}


def opened(page: Page, name: str) -> None:
    page.goto("/")
    drawing = {"schema_version": 1, "name": name, "title": name, "type": "STREAMING", "nodes": NODES, "edges": EDGES}
    ask(page, "POST", "/api/jobs", {**drawing, "publish": False})
    page.goto(f"/jobs/{name}")
    expect(page.locator(".pw-node")).to_have_count(len(NODES))


def test_a_query_is_typed_over_and_completed_by_its_inputs_and_their_aliases(page: Page) -> None:
    opened(page, "editing-a-query")
    page.locator("[data-node-id=query]").click()
    expect(page.locator("[data-node-id=rows]")).to_contain_text("4 columns", timeout=60_000)
    page.locator(".pw-panel .cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("select * from ")
    offered = page.locator(".cm-tooltip-autocomplete li")
    expect(offered.filter(has_text="rows")).to_be_visible()
    page.keyboard.type("rows r where r.")
    expect(offered.first).to_contain_text("id")
    expect(offered).to_have_count(4)


def test_a_port_that_is_gone_is_told_at_its_node(page: Page) -> None:
    opened(page, "editing-ports")
    page.locator("[data-node-id=query]").click()
    expect(page.locator(".pw-panel")).to_contain_text('"Query" has no port "gone"; it has "out"')
    expect(page.locator("[data-node-id=query].pw-node-problem")).to_have_count(1)


def test_a_node_dropped_at_the_edge_stays_there_and_a_row_added_to_its_list_has_the_focus(page: Page) -> None:
    opened(page, "editing-drops")
    canvas = page.locator(".pw-canvas")
    view = page.locator(".react-flow__viewport")
    before, box = view.get_attribute("style"), canvas.bounding_box()
    assert box is not None
    page.get_by_role("textbox", name="Find a node type").fill("Sort")
    page.locator(".pw-palette-item", has_text="Sort").drag_to(canvas, target_position={"x": box["width"] - 12, "y": 100})
    expect(page.locator(".react-flow__node.selected")).to_contain_text("Sort")
    page.wait_for_timeout(600)
    assert view.get_attribute("style") == before
    page.get_by_role("button", name="Add to order by").click()
    expect(page.locator('[data-field="order_by.0.column"] input')).to_be_focused()


def test_a_choice_that_is_taken_again_stays(page: Page) -> None:
    opened(page, "editing-choices")
    expect(page.locator("[data-node-id=rows]")).to_contain_text("4 columns", timeout=60_000)
    page.locator("[data-node-id=mask]").click()
    method = page.locator("#field_mask_fields_0_method")
    for _ in range(2):
        method.click()
        page.get_by_role("option", name="keep last").click()
        expect(method).to_have_value("keep last")
