"""What windows, joins, repeats and own state give of rows that come in batches, by plain Python: late rows are left out as Spark does.

A batch leaves out what is not newer than the watermark that the batch before it had, and lets go at its end of what is not newer than
its own: the newest time of all batches before it, less the delay. Joins and own state take in what is as old as that.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from tests.engine.shuffled import START, Event

Batches = Sequence[Sequence[Event]]
Kept = Counter[tuple[Any, ...]]
LONG_AGO = START - timedelta(days=9999)
DELAY, WINDOW, WITHIN, BEFORE, AFTER, GAP = (timedelta(minutes=minutes) for minutes in (20, 12, 30, 5, 20, 3))


def batches_of(chance: random.Random, count: int, rows: int, *, first: int = 0) -> list[list[Event]]:
    """Rows that go on in time by half an hour a batch, in no order within an hour; some come much later, some again in another batch."""
    made: list[list[Event]] = []
    for number in range(count):
        begin = START + timedelta(minutes=30 * number)
        batch: list[Event] = [
            {"key": chance.randrange(4), "at": begin + timedelta(seconds=chance.randrange(3600)), "id": first + number * rows + place}
            for place in range(rows)
        ]
        for row in chance.sample(batch, rows // 6):
            row["at"] -= timedelta(minutes=chance.randrange(10, 240))
        again = chance.sample(made[number - chance.randrange(1, min(number, 3) + 1)], rows // 6) if number else []
        made.append([*batch, *again, *chance.sample(batch, rows // 8)])
        chance.shuffle(made[-1])
    return made


def late_marks(batches: Batches, delay: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """Of each batch: by which time it calls rows late, and of which time it lets go at its end."""
    newest, before = LONG_AGO, LONG_AGO
    for batch in batches:
        now = newest - delay if newest > LONG_AGO else LONG_AGO
        yield before, now
        before, newest = now, max([newest, *(row["at"] for row in batch)])


def _joined_marks(left: Batches, right: Batches) -> list[datetime]:
    """The slower of both streams says what is late."""
    return [min(one[0], other[0]) for one, other in zip(late_marks(left, DELAY), late_marks(right, DELAY), strict=True)]


def windows(batches: Batches) -> Kept:
    """Begin of the window, key, rows in it."""
    found: Kept = Counter()
    for batch, (late, _) in zip(batches, late_marks(batches, DELAY), strict=True):
        for row in batch:
            begin = row["at"] - (row["at"] - START) % WINDOW
            if begin + WINDOW > late:
                found[begin, row["key"]] += 1
    return Counter({(*group, rows): 1 for group, rows in found.items()})


def sessions(batches: Batches) -> Iterator[list[Event]]:
    """The rows of each session of a key. One that a batch let go takes no more rows: a row that came near it begins another."""
    going: list[list[Event]] = []
    for batch, (late, gone) in zip(batches, late_marks(batches, DELAY), strict=True):
        rows = [[row] for row in batch if row["at"] + GAP > late]
        merged: list[list[Event]] = []
        for one in sorted([*going, *rows], key=lambda rows: (rows[0]["key"], min(row["at"] for row in rows))):
            before = merged[-1] if merged and merged[-1][0]["key"] == one[0]["key"] else []
            if before and min(row["at"] for row in one) <= max(row["at"] for row in before) + GAP:
                before.extend(one)
            else:
                merged.append(list(one))
        over = [one for one in merged if max(row["at"] for row in one) + GAP <= gone]
        going = [one for one in merged if one not in over]
        yield from over


def told_sessions(batches: Batches) -> Kept:
    """Begin of the session, key, rows in it."""
    return Counter((min(row["at"] for row in rows), rows[0]["key"], len(rows)) for rows in sessions(batches))


def reduced(batches: Batches) -> Kept:
    """Begin of the session, key, its ids in their order."""
    found = [(rows, sorted(row["id"] for row in rows)) for rows in sessions(batches)]
    return Counter((min(row["at"] for row in rows), rows[0]["key"], ",".join(map(str, ids))) for rows, ids in found)


def once(batches: Batches) -> Kept:
    """Ids, each as often as it is let through."""
    known: dict[int, datetime] = {}
    found: Kept = Counter()
    for batch, (late, gone) in zip(batches, late_marks(batches, WITHIN), strict=True):
        for row in batch:
            if row["at"] > late and row["id"] not in known:
                known[row["id"]] = row["at"] + WITHIN
                found[row["id"],] += 1
        known = {one: until for one, until in known.items() if until > gone}
    return found


def pairs(left: Batches, right: Batches) -> Kept:
    """Ids of both sides, each pair as often as its rows came."""
    late = _joined_marks(left, right)
    one, other = ([row for batch, mark in zip(side, late, strict=True) for row in batch if row["at"] > mark] for side in (left, right))
    return Counter(
        (row["id"], mate["id"])
        for row in one
        for mate in other
        if row["key"] == mate["key"] and row["at"] - BEFORE <= mate["at"] <= row["at"] + AFTER
    )


def counted(batches: Batches) -> Kept:
    """What `COUNTING` yields: ids that are new to their key, with how many of it came before and what they sum up to."""
    seen: dict[int, dict[int, None]] = {}
    found: Kept = Counter()
    for batch, (late, _) in zip(batches, late_marks(batches, DELAY), strict=True):
        for row in sorted(batch, key=lambda one: (one["at"], one["id"])):
            ids = seen.setdefault(row["key"], {})
            if row["at"] >= late and row["id"] not in ids:
                found[row["id"], len(ids), sum(ids)] += 1
                ids[row["id"]] = None
    return found


COUNTING = """
def process(key, rows, state, timers):
    for row in sorted(rows, key=lambda row: (row["at"], row["id"])):
        if not state.seen.get(row["id"]):
            yield {"id": row["id"], "before": state.count.get(0), "total": state.total.get(0)}
            state.seen.put(row["id"], True)
            state.count.set(state.count.get(0) + 1)
            state.total.set(state.total.get(0) + row["id"])
