"""What the execution page shows when a driver or its own connection is lost, and after a reload."""

import os
import re
import signal

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect

from tests.e2e.numbers import execution, numbers_start, numbers_written, stopped, until
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(500)]

WORKER = re.compile(r"\S+:(\d+)")


def figure(page: Page, label: str) -> int:
    """A number of the strip, such as rows in; -1 while there is none."""
    one = page.locator(".pw-strip .pw-figure").filter(has=page.get_by_text(label, exact=True))
    text = re.sub(r"\D", "", one.locator(".pw-figure-value").inner_text())
    return int(text) if text else -1


def test_a_killed_driver_is_followed_by_another_attempt_without_a_row_twice_or_missing(page: Page, product: Product) -> None:
    execution_id = numbers_start(page, "killed-driver")
    page.goto(f"/executions/{execution_id}")
    until(page, "rows arrive", lambda: len(numbers_written(product.data, "killed_driver")) > 100)
    before = execution(page, execution_id)
    head = page.locator(".pw-head")
    expect(head).to_contain_text("attempt 1")
    shown = WORKER.search(head.inner_text())
    assert shown is not None
    assert shown.group() == before["worker"]
    pid = int(shown.group(1))
    assert pid in product.processes()
    os.kill(pid, signal.SIGKILL)
    expect(head).to_contain_text("attempt 2", timeout=150_000)
    kept = len(numbers_written(product.data, "killed_driver"))
    until(page, "rows go on", lambda: len(numbers_written(product.data, "killed_driver")) > kept + 100)
    after = stopped(page, execution_id)
    expect(page.get_by_text("PAUSED", exact=True).first).to_be_visible()
    assert (after["generation"], after["attempt"]) == (before["generation"], before["attempt"] + 1)
    rows = numbers_written(product.data, "killed_driver")
    assert rows == list(range(len(rows)))
    assert after["written_records"] == len(rows)


class Wire:
    """The page's connection to an execution; messages can be held back from it, and it can be cut."""

    def __init__(self, page: Page) -> None:
        self.opened = 0
        self.lost = 0
        self.silent = False
        page.route_web_socket(re.compile(r"/ws/executions/"), self._open)

    def cut(self) -> None:
        self._page.close(code=4000, reason="cut by the test")

    def _open(self, route: WebSocketRoute) -> None:
        self.opened += 1
        self._page = route
        server = route.connect_to_server()
        server.on_message(self._pass)

    def _pass(self, message: str | bytes) -> None:
        if self.silent:
            self.lost += 1
        else:
            self._page.send(message)


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "silent"])
def test_what_was_missed_while_the_connection_was_lost_is_read_again(page: Page, cut: bool) -> None:
    wire = Wire(page)
    execution_id = numbers_start(page, f"lost-wire-{'cut' if cut else 'silent'}", checkpoint_interval="5s")
    page.goto(f"/executions/{execution_id}")
    until(page, "rows arrive", lambda: figure(page, "Rows in") > 0)
    opened, begun = wire.opened, execution(page, execution_id)["seq"]
    wire.silent = True
    until(page, "events are missed", lambda: execution(page, execution_id)["seq"] > begun + 1 and wire.lost > 5)
    if cut:
        wire.cut()
    wire.silent = False
    until(page, "the page reads again", lambda: wire.opened > opened)
    state = stopped(page, execution_id)
    expect(page.get_by_text("PAUSED", exact=True).first).to_be_visible()
    until(page, "the totals agree", lambda: figure(page, "Rows in") == state["processed_records"], seconds=15)
    assert figure(page, "Rows out") == state["written_records"]
    page.get_by_role("tab", name="Timeline").click()
    events = page.request.get(f"/api/executions/{execution_id}/events").json()["results"]
    expect(page.locator(".pw-tab-body .pw-events > li")).to_have_count(len(events))


def points(page: Page) -> dict[str, str]:
    """The points of the rows chart that a screen reader is told: clock time → figures."""
    rows = page.get_by_role("table", name="Rows per second").locator("tbody tr:not([aria-hidden])").all_inner_texts()
    return {row.split("\t")[0]: row.split("\t", 1)[1] for row in rows if "–" not in row}


def test_a_reload_shows_the_same_chart(page: Page) -> None:
    execution_id = numbers_start(page, "same-chart")
    page.goto(f"/executions/{execution_id}")
    until(page, "the chart has points", lambda: len(points(page)) >= 8)
    live = points(page)
    live.pop(max(live))  # its second may not be over
    page.reload()
    until(page, "the chart is back", lambda: len(points(page)) >= 8)
    again = points(page)
    common = live.keys() & again.keys()
    assert len(common) >= 3
    assert {time: live[time] for time in common} == {time: again[time] for time in common}
    stopped(page, execution_id)
    expect(page.get_by_text("PAUSED", exact=True).first).to_be_visible()
    with page.context.new_page() as fresh:
        fresh.goto(f"/executions/{execution_id}")
        until(page, "both pages show the same", lambda: points(page) == points(fresh) != {}, seconds=30)
