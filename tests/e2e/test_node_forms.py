"""The form of every node type, as it stands when the node was placed and its connection chosen."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

#: How high the form is and how high it may be, without what is said of edges and values that are still to come.
HEIGHTS = """() => {
  const [body, form] = ['.pw-panel-body', '.pw-panel-body .pw-form'].map((place) => document.querySelector(place));
  const margins = (element, ...names) => names.reduce((sum, name) => sum + parseFloat(getComputedStyle(element)[name]), 0);
  const wrong = [...form.querySelectorAll('.pw-field-error')].map((error) => error.offsetHeight + margins(error, 'marginTop'));
  return [form.scrollHeight - wrong.reduce((sum, one) => sum + one, 0), body.clientHeight - margins(body, 'paddingTop', 'paddingBottom')];
}"""
SETTINGS: dict[str, dict[str, Any]] = {
    "hbase": {"host": "127.0.0.1"},
    "http_api": {"base_url": "http://127.0.0.1:9/"},
    "kafka": {"servers": "127.0.0.1:9"},
    "mqtt": {"host": "127.0.0.1"},
    "postgresql": {"host": "127.0.0.1", "database": "shop", "user": "me"},
    "rabbitmq": {"host": "127.0.0.1", "user": "me"},
    "rocketmq": {"servers": "127.0.0.1:9"},
    "smtp": {"host": "127.0.0.1", "sender": "jobs@example.com"},
    "webhook": {},
    "webhook_receiver": {"url": "http://127.0.0.1:9/"},
}


def connection(page: Page, kind: str) -> str:
    """A connection of this kind, made where there is none yet."""
    name = f"form-{kind.replace('_', '-')}"
    found = page.request.get("/api/connections").json()["results"]
    if all(one["name"] != name for one in found):
        kinds = {one["kind"]: one for one in page.request.get("/api/connection-kinds").json()["results"]}
        secrets = dict.fromkeys(kinds[kind]["secrets"], "x")
        ask(page, "POST", "/api/connections", {"name": name, "kind": kind, "config": SETTINGS[kind], "secrets": secrets})
    return name


def placed(page: Page, type_: dict[str, Any]) -> dict[str, Any]:
    """A node as the palette places it, with the connection that it cannot do without."""
    field = type_["schema"]["properties"].get("connection", {})
    needed = "connection" in type_["schema"].get("required", [])
    config = {"connection": connection(page, field["x-connection-kinds"][0])} if needed else {}
    return {"type": type_["type"], "type_version": 1, "name": f"{type_['type']} itself", "config": config}


def test_the_common_fields_of_every_node_type_are_seen_without_scrolling(page: Page) -> None:
    page.goto("/")
    types = [type_ for type_ in page.request.get("/api/node-types").json()["results"] if type_["available"]]
    nodes = {type_["type"].replace(".", "_"): placed(page, type_) for type_ in types}
    drawing = {"schema_version": 1, "name": "every-form", "title": "Every form", "type": "BATCH_ROLLER", "nodes": nodes, "edges": {}}
    ask(page, "POST", "/api/jobs", {**drawing, "publish": False})
    page.goto("/jobs/every-form")
    page.get_by_text("Outline", exact=True).click()
    heights = {}
    for node in nodes.values():
        page.locator(".pw-outline-node").filter(has_text=node["name"]).click()
        expect(page.locator(".pw-panel .pw-node-type")).to_have_text(node["type"])
        expect(page.locator(".pw-panel-body textarea[readonly]")).to_have_count(0)  # an editor of code is on its way
        expect(page.locator(".pw-panel-body label").filter(has_text="_")).to_have_count(0)  # a field without a name of its own
        heights[node["type"]] = page.evaluate(HEIGHTS)
    higher = {type_: height for type_, height in heights.items() if height[0] > height[1]}
    assert higher == {}
    page.locator(".pw-outline-node").filter(has_text="sink.http_api itself").click()
    page.get_by_role("button", name="About this node type").click()
    expect(page.locator(".pw-about code")).to_have_text("job/node/")