"""
REDUCING = """
def start():
    return []


def add(value, row):
    return sorted([*value, row["id"]])


def merge(one, other):
    return sorted([*one, *other])


def result(value):
    return {"ids": ",".join(map(str, value))}
"""
_SESSION = {"time_column": "at", "kind": "session", "window": "3 min", "late": "20 min", "group_by": ["key"], "emit": "close"}
_LONGS = ("id", "before", "total")
#: The families, each a node with the sink of its name behind it.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "windows": (
        "flow.window_aggregate",
        {"time_column": "at", "window": "12 min", "late": "20 min", "group_by": ["key"], "emit": "close", "aggregates": [{"name": "n"}]},
    ),
    "sessions": ("flow.window_aggregate", {**_SESSION, "aggregates": [{"name": "n"}]}),
    "reduced": ("flow.window_reduce", {**_SESSION, "code": REDUCING, "columns": [{"name": "ids", "type": "string"}]}),
    "once": ("flow.deduplicate", {"keys": ["id"], "time_column": "at", "within": "30 min"}),
    "pairs": (
        "flow.join",
        {
            "kind": "inner",
            "keys": [{"left": "key"}],
            "left_time": "at",
            "right_time": "at",
            "late": "20 min",
            "before": "5 min",
            "after": "20 min",
        },
    ),
    "counted": (
        "flow.stateful",
        {
            "keys": ["key"],
            "time": "event",
            "time_column": "at",
            "late": "20 min",
            "code": COUNTING,
            "state": [{"name": "seen", "kind": "map", "key_type": "long", "type": "boolean"}, {"name": "count"}, {"name": "total"}],
            "columns": [{"name": name, "type": "long"} for name in _LONGS],
        },
    ),
}
EDGES = "rows>windows, rows>sessions, rows>reduced, rows>once, rows>pairs.left, more>pairs.right, rows>counted"
#: How a written row is compared with the reference.
SHOWN: dict[str, Callable[[Any], tuple[Any, ...]]] = {
    "windows": lambda row: (row.window_start.astimezone(START.tzinfo), row.key, row.n),
    "sessions": lambda row: (row.window_start.astimezone(START.tzinfo), row.key, row.n),
    "reduced": lambda row: (row.window_start.astimezone(START.tzinfo), row.key, row.ids),
    "once": lambda row: (row.id,),
    "pairs": lambda row: (row.id, row.right_id),
    "counted": lambda row: tuple(row[name] for name in _LONGS),
}


def wanted(left: Batches, right: Batches) -> dict[str, Kept]:
    """What each family gives once all has been read and closed."""
    return {
        "windows": windows(left),
        "sessions": told_sessions(left),
        "reduced": reduced(left),
        "once": once(left),
        "pairs": pairs(left, right),
        "counted": counted(left),
    }
