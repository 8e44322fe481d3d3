"""Asking for real time in a job's settings: what does not go is named, and is no longer offered."""

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask, numbers_document
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(200)]


def test_a_job_that_is_to_run_in_real_time_says_which_nodes_cannot(page: Page, product: Product) -> None:
    ask(page, "POST", "/api/jobs", numbers_document("in-real-time"))
    page.goto("/jobs/in-real-time")
    batches = page.get_by_role("radiogroup", name="Rows are written")
    palette = page.locator(".pw-palette")
    expect(palette.get_by_role("button", name="Aggregate", exact=True)).to_be_enabled()
    batches.get_by_text("In real time").click()
    for name in ("Rows", "Table"):
        expect(page.get_by_text(f'"{name}" cannot run in real time: it works on whole batches').first).to_be_visible()
    expect(page.get_by_text("in real time at least 5s").first).to_be_visible()
    expect(page.get_by_role("radiogroup", name="Spark driver")).to_have_count(0)
    aggregate = palette.get_by_role("button", name="Aggregate", exact=True)
    expect(aggregate).to_be_disabled()
    expect(aggregate).to_have_attribute("title", "Does not go in real time: see the settings of the job")
    expect(palette.get_by_role("button", name="Filter rows", exact=True)).to_be_enabled()
    batches.get_by_text("In batches").click()
    expect(page.get_by_text("cannot run in real time")).to_have_count(0)
