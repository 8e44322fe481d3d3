"""What a new user sees first, in a real browser on a running product."""

import time

import pytest
from playwright.sync_api import APIResponse, Browser, Page, expect

from tests.e2e.conftest import sign_in
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

EXAMPLES = ("Departures per hour", "Flights import", "Carrier delays")


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


def test_a_click_on_run_reads_the_paged_api_to_its_end(page: Page) -> None:
    page.goto("/jobs")
    started = post(page, "/api/jobs/flights-import/start")
    assert started.status == 202, started.text()
    execution = started.json()["execution_id"]
    page.goto(f"/executions/{execution}")
    deadline = time.monotonic() + 240
    while (state := page.request.get(f"/api/executions/{execution}").json())["status"] not in {"COMPLETED", "FAILED", "CANCELLED"}:
        assert time.monotonic() < deadline, state
        page.wait_for_timeout(500)
    assert state["status"] == "COMPLETED", state["error_message"]
    assert state["processed_records"] > 0
    expect(page.get_by_text("Completed").first).to_be_visible()
