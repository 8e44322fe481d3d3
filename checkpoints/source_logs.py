"""What sources keep beside the offsets of a query."""

import json
from pathlib import Path
from typing import Any


def names_files(entry: Path) -> bool:
    """Whether it is an entry of a file source's log, which tells Spark to read the files that it names."""
    found = (_data_of(line) for line in entry.read_bytes().splitlines()[1:])
    return any(isinstance(one, dict) and isinstance(one.get("path"), str) for one in found)


def unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON. ValueError where it gives a name twice: others would go by the first value, or by the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError
    return found


def _data_of(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
