"""Where nodes appear that nobody dragged to a place."""

from itertools import combinations

import pytest
from playwright.sync_api import FloatRect, Page, expect

from tests.e2e.numbers import ask, until
from tests.e2e.test_keyboard import node_add

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]


def boxes(page: Page) -> list[FloatRect]:
    return [box for node in page.locator(".pw-node").all() if (box := node.bounding_box())]


def within(box: FloatRect | None, other: FloatRect | None) -> bool:
    if box is None or other is None:
        return False
    return (
        other["x"] <= box["x"]
        and other["y"] <= box["y"]
        and box["x"] + box["width"] <= other["x"] + other["width"]
        and box["y"] + box["height"] <= other["y"] + other["height"]
    )


def apart(one: FloatRect, other: FloatRect) -> bool:
    return (
        one["x"] + one["width"] <= other["x"]
        or other["x"] + other["width"] <= one["x"]
        or one["y"] + one["height"] <= other["y"]
        or other["y"] + other["height"] <= one["y"]
    )


def test_nodes_that_are_added_or_pasted_are_seen_and_cover_no_others(page: Page) -> None:
    drawing = {"schema_version": 1, "name": "placing", "title": "Placing", "type": "STREAMING", "nodes": {}, "edges": {}}
    page.goto("/")
    ask(page, "POST", "/api/jobs", {**drawing, "publish": False})
    page.goto("/jobs/placing")
    canvas = page.locator(".pw-canvas")
    expect(canvas).to_be_visible()
    added = page.locator(".react-flow__node.selected .pw-node")
    for number in range(1, 9):
        node_add(page, "Generator")
        expect(page.locator(".pw-node")).to_have_count(number)
        expect(added).to_have_count(1)
        until(page, "the new node in sight", lambda: within(added.bounding_box(), canvas.bounding_box()), seconds=20)
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    page.keyboard.press("Control+v")
    expect(page.locator(".pw-node")).to_have_count(16)
    until(page, "no node on another", lambda: all(apart(one, other) for one, other in combinations(boxes(page), 2)), seconds=20)


def test_a_node_that_is_chosen_in_the_outline_comes_into_sight(page: Page) -> None:
    numbers = {"type": "source.generator", "config": {}}
    nodes = {f"n{number}": {**numbers, "name": f"Numbers {number}"} for number in range(30)}
    page.goto("/")
    drawing = {"schema_version": 1, "name": "chosen", "title": "Chosen", "type": "STREAMING", "nodes": nodes, "edges": {}}
    ask(page, "POST", "/api/jobs", {**drawing, "publish": False})
    page.goto("/jobs/chosen")
    canvas = page.locator(".pw-canvas")
    expect(canvas).to_be_visible()
    page.get_by_text("Outline", exact=True).click()
    outline = page.locator(".pw-outline")
    far = page.locator(".pw-node[data-node-id=n9]")
    until(page, "the far node drawn", lambda: far.count() == 1, seconds=20)
    assert not within(far.bounding_box(), canvas.bounding_box())
    outline.get_by_text("Numbers 9", exact=True).click()
    until(page, "the chosen node in sight", lambda: within(far.bounding_box(), canvas.bounding_box()), seconds=20)
