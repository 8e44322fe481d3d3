"""The versions of a job in the editor: how each differs from the draft, and the way back to it."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(200)]

FIRST: dict[str, Any] = {
    "name": "versioned",
    "title": "Versioned",
    "type": "SQL_TASK",
    "nodes": {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": 100}},
        "even": {"type": "flow.filter_rows", "name": "Even", "config": {"condition": "id % 2 = 0"}},
        "out": {"type": "sink.none", "name": "Nowhere", "config": {}},
    },
    "edges": {"e1": {"from": ["numbers", "out"], "to": ["even", "in"]}, "e2": {"from": ["even", "out"], "to": ["out", "in"]}},
    "settings": {"retry_interval": "5 s"},
}
SECOND: dict[str, Any] = {
    **FIRST,
    "nodes": {
        "numbers": FIRST["nodes"]["numbers"],
        "third": {"type": "flow.filter_rows", "name": "Every third", "config": {"condition": "id % 3 = 0"}},
        "out": {"type": "sink.none", "name": "Nowhere at all", "config": {}},
    },
    "edges": {"e1": {"from": ["numbers", "out"], "to": ["third", "in"]}, "e2": {"from": ["third", "out"], "to": ["out", "in"]}},
    "settings": {"retry_interval": "9 s"},
}


def test_a_version_is_compared_with_the_draft_taken_back_and_published(page: Page) -> None:
    page.goto("/jobs")
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    headers = {"X-CSRFToken": token, "Referer": page.url}
    assert page.request.post("/api/jobs", data={**FIRST, "publish": True}, headers=headers).status == 201
    draft = page.request.get("/api/jobs/versioned/draft").json()
    changed = {"document": {**SECOND, "schema_version": 1, "parameters": {}}}
    saved = page.request.put("/api/jobs/versioned/draft", data=changed, headers={**headers, "If-Match": f'"{draft["revision"]}"'})
    assert saved.ok, saved.text()
    published = page.request.post("/api/jobs/versioned/publish", data={"comment": "every third one"}, headers=headers)
    assert published.ok, published.text()

    page.goto("/jobs/versioned")
    page.get_by_role("button", name="v2 published").click()
    dialog = page.get_by_role("dialog", name="Versions")
    expect(dialog.get_by_text("The draft does the same as version 2: nothing differs.")).to_be_visible()
    dialog.get_by_role("button", name="v1").click()
    expect(dialog.get_by_role("heading", name="Every third added")).to_be_visible()
    expect(dialog.get_by_role("heading", name="Even removed")).to_be_visible()
    expect(dialog.get_by_role("row", name="name Nowhere Nowhere at all")).to_be_visible()
    expect(dialog.get_by_role("row", name="settings.retry_interval 5 s 9 s")).to_be_visible()
    expect(dialog.get_by_text("Numbers.out → Every third.in")).to_be_visible()
    expect(dialog.locator(".pw-diff-node.pw-diff-removed")).to_contain_text("Even")

    dialog.get_by_role("button", name="Take version 1 into the draft").click()
    expect(dialog).to_be_hidden()
    expect(page.locator(".pw-node[data-node-id=even]")).to_be_visible()
    expect(page.locator(".pw-node[data-node-id=third]")).to_be_hidden()
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    expect(page.get_by_role("button", name="v3 published")).to_be_visible()
    versions = [page.request.get(f"/api/jobs/versioned/versions/{number}").json() for number in (1, 3)]
    assert versions[0]["document"] == versions[1]["document"]


def test_what_a_version_replaced_comes_back(page: Page) -> None:
    page.goto("/jobs/versioned")
    page.get_by_role("button", name="v3 published").click()
    dialog = page.get_by_role("dialog", name="Versions")
    dialog.get_by_role("button", name="v2 every third one").click()
    dialog.get_by_role("button", name="Take version 2 into the draft").click()
    expect(page.locator(".pw-node[data-node-id=third]")).to_be_visible()
    page.get_by_text("Version 2 is in the draft").locator("..").get_by_role("button", name="Undo").click()
    expect(page.locator(".pw-node[data-node-id=even]")).to_be_visible()
    expect(page.locator(".pw-node[data-node-id=third]")).to_be_hidden()
