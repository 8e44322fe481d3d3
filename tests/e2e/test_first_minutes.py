"""What a new user sees first, in a real browser on a running product."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import APIResponse, Browser, Page, expect

from tests.e2e.conftest import sign_in
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

EXAMPLES = ("Departures per hour", "Flights import", "Carrier delays", "Weather delays")


def post(page: Page, path: str) -> APIResponse:
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    return page.request.post(path, data={}, headers={"X-CSRFToken": token, "Referer": page.url})


def test_the_jobs_page_shows_the_examples(page: Page) -> None:
    page.goto("/jobs")
    for title in EXAMPLES:
        expect(page.get_by_text(title, exact=True).first).to_be_visible()


def test_a_sign_in_link_is_good_for_one_sign_in(product: Product, browser: Browser) -> None:
    link = product.sign_in_link()
    first, second = browser.new_context(), browser.new_context()
    sign_in(first.new_page(), product, link)
    page = second.new_page()
    page.goto(link)
    expect(page.get_by_role("heading", name="This link no longer works")).to_be_visible()
    first.close()
    second.close()


def execution(page: Page, execution_id: str) -> dict[str, Any]:
    found: dict[str, Any] = page.request.get(f"/api/executions/{execution_id}").json()
    return found


def until(page: Page, execution_id: str, what: str, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The execution as soon as `condition` holds of it."""
    deadline = time.monotonic() + 120
    while not condition(state := execution(page, execution_id)):
        assert state["status"] != "FAILED", state["error_message"]
        assert time.monotonic() < deadline, f"{what}: still {state['status']}"
        page.wait_for_timeout(250)
    return state


def test_rows_move_and_a_stopped_import_goes_on_where_it_was(page: Page) -> None:
    page.goto("/jobs")
    started = post(page, "/api/jobs/flights-import/start")
    assert started.status == 202, started.text()
    execution_id = started.json()["execution_id"]
    page.goto(f"/executions/{execution_id}")
    until(page, execution_id, "rows move", lambda state: state["processed_records"] > 0)
    assert post(page, f"/api/executions/{execution_id}/stop").status == 202
    paused = until(page, execution_id, "it pauses", lambda state: state["status"] == "PAUSED")
    expect(page.get_by_text("Paused").first).to_be_visible()
    assert post(page, f"/api/executions/{execution_id}/resume").status == 202
    resumed = until(page, execution_id, "it goes on", lambda state: state["processed_records"] > paused["processed_records"])
    assert resumed["generation"] == paused["generation"]
    assert resumed["processed_records"] == resumed["written_records"]
    assert post(page, f"/api/executions/{execution_id}/cancel").status == 202
    until(page, execution_id, "it is cancelled", lambda state: state["status"] == "CANCELLED")
