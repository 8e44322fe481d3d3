"""A job of numbered rows into a table, as the browser tests start and count it, and waiting in a page."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import APIResponse, Page


def ask(page: Page, method: str, path: str, data: object = None) -> APIResponse:
    """A request as the page's user; fails the test unless it is answered well."""
    page.context.request.get("/api/me")
    token = next(cookie["value"] for cookie in page.context.cookies() if cookie["name"] == "csrftoken")
    headers = {"X-CSRFToken": token, "Referer": page.url}
    answered = page.request.fetch(path, method=method, data={} if data is None else data, headers=headers)
    assert answered.ok, f"{method} {path}: {answered.status} {answered.text()}"
    return answered


def numbers_document(name: str, *, rows_per_second: int = 60, total_rows: int | None = None, **settings: Any) -> dict[str, Any]:
    """Rows numbered from 0, appended to a table of the examples' database that is called like the job."""
    source = {"total_rows": total_rows, "rows_per_second": rows_per_second, "rows_per_batch": 50}
    sink = {"connection": "example-warehouse", "table": name.replace("-", "_"), "mode": "append"}
    return {
        "schema_version": 1,
        "name": name,
        "title": name.replace("-", " ").capitalize(),
        "type": "STREAMING",
        "nodes": {
            "rows": {"type": "source.generator", "type_version": 1, "name": "Rows", "config": source},
            "table": {"type": "sink.jdbc", "type_version": 1, "name": "Table", "config": sink},
        },
        "edges": {"e1": {"from": ["rows", "out"], "to": ["table", "in"]}},
        "settings": {"trigger_interval": "500ms", "retry_interval": "1s", "parallelism": 1, **settings},
    }


def numbers_start(page: Page, name: str, **given: Any) -> str:
    """Make and start the job; the id of its execution."""
    ask(page, "POST", "/api/jobs", numbers_document(name, **given))
    return str(ask(page, "POST", f"/api/jobs/{name}/start").json()["execution_id"])


def execution(page: Page, execution_id: str) -> dict[str, Any]:
    found: dict[str, Any] = page.request.get(f"/api/executions/{execution_id}").json()
    return found


def numbers_written(data: Path, table: str) -> list[int]:
    """What has reached the table so far, in order."""
    warehouse = data / "files" / "flights" / "warehouse.sqlite3"
    try:
        with sqlite3.connect(f"file:{warehouse}?mode=ro", uri=True, timeout=20) as database:
            return [row[0] for row in database.execute(f'SELECT id FROM "{table}" ORDER BY id')]
    except sqlite3.OperationalError:  # neither file nor table before the first batch
        return []


def until(page: Page, what: str, condition: Callable[[], bool], *, seconds: float = 150) -> None:
    """Keep the page going until `condition` holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        page.wait_for_timeout(250)


def stopped(page: Page, execution_id: str) -> dict[str, Any]:
    """Ask for a stop and wait until it is PAUSED."""
    ask(page, "POST", f"/api/executions/{execution_id}/stop")
    until(page, "it pauses", lambda: execution(page, execution_id)["status"] == "PAUSED")
    return execution(page, execution_id)
