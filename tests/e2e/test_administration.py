"""Several checkpoints ticked in the list of all of them: two are compared; what something needs goes only for a reason that is shown."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask, execution, numbers_start, stopped, until

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

PATH = "/api/checkpoints?job=much-kept&status=COMPLETED"


def _taken(page: Page, execution_id: str, kind: str, number: int) -> None:
    """Behind further rows, so that there are `number` at least."""
    before = execution(page, execution_id)["written_records"]
    until(page, "rows are written", lambda: execution(page, execution_id)["written_records"] > before)
    ask(page, "POST", f"/api/executions/{execution_id}/{kind}")
    until(page, "it is complete", lambda: len(ask(page, "GET", PATH).json()["results"]) >= number)


def test_several_are_deleted_for_a_reason(page: Page) -> None:
    execution_id = numbers_start(page, "much-kept")
    _taken(page, execution_id, "savepoint", 1)
    _taken(page, execution_id, "checkpoint", 2)
    stopped(page, execution_id)
    kept = ask(page, "GET", PATH).json()["results"]
    savepoint = next(one for one in kept if one["is_savepoint"])

    page.goto("/checkpoints?job=much-kept")
    boxes = page.get_by_role("checkbox", name=re.compile("^Tick checkpoint"))
    boxes.nth(0).check()
    expect(page.get_by_role("button", name="Compare", exact=True)).to_have_count(0)
    boxes.nth(1).check()
    page.get_by_role("button", name="Compare", exact=True).click()
    beside = page.get_by_role("dialog", name="Two checkpoints side by side")
    expect(beside.get_by_role("rowheader", name="Rows read")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("checkbox", name="Tick all shown").check()
    page.get_by_role("button", name="Delete…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("a savepoint", exact=True)).to_be_visible()
    expect(dialog.get_by_text(re.compile("can go on from it"))).to_be_visible()
    everything = dialog.get_by_role("button", name=f"Delete {len(kept)} checkpoints")
    expect(everything).to_be_disabled()
    dialog.get_by_label("Why they are to go all the same").fill("the numbers were only a trial")
    everything.click()
    expect(page.get_by_text(f"{len(kept)} checkpoints deleted")).to_be_visible()
    assert ask(page, "GET", PATH).json()["results"] == []
    shown = ask(page, "GET", f"/api/checkpoints/{savepoint['id']}").json()
    assert (shown["status"], shown["delete_reason"]) == ("EXPIRED", "the numbers were only a trial")
    page.goto(f"/checkpoints?job=much-kept&checkpoint={savepoint['id']}")
    panel = page.get_by_role("complementary", name=re.compile(r"Checkpoint \d+"))
    expect(panel.get_by_text(re.compile("the numbers were only a trial"))).to_be_visible()
