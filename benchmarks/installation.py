"""The whole product in a folder of its own, asked over REST as a script would ask it."""

from __future__ import annotations

import json
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.servers.product import Product


class Installation:
    """A running product and a token of its user `admin`."""

    def __init__(self, product: Product) -> None:
        self.product = product
        self._token = product.manage("create_token", "admin").split()[-1]

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON that `path` answers; urllib's HTTPError for anything but success."""
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(f"{self.product.url}{path}", data=data, headers=headers, method=method)
        with urllib.request.urlopen(asked) as answer:
            text = answer.read()
        return json.loads(text) if text else None

    def status(self, execution_id: str) -> str:
        return str(self.ask("GET", f"/api/executions/{execution_id}")["status"])

    def stop(self, execution_id: str) -> None:
        """Stopped and cancelled, so that the job can start again from the beginning."""
        self.ask("POST", f"/api/executions/{execution_id}/cancel", {})
        until(lambda: self.status(execution_id) in ("CANCELLED", "COMPLETED", "FAILED"), seconds=120)


@contextmanager
def installation() -> Iterator[Installation]:
    with tempfile.TemporaryDirectory(prefix="pipeline-benchmark-") as folder, Product(Path(folder)) as product:
        yield Installation(product)


def until(condition: Callable[[], bool], *, seconds: float, pause: float = 0.02) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"it did not happen within {seconds:.0f} s")
        time.sleep(pause)


def percentile(figures: list[float], share: float) -> float:
    """The smallest figure that at least `share` of all do not exceed."""
    return sorted(figures)[max(0, -(-int(len(figures) * share * 1000) // 1000) - 1)]


def stream(name: str, *, table: str, trigger: str = "1s", per_second: int = 50) -> dict[str, Any]:
    """An endless generator that appends to a table of the example warehouse."""
    nodes = {
        "numbers": ("source.generator", "Numbers", {"total_rows": None, "rows_per_second": per_second}),
        "table": ("sink.jdbc", "Table", {"connection": "example-warehouse", "table": table, "mode": "append"}),
    }
    return {
        "schema_version": 1,
        "name": name,
        "type": "STREAMING",
        "parameters": {},
        "nodes": {
            key: {"type": type_, "type_version": 1, "name": title, "config": config} for key, (type_, title, config) in nodes.items()
        },
        "edges": {"e1": {"from": ["numbers", "out"], "to": ["table", "in"]}},
        "settings": {"trigger_interval": trigger, "checkpoint_interval": "60s"},
    }
