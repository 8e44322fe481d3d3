"""Two people draw the same job: what is on the screen is neither lost nor published without being asked about."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.numbers import ask
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(200)]

DRAWING = {
    "schema_version": 1,
    "name": "drawn-by-two",
    "title": "Drawn by two",
    "type": "SQL_TASK",
    "nodes": {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 100}},
        "out": {"type": "sink.none", "name": "Nowhere", "config": {}},
    },
    "edges": {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}},
}


@pytest.fixture
def page(product: Product, browser: Browser, signed_in: str) -> Iterator[Page]:
    """A signed-in page whose console may say that a save was refused."""
    context = browser.new_context(base_url=product.url, storage_state=signed_in, viewport={"width": 1440, "height": 900})
    context.set_default_timeout(20_000)
    yield context.new_page()
    context.close()


def saved_by_another(page: Page, title: str) -> None:
    draft = ask(page, "GET", "/api/jobs/drawn-by-two/draft").json()
    headers = {"X-CSRFToken": page.evaluate("/csrftoken=([^;]+)/.exec(document.cookie)[1]"), "Referer": page.url}
    answer = page.request.put(
        "/api/jobs/drawn-by-two/draft",
        data={"document": {**draft["document"], "title": title}},
        headers={**headers, "If-Match": f'"{draft["revision"]}"'},
    )
    assert answer.ok, answer.text()


def test_a_drawing_in_conflict_is_neither_published_nor_left_without_asking(page: Page) -> None:
    page.goto("/")
    ask(page, "POST", "/api/jobs", DRAWING)
    page.get_by_role("link", name="Jobs").first.click()
    page.get_by_text("Drawn by two").first.click()
    expect(page.locator(".pw-node")).to_have_count(2)
    saved_by_another(page, "Theirs")

    publish = page.get_by_role("button", name="Publish", exact=True)
    expect(publish).to_be_enabled(timeout=60_000)
    publish.click()
    dialog = page.get_by_role("dialog", name="Publish a new version")
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Not published. Conflict with")
    dialog.get_by_role("button", name="Cancel").click()
    assert ask(page, "GET", "/api/jobs/drawn-by-two").json()["version"] == 1

    page.locator("[data-node-id=out]").click()
    page.get_by_role("textbox", name="Name of the node").fill("Mine")
    asked = page.get_by_role("dialog", name="Leave without saving?")
    page.get_by_role("link", name="Jobs").first.click()
    asked.get_by_role("button", name="Stay here").click()
    expect(asked).to_be_hidden()
    page.go_back()
    expect(asked).to_be_visible()
    expect(page).to_have_url(re.compile("/jobs/drawn-by-two"))
    asked.get_by_role("button", name="Stay here").click()
    page.get_by_role("button", name="Overwrite it with mine").click()
    expect(page.get_by_text("Saved draft")).to_be_visible()
    page.get_by_role("link", name="Jobs").first.click()
    expect(page).to_have_url(re.compile("/jobs$"))
    draft = ask(page, "GET", "/api/jobs/drawn-by-two/draft").json()["document"]
    assert draft["nodes"]["out"]["name"] == "Mine"
