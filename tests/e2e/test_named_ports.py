"""Ports that a form names: they appear on the card while they are typed, take edges, keep them by another name, and are missed."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.test_design import connect, drag, job_create, port

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(200)]


def handles(page: Page) -> Locator:
    return page.locator(".pw-node[data-node-id=split] .react-flow__handle")


def test_a_port_appears_as_its_name_is_typed_takes_an_edge_keeps_it_when_renamed_and_is_missed_when_it_goes(page: Page) -> None:
    job_create(page, "named-ports", "Named ports")
    drag(page, "Sources", "Generator", 80, 160)
    drag(page, "Flows", "Split", 330, 160)
    drag(page, "Sinks", "None", 660, 160)
    connect(page, "generator", "split")
    page.locator(".pw-node[data-node-id=split]").click()
    page.get_by_role("button", name="Add to branches").click()
    form = page.get_by_role("complementary").last
    name = form.get_by_role("textbox", name="Name").last
    name.fill("late")
    expect(handles(page)).to_have_count(3)
    expect(page.locator(".pw-node[data-node-id=split] .pw-port-name")).to_have_text(["late", "else"])
    start, end = port(page, "split", "late").bounding_box(), port(page, "none", "in").bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 4, start["y"] + 4)
    page.mouse.down()
    page.mouse.move(end["x"] - 20, end["y"], steps=6)
    page.mouse.move(end["x"] + 4, end["y"] + 4, steps=4)
    page.mouse.up()
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    name.fill("")
    name.press_sequentially("tardy")
    expect(page.locator(".pw-node[data-node-id=split] .pw-port-name")).to_have_text(["tardy", "else"])
    expect(page.locator(".react-flow__edge")).to_have_count(2)
    form.get_by_role("button", name="Remove this row").click()
    expect(page.locator(".pw-node[data-node-id=split] .pw-port-name")).to_have_text(["else", "tardy"])
    expect(page.get_by_role("alert").filter(has_text='"Split" has no port "tardy"; it has "else"')).to_be_visible()
    expect(page.locator(".react-flow__edge")).to_have_count(2)
