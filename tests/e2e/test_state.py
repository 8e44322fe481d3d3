"""What a stateful node remembers at a checkpoint, looked at and searched in the browser."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask, execution, numbers_document, stopped, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def test_state_of_a_checkpoint_is_paged_searched_and_taken_along(page: Page) -> None:
    document = numbers_document("remembers")
    document["nodes"]["once"] = {"type": "flow.deduplicate", "name": "Once", "config": {"keys": ["id"], "time_column": "time"}}
    (edge,) = document["edges"].values()
    target, edge["to"] = edge["to"], ["once", "in"]
    document["edges"]["behind"] = {"from": ["once", "out"], "to": target}
    ask(page, "POST", "/api/jobs", document)
    execution_id = str(ask(page, "POST", "/api/jobs/remembers/start").json()["execution_id"])
    until(page, "rows are written", lambda: execution(page, execution_id)["written_records"] > 150)
    stopped(page, execution_id)
    page.goto(f"/executions/{execution_id}?tab=checkpoints")
    page.get_by_role("tabpanel").get_by_role("table", name="Checkpoints").locator("tbody tr:not([aria-hidden])").first.click()
    detail = page.get_by_role("complementary", name=re.compile(r"Checkpoint \d+"))
    detail.get_by_role("button", name="Browse state").click()
    dialog = page.get_by_role("dialog", name=re.compile("State in checkpoint"))
    rows = dialog.get_by_role("region", name="Rows of state").locator("tbody tr:not([aria-hidden])")
    expect(rows).to_have_count(100, timeout=90_000)
    dialog.get_by_role("button", name="Rows behind").click()
    expect(dialog.get_by_text(re.compile("^101–"))).to_be_visible(timeout=60_000)
    dialog.get_by_role("textbox", name="Key contains").fill("149")
    expect(rows).to_have_count(1, timeout=60_000)
    with page.expect_download() as download:
        dialog.get_by_role("link", name="CSV").click()
    lines = download.value.path().read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("key.id,")
    assert lines[1].startswith("149,")
