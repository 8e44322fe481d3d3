"""A job as a plain PySpark script, in the editor's dock and over the API."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(200)]

DOCUMENT: dict[str, Any] = {
    "name": "to-script",
    "title": "To a script",
    "type": "SQL_TASK",
    "nodes": {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 100}},
        "even": {"type": "flow.filter_rows", "name": "Even", "config": {"condition": "id % 2 = 0"}},
        "out": {"type": "sink.none", "name": "Nowhere", "config": {}},
    },
    "edges": {"e1": {"from": ["numbers", "out"], "to": ["even", "in"]}, "e2": {"from": ["even", "out"], "to": ["out", "in"]}},
    "publish": True,
}


def test_a_drawing_is_shown_as_a_script_written_again_and_downloaded(page: Page) -> None:
    page.goto("/jobs")
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    made = page.request.post("/api/jobs", data=DOCUMENT, headers={"X-CSRFToken": token, "Referer": page.url})
    assert made.status == 201, made.text()
    page.goto("/jobs/to-script?dock=pyspark")
    dock = page.get_by_role("region", name="Problems, schema and document")
    script = dock.get_by_role("textbox", name="PySpark script")
    expect(script).to_contain_text("To a script", timeout=90_000)
    script.press("Control+End")  # the editor draws only the lines that are in view
    expect(script).to_contain_text('F.expr("id % 2 = 0")')
    with page.expect_download() as download:
        dock.get_by_role("button", name="Download").click()
    assert download.value.suggested_filename == "to-script-job.py"
    assert page.request.get("/api/jobs/to-script/export?format=pyspark").text() == download.value.path().read_text(encoding="utf-8")
    page.locator(".pw-node[data-node-id=even]").click()
    page.keyboard.press("Delete")
    expect(dock.get_by_text("The drawing has changed since")).to_be_visible()
    dock.get_by_role("button", name="Write again").click()
    expect(dock.get_by_role("alert")).to_contain_text("Nowhere")
