"""From a change of status to its message in a browser: a stream stopped and resumed 20 times. `python -m benchmarks.status_to_browser`."""

from __future__ import annotations

import json
import time
from datetime import datetime

from playwright.sync_api import Page, WebSocket, sync_playwright

from benchmarks.installation import Installation, installation, percentile, stream
from tests.e2e.conftest import sign_in
from tests.servers.browser import ARGUMENTS, browser_program

TIMES = 20


class Heard:
    """Seconds between the time an event carries and its arrival, of each change of status."""

    def __init__(self, page: Page) -> None:
        self.delays: list[float] = []
        page.on("websocket", self._listen)

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._frame)

    def _frame(self, frame: str | bytes) -> None:
        arrived, message = time.time(), json.loads(frame)
        if message.get("type") == "event" and message["event"]["to_status"]:
            self.delays.append(arrived - datetime.fromisoformat(message["event"]["time"]).timestamp())


def reached(page: Page, place: Installation, execution_id: str, status: str) -> None:
    deadline = time.monotonic() + 60
    while place.status(execution_id) != status:
        if time.monotonic() > deadline:
            raise TimeoutError(f"{execution_id} is not {status} after 60 s")
        page.wait_for_timeout(50)


def main() -> None:
    with installation() as place, sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=browser_program(), args=ARGUMENTS).new_page()
        sign_in(page, place.product, place.product.link)
        place.ask("POST", "/api/jobs", stream("news", table="news"))
        execution_id = place.ask("POST", "/api/jobs/news/start", {})["execution_id"]
        heard = Heard(page)
        page.goto(f"{place.product.url}/executions/{execution_id}")
        for _ in range(TIMES):
            reached(page, place, execution_id, "RUNNING")
            place.ask("POST", f"/api/executions/{execution_id}/stop", {})
            reached(page, place, execution_id, "PAUSED")
            place.ask("POST", f"/api/executions/{execution_id}/resume", {})
        page.wait_for_timeout(1000)
    p50, p95 = (percentile(heard.delays, share) * 1000 for share in (0.5, 0.95))
    print(f"change of status to browser, {len(heard.delays)} changes: p50 {p50:.0f} ms, p95 {p95:.0f} ms (aim 250)")


if __name__ == "__main__":
    main()
