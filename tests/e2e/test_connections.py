"""What the pages say of a connection while its system goes away and comes back, without a reload."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.api.rows import chain
from tests.e2e.numbers import ask
from tests.servers.mosquitto import MosquittoServer, mosquitto_missing

pytestmark = [pytest.mark.e2e, pytest.mark.server, pytest.mark.timeout(300)]


@pytest.fixture
def broker() -> Iterator[MosquittoServer]:
    if missing := mosquitto_missing():
        pytest.skip(missing)
    with MosquittoServer() as server:
        yield server


def test_a_connection_that_begins_to_fail_is_told_on_its_page_and_on_home(page: Page, broker: MosquittoServer) -> None:
    page.goto("/connections")
    config = {"host": "127.0.0.1", "port": broker.port}
    connection = ask(page, "POST", "/api/connections", {"name": "plant", "kind": "mqtt", "config": config}).json()
    document = chain("reads-plant")
    columns = [{"name": "id", "type": "long"}]
    source = {"connection": "plant", "topics": "open/#", "columns": columns}
    document["nodes"]["numbers"] = {"type": "source.mqtt", "name": "In", "config": source}
    ask(page, "POST", "/api/jobs", document)
    page.goto("/connections")
    row = page.get_by_role("row").filter(has_text="plant")
    expect(row).to_contain_text("works, checked")
    with page.context.new_page() as home:
        home.goto("/")
        failing = home.get_by_role("table", name="Connections that fail").get_by_role("row").filter(has_text="plant")
        expect(home.get_by_role("heading", name="Home")).to_be_visible()
        expect(failing).to_have_count(0)
        broker.stop()
        expect(row).to_contain_text("port failing for")
        expect(row).to_contain_text(f"127.0.0.1:{broker.port} does not answer")
        expect(failing).to_contain_text("1 job uses it")
        expect(failing).to_contain_text(f"127.0.0.1:{broker.port} does not answer")
        failing.get_by_role("button", name="Open the connection").click()
        panel = home.get_by_role("complementary", name="plant")
        expect(panel).to_contain_text("port fails, checked")
        broker.start()
        expect(panel).to_contain_text("works, checked")
        expect(row).to_contain_text("works, checked")
    ask(page, "DELETE", "/api/jobs/reads-plant")
    ask(page, "DELETE", f"/api/connections/{connection['id']}")


def test_beside_an_open_panel_every_kind_keeps_its_icon_whole(page: Page) -> None:
    page.goto("/connections")
    settings: dict[str, dict[str, Any]] = {
        "mysql": {"host": "127.0.0.1", "database": "shop", "user": "me"},
        "webhook_receiver": {"url": "http://127.0.0.1:9/"},
    }
    made = []
    for kind, config in settings.items():
        named = {"name": f"icon-{kind.replace('_', '-')}", "kind": kind, "config": config, "secrets": {}}
        made.append(ask(page, "POST", "/api/connections", named).json())
    page.reload()
    page.get_by_text("icon-mysql", exact=True).click()
    expect(page.get_by_role("button", name="Test the connection")).to_be_visible()
    icons = [icon.bounding_box() for icon in page.locator("td .pw-line > .tabler-icon").all()]
    assert len(icons) > 2
    assert {(icon["width"], icon["height"]) for icon in icons if icon} == {(16, 16)}
    for connection in made:
        ask(page, "DELETE", f"/api/connections/{connection['id']}")
