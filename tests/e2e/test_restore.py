"""Going back to a checkpoint in the browser: what each sink would do is read before, and a roll-back leaves every row once."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask, execution, numbers_document, numbers_written, stopped, until
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]


def in_files(folder: Path) -> list[int]:
    lines = (line for file in folder.glob("*.json") for line in file.read_text().splitlines())
    return sorted(json.loads(line)["id"] for line in lines)


def test_sinks_are_rolled_back_where_a_person_asks_for_it(page: Page, product: Product) -> None:
    document = numbers_document("goes-back")
    document["nodes"]["lake"] = {"type": "sink.file", "name": "Lake", "config": {"path": "goes-back", "format": "json"}}
    document["nodes"]["shown"] = {"type": "sink.print", "name": "Shown", "config": {}}
    document["edges"] |= {sink: {"from": ["rows", "out"], "to": [sink, "in"]} for sink in ("lake", "shown")}
    ask(page, "POST", "/api/jobs", document)
    first = str(ask(page, "POST", "/api/jobs/goes-back/start").json()["execution_id"])
    until(page, "rows are written", lambda: execution(page, first)["written_records"] > 100)
    ask(page, "POST", f"/api/executions/{first}/checkpoint")
    path = f"/api/executions/{first}/checkpoints?status=COMPLETED"
    until(page, "a checkpoint", lambda: bool(ask(page, "GET", path).json()["results"]))
    written = execution(page, first)["written_records"]
    until(page, "more rows are written", lambda: execution(page, first)["written_records"] > written + 600)
    stopped(page, first)

    page.goto(f"/executions/{first}?tab=checkpoints")
    page.get_by_role("tabpanel").get_by_role("table", name="Checkpoints").locator("tbody tr:not([aria-hidden])").last.click()
    page.get_by_role("complementary", name=re.compile(r"Checkpoint \d+")).get_by_role("button", name="Restore…").click()
    dialog = page.get_by_role("dialog", name=re.compile("Restore checkpoint"))
    choice = dialog.get_by_label("Roll sinks back")
    expect(choice).not_to_be_checked(timeout=60_000)
    expect(dialog.get_by_text("“Lake”: rows written since this checkpoint are still there")).to_be_visible()
    expect(dialog.get_by_text("“Shown” keeps no rows")).to_be_visible()
    choice.check()
    expect(dialog.get_by_text(re.compile(r"“Lake”: \d+ files written since this checkpoint are removed"))).to_be_visible()
    expect(dialog.get_by_text("“Table”: the rows of batches since this checkpoint are deleted, in one transaction")).to_be_visible()
    dialog.get_by_role("button", name="Start from here").click()
    page.wait_for_url(lambda url: "/executions/" in url and first not in url)
    again = page.url.split("/executions/")[1][:36]
    until(page, "rows are written", lambda: execution(page, again)["written_records"] > 100)
    stopped(page, again)
    rows = numbers_written(product.data, "goes_back")
    assert rows == in_files(product.data / "files" / "goes-back") == list(range(len(rows)))
