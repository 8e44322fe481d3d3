"""What the jobs whose restores are tested have to bring forth, in plain Python: sink → its rows."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from tests.checkpoints.restores import FILES, SHAPES, START, Shape, ids_of_files

MINUTES = 5
Rows = list[dict[str, Any]]


def _at(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def _rows(ids: Iterable[int]) -> Rows:
    return [{"key": one % 3, "at": _at(one), "id": one} for one in ids]


def _late(files: list[list[int]], number: int) -> list[int]:
    """Of file `number`: the ids whose window had closed by the newest time of the batch before the last."""
    newest = max((one for ids in files[: max(0, number - 1)] for one in ids), default=-1)
    return [one for one in files[number] if one - one % MINUTES + MINUTES <= newest]


def _closed(shape: Shape, values: Callable[[list[int]], dict[str, Any]]) -> Rows:
    """The windows that are over at the end; `values` of the ids in one of them, of one key."""
    files = ids_of_files(shape)
    windows: dict[tuple[int, int], list[int]] = defaultdict(list)
    for number, ids in enumerate(files):
        for one in (Counter(ids) - Counter(_late(files, number))).elements():
            windows[one - one % MINUTES, one % 3].append(one)
    newest = max(one for ids in files for one in ids)
    over = {bounds: ids for bounds, ids in windows.items() if bounds[0] + MINUTES <= newest}
    return [
        {"window_start": _at(start), "window_end": _at(start + MINUTES), "key": key, **values(ids)} for (start, key), ids in over.items()
    ]


def _counted(ids: list[int]) -> dict[str, Any]:
    return {"n": len(ids)}


def _reduced(ids: list[int]) -> dict[str, Any]:
    return {"ids": ",".join(map(str, sorted(ids))), "most": max(Counter(ids).values())}


def _led_on(shape: Shape) -> Rows:
    files = ids_of_files(shape)
    return _rows(one for number in range(FILES) for one in _late(files, number))


def references(name: str) -> Mapping[str, Rows]:
    """Of the shape of this name, by sinks that write files; {} where there is no plain reference."""
    shape = SHAPES[name]
    match name:
        case "window":
            return {"lake": _closed(shape, _counted)}
        case "reduce":
            return {"lake": _closed(shape, _reduced)}
        case "late":
            return {"lake": _led_on(shape), "closed": _closed(shape, _counted)}
        case "mail":
            return {"lake": _rows(one for ids in ids_of_files(shape) for one in ids)}
        case _:
            return {}


def ordered(rows: Rows) -> list[str]:
    """Rows that can be compared, whether their times are such or text."""
    return sorted(str(sorted((name, _plain(value)) for name, value in row.items())) for row in rows)


def _plain(value: Any) -> str:
    try:
        return str(value if isinstance(value, datetime) else datetime.fromisoformat(value))
    except (TypeError, ValueError):
        return repr(value)
