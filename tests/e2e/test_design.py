"""Drawing a job with the mouse, running it, stopping and resuming it by its buttons; and every page opens."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.e2e.numbers import ask
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

TABLE = "drawn_rows"


def numbers(data: Path) -> list[int]:
    """What the drawn job has written so far."""
    warehouse = data / "files" / "flights" / "warehouse.sqlite3"
    try:
        with sqlite3.connect(f"file:{warehouse}?mode=ro", uri=True, timeout=20) as database:
            return [row[0] for row in database.execute(f"SELECT id FROM {TABLE} ORDER BY id")]
    except sqlite3.OperationalError:  # neither file nor table before the first batch
        return []


def until(page: Page, what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 150
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within 150 s"
        page.wait_for_timeout(250)


def drag(page: Page, family: str, title: str, x: int, y: int) -> None:
    section = page.locator(".pw-palette section").filter(has=page.get_by_role("heading", name=family))
    item = section.get_by_role("button", name=title, exact=True)
    item.drag_to(page.locator(".pw-canvas"), target_position={"x": x, "y": y})


def port(page: Page, node: str, name: str) -> Locator:
    return page.locator(f".pw-node[data-node-id={node}] .react-flow__handle[data-handleid={name}]")


def connect(page: Page, source: str, target: str) -> None:
    """Draws an edge; the pointer waits until the drawing stands still, as a person does."""
    port(page, source, "out").hover()
    page.mouse.down()
    end = port(page, target, "in").bounding_box()
    assert end is not None
    page.mouse.move(end["x"] - 20, end["y"], steps=6)
    page.mouse.move(end["x"] + end["width"] / 2, end["y"] + end["height"] / 2, steps=4)
    page.mouse.up()


def job_create(page: Page, name: str, title: str) -> None:
    page.goto("/jobs")
    page.get_by_role("button", name="New job").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Title").fill(title)
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("button", name="Create and draw").click()
    page.wait_for_url(f"**/jobs/{name}")


def draw(page: Page) -> None:
    """Generator → filter → table, placed, connected and configured as a person does."""
    drag(page, "Sources", "Generator", 120, 160)
    drag(page, "Flows", "Filter rows", 390, 160)
    drag(page, "Sinks", "Database table", 660, 160)
    expect(page.locator(".pw-node")).to_have_count(3)
    connect(page, "generator", "filter_rows")
    connect(page, "filter_rows", "jdbc")
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    expect(page.locator(".pw-problem-count")).to_be_visible()
    page.locator(".pw-node[data-node-id=generator]").click()
    page.get_by_role("textbox", name="Total rows").fill("")
    page.get_by_role("textbox", name="Rows per second").fill("40")
    page.locator(".pw-node[data-node-id=filter_rows]").click()
    page.locator(".pw-panel .cm-content").click()
    page.keyboard.type("id >= 10")
    page.locator(".pw-node[data-node-id=jdbc]").click()
    page.get_by_role("combobox", name="Connection").or_(page.get_by_role("textbox", name="Connection")).first.click()
    page.get_by_role("option", name="example-warehouse").click()
    page.get_by_role("textbox", name="Table").fill(TABLE)


def test_a_drawn_job_runs_stops_and_goes_on_exactly_where_it_stopped(page: Page, product: Product) -> None:
    job_create(page, "drawn-by-hand", "Drawn by hand")
    draw(page)
    expect(page.get_by_text("No problems. The draft can be published.")).to_be_visible(timeout=60_000)
    expect(page.locator(".pw-save-chip")).to_contain_text("Saved draft")
    drawn = page.request.get("/api/jobs/drawn-by-hand/draft").json()["document"]["nodes"]["generator"]["config"]
    assert drawn["total_rows"] is None, "a number that was emptied, so that the stream never ends"
    page.get_by_role("button", name="Publish").click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    page.get_by_role("button", name="Run v1").click()
    page.wait_for_url("**/executions/*")
    until(page, "rows arrive", lambda: len(numbers(product.data)) > 0)
    expect(page.locator(".pw-rate").first).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("PAUSED", exact=True).first).to_be_visible(timeout=60_000)
    kept = len(numbers(product.data))
    page.get_by_role("button", name="Resume").click()
    until(page, "rows go on", lambda: len(numbers(product.data)) > kept)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_text("PAUSED", exact=True).first).to_be_visible(timeout=60_000)
    rows = numbers(product.data)
    assert rows == list(range(10, 10 + len(rows)))


def test_a_drawing_can_be_undone_and_still_be_connected_after_leaving_it(page: Page) -> None:
    job_create(page, "drawn-again", "Drawn again")
    drag(page, "Sources", "Generator", 120, 160)
    drag(page, "Sinks", "Print", 500, 160)
    page.locator(".pw-canvas").press("Control+z")
    expect(page.locator(".pw-node")).to_have_count(1)
    page.locator(".pw-canvas").press("Control+Shift+z")
    expect(page.locator(".pw-node")).to_have_count(2)
    expect(page.locator(".pw-save-chip")).to_contain_text("Saved draft")
    page.get_by_role("link", name="Home").click()
    page.go_back()
    expect(page.locator(".pw-node")).to_have_count(2)
    connect(page, "generator", "print")
    expect(page.locator(".react-flow__edge")).to_have_count(1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_opens_without_an_error_in_the_console(product: Product, browser: Browser, signed_in: str, scheme: str) -> None:
    size = {"width": 1280, "height": 720}
    context = browser.new_context(base_url=product.url, storage_state=signed_in, viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    for path in ("/", "/jobs", "/jobs/departures-per-hour", "/executions", "/checkpoints", "/connections"):
        page.goto(path)
        expect(page.locator("main").first).to_be_visible()
        wide = page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth")
        assert not wide, f"{path} is wider than its window"
    context.close()
    assert not errors, errors


def test_a_change_made_just_before_leaving_is_there_when_one_comes_back(page: Page) -> None:
    job_create(page, "left-at-once", "Left at once")
    expect(page.locator(".pw-save-chip")).to_contain_text("Saved draft")
    page.get_by_role("textbox", name="Batch every").fill("7s")
    page.get_by_role("link", name="Home").click()
    expect(page.get_by_role("heading", name="Home", exact=True)).to_be_visible()
    page.go_back()
    expect(page.get_by_role("textbox", name="Batch every")).to_have_value("7s")
    expect(page.locator(".pw-save-chip")).to_contain_text("Saved draft")
    page.reload()
    expect(page.get_by_role("textbox", name="Batch every")).to_have_value("7s")


def test_a_column_is_chosen_from_those_known_or_typed_by_any_name(page: Page) -> None:
    nodes = {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {}},
        "once": {"type": "flow.deduplicate", "name": "Once", "config": {}},
    }
    drawing = {
        "schema_version": 1,
        "name": "named",
        "type": "STREAMING",
        "nodes": nodes,
        "edges": {"e": {"from": ["numbers", "out"], "to": ["once", "in"]}},
    }
    page.goto("/")
    ask(page, "POST", "/api/jobs", {**drawing, "publish": False})
    page.goto("/jobs/named")
    page.locator(".pw-node[data-node-id=once]").click()
    keys = page.locator(".pw-panel").get_by_role("combobox").first
    keys.click()
    page.get_by_role("option", name="key").click(timeout=60_000)
    keys.fill("later")
    keys.press("Enter")
    keys.fill("last")
    keys.press("Tab")
    until(page, "the names kept", lambda: _keys(page) == ["key", "later", "last"])


def _keys(page: Page) -> object:
    return page.request.get("/api/jobs/named/draft").json()["document"]["nodes"]["once"]["config"].get("keys")
