"""From the click on Run to the first row in the target, with a warm driver: 20 tries. `python -m benchmarks.first_row`."""

from __future__ import annotations

import sqlite3
import time
from pathlib import Path

from benchmarks.installation import Installation, installation, percentile, stream, until

TRIES = 20


def rows_in(warehouse: Path, table: str) -> bool:
    if not warehouse.exists():
        return False
    with sqlite3.connect(f"file:{warehouse}?mode=ro", uri=True, timeout=5) as database:
        try:
            return database.execute(f'SELECT 1 FROM "{table}" LIMIT 1').fetchone() is not None
        except sqlite3.OperationalError:
            return False


def measure(place: Installation, warehouse: Path, number: int) -> float:
    name, table = f"first-row-{number}", f"first_row_{number}"
    place.ask("POST", "/api/jobs", stream(name, table=table))
    began = time.monotonic()
    execution_id = place.ask("POST", f"/api/jobs/{name}/start", {})["execution_id"]
    until(lambda: rows_in(warehouse, table), seconds=120)
    seconds = time.monotonic() - began
    place.stop(execution_id)
    return seconds


def main() -> None:
    with installation() as place:
        warehouse = place.product.data / "files" / "flights" / "warehouse.sqlite3"
        measure(place, warehouse, 0)  # warms what the driver has not warmed itself
        figures = [measure(place, warehouse, number) for number in range(1, TRIES + 1)]
    print(f"click to first row, {TRIES} tries: p50 {percentile(figures, 0.5):.2f} s (aim 2), p95 {percentile(figures, 0.95):.2f} s (aim 4)")


if __name__ == "__main__":
    main()
