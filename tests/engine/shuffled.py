"""Events in an order of their own, in files for a watched folder."""

import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.engine.graphs import Bench

START = datetime(2024, 3, 1, tzinfo=UTC)
HOURS = 4
COLUMNS = [{"name": "key", "type": "long"}, {"name": "at", "type": "timestamp"}, {"name": "id", "type": "long"}]
_FILES = 6
Event = dict[str, Any]


def events(chance: random.Random, count: int, *, first: int = 0, keys: int = 12) -> list[Event]:
    """`key`, `at` within HOURS of START, and `id` from `first` on; in no order of time."""
    moments = [START + timedelta(seconds=chance.randrange(HOURS * 3600)) for _ in range(count)]
    return [{"key": chance.randrange(keys), "at": moment, "id": first + number} for number, moment in enumerate(moments)]


def events_drop(bench: Bench, folder: str, rows: list[Event]) -> tuple[str, dict[str, Any]]:
    """Written into several files; the source that reads two of them a batch."""
    target = bench.files / folder
    target.mkdir(exist_ok=True)
    for number in range(_FILES):
        lines = [json.dumps({**row, "at": row["at"].isoformat()}) for row in rows[number::_FILES]]
        (target / f"{number}.json").write_text("\n".join(lines) + "\n")
    return "source.file", {"path": folder, "format": "json", "columns": COLUMNS, "max_files_per_trigger": 2}


def events_close(bench: Bench, folder: str) -> None:
    """Rows of key -1 that come so much later that all before them is over."""
    for number in range(2):
        row = {"key": -1, "at": (START + timedelta(days=9 + number)).isoformat(), "id": -1}
        (bench.files / folder / f"close{number}.json").write_text(json.dumps(row) + "\n")
