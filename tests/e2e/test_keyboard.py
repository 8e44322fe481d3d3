"""A job made, drawn, configured, validated and published without a mouse."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.numbers import ask

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

MOST_TABS = 250


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until `target` has the focus."""
    expect(target).to_be_attached()
    for _ in range(MOST_TABS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{target} is not reached by {MOST_TABS} presses of Tab")


def press_button(page: Page, target: Locator) -> None:
    tab_to(page, target)
    page.keyboard.press("Enter")


def node_add(page: Page, title: str) -> None:
    page.keyboard.press("n")
    search = page.get_by_role("dialog").get_by_role("combobox", name="Find a node type")
    expect(search).to_be_focused()
    page.keyboard.type(title)
    expect(page.get_by_role("dialog").get_by_role("option", selected=True)).to_contain_text(title)
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


def connect(page: Page, source: str, target: str) -> None:
    press_button(page, page.get_by_role("button", name=f"Actions of {source}", exact=True))
    entry = page.get_by_role("menuitem", name=target, exact=True)
    for _ in range(10):
        page.keyboard.press("ArrowDown")
        if entry.evaluate("element => element === document.activeElement"):
            break
    expect(entry).to_be_focused()
    page.keyboard.press("Enter")
    expect(entry).to_have_count(0)


def test_a_job_is_drawn_published_and_validated_by_keyboard_alone(page: Page) -> None:
    page.goto("/")
    expect(page.get_by_role("heading", name="Home", exact=True)).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()
    page.keyboard.type("New job")
    expect(page.get_by_role("option", selected=True)).to_contain_text("New job")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog").get_by_label("Title")).to_be_focused()
    page.keyboard.type("Drawn by keyboard")
    page.keyboard.press("Enter")
    page.wait_for_url("**/jobs/drawn-by-keyboard")
    expect(page.locator(".pw-canvas")).to_be_visible()
    for title in ("Generator", "Filter rows", "Print"):
        node_add(page, title)
    expect(page.locator(".pw-node")).to_have_count(3)
    tab_to(page, page.get_by_role("radio", name="Palette"))
    page.keyboard.press("ArrowRight")
    connect(page, "Generator", "Filter rows")
    connect(page, "Filter rows", "Print")
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    press_button(page, page.locator(".pw-outline-node").filter(has_text="Filter rows").filter(has_not_text="Generator"))
    tab_to(page, page.locator(".pw-panel .cm-content"))
    page.keyboard.type("id >= 10")
    expect(page.get_by_text("No problems. The draft can be published.")).to_be_visible(timeout=60_000)
    expect(page.locator(".pw-save-chip")).to_contain_text("Saved draft")
    # It waits for the check of what was typed last.
    expect(page.get_by_role("button", name="Publish")).to_be_enabled(timeout=60_000)
    press_button(page, page.get_by_role("button", name="Validate"))
    press_button(page, page.get_by_role("button", name="Publish"))
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("textbox")).to_be_focused()
    press_button(page, dialog.get_by_role("button", name="Publish"))
    expect(page.get_by_text("v1 published")).to_be_visible()
    document = ask(page, "GET", "/api/jobs/drawn-by-keyboard").json()["document"]
    assert sorted(node["type"] for node in document["nodes"].values()) == ["flow.filter_rows", "sink.print", "source.generator"]
    assert document["nodes"]["filter_rows"]["config"]["condition"] == "id >= 10"
