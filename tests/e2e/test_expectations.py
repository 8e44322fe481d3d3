"""Rules on the page of a run, and nodes that only act in one: neither a preview nor a test of the job calls anybody."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

RULES = [{"name": "even", "condition": "id % 2 = 0"}, {"name": "below ten", "condition": "id < 10", "action": "warn"}]
CODE = "def process(row):\n    raise ValueError('called')\n"
DOCUMENT: dict[str, Any] = {
    "name": "ruled",
    "type": "BATCH_ROLLER",
    "nodes": {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 200, "rows_per_batch": 50}},
        "ask": {"type": "flow.expectations", "name": "Ask", "config": {"rules": RULES}},
        "tell": {"type": "flow.for_each_python", "name": "Tell", "config": {"code": CODE}},
        "out": {"type": "sink.none", "name": "Nowhere", "config": {}},
    },
    "edges": {
        "e1": {"from": ["numbers", "out"], "to": ["ask", "in"]},
        "e2": {"from": ["ask", "out"], "to": ["tell", "in"]},
        "e3": {"from": ["tell", "out"], "to": ["out", "in"]},
    },
    "publish": True,
}


def test_the_page_of_a_run_tells_how_many_rows_broke_which_rule(page: Page) -> None:
    ask(page, "POST", "/api/jobs", DOCUMENT)
    page.goto("/jobs/ruled?dock=preview")
    page.locator(".pw-node[data-node-id=tell]").click()
    expect(page.get_by_role("note")).to_have_text("Tell calls nobody in a preview: its rows pass as they are.", timeout=90_000)
    execution_id = ask(page, "POST", "/api/jobs/ruled/start").json()["execution_id"]
    page.goto(f"/executions/{execution_id}")
    page.get_by_role("tab", name="Expectations").click()
    table = page.get_by_role("table", name="Expectations")
    told = ["Ask", "even", "rejects the row", "200", "100", "50 %"]
    expect(table.get_by_role("row", name="even").get_by_role("cell")).to_have_text(told, timeout=90_000)
    page.reload()
    expect(table.get_by_role("row", name="below ten").get_by_role("cell")).to_have_text(
        ["Ask", "below ten", "is counted", "200", "190", "95 %"]
    )
