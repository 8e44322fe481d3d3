"""Where a source stands in the queues of its topic: queue → offset of the next message to read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jobs.nodes.node_error import NodeError
from jobs.nodes.rocketmq.client import RocketMq, RocketmqAway
from jobs.nodes.rocketmq.route import Queue, Route

Offsets = Mapping[Queue, int]
_OLDEST, _NEWEST = -2, -1
#: Fewer messages are not worth a task of their own.
_FEW = 5_000


@dataclass(frozen=True)
class Start:
    """Where a start from the beginning begins: `at` earliest, latest, time (`milliseconds`) or offsets (queue → offset, -2, -1)."""

    at: Literal["earliest", "latest", "time", "offsets"] = "earliest"
    milliseconds: int = 0
    offsets: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class QueueRange:
    """The messages of a queue from `first` to before `last`."""

    queue: Queue
    first: int
    last: int


def offsets_json(offsets: Offsets) -> dict[str, int]:
    return {str(queue): offset for queue, offset in sorted(offsets.items())}


def offsets_of(told: Mapping[str, int]) -> dict[Queue, int]:
    return {Queue.of_text(name): int(offset) for name, offset in told.items()}


def written_offsets(text: str) -> tuple[tuple[str, int], ...]:
    """What a form's JSON holds; ValueError in words when it holds something else."""
    try:
        given = json.loads(text)
        return tuple((str(Queue.of_text(name)), int(offset)) for name, offset in given.items())
    except (ValueError, TypeError, AttributeError):
        raise ValueError('offsets are written as {"broker-a/0": 1200, "broker-a/1": -2}') from None


def begin(client: RocketMq, topic: str, start: Start) -> dict[Queue, int]:
    """The first offset to read of each queue there is; one that is not named among offsets begins at its oldest message.

    NodeError where they name a queue that is not there.
    """
    route = client.route(topic)
    named = dict(start.offsets)
    _there_check(named, route, topic)

    def first(queue: Queue) -> int:
        address = route.addresses[queue.broker]
        given = {"earliest": _OLDEST, "latest": _NEWEST}.get(start.at, named.get(str(queue), _OLDEST))
        if start.at == "time":
            return client.at_time(address, topic, queue, start.milliseconds)
        if given == _NEWEST:
            return client.newest(address, topic, queue)
        return client.oldest(address, topic, queue) if given == _OLDEST else given

    return {queue: first(queue) for queue in route.readable}


def _there_check(named: Iterable[str], route: Route, topic: str) -> None:
    """Permanent where a broker that is there has not the queue: one that is away may come back with it."""
    if lacking := sorted({Queue.of_text(name) for name in named}.difference(route.readable)):
        words = ", ".join(map(str, lacking))
        there = ", ".join(map(str, route.readable))
        raise NodeError(
            f"the start offsets name {words}, but the queues of topic {topic} are now {there}; correct the start offsets",
            permanent=any(queue.broker in route.addresses for queue in lacking),
            kind="user",
            field="start_offsets",
        )


def newest(client: RocketMq, topic: str, *, of_some: bool = False) -> dict[Queue, int]:
    """Behind the newest message of each queue there is now. `of_some`: brokers that do not answer are left out, unless none does."""
    route = client.route(topic)
    found: dict[Queue, int] = {}
    away: dict[str, RocketmqAway] = {}
    for queue in route.readable:
        if queue.broker in away:
            continue
        try:
            found[queue] = client.newest(route.addresses[queue.broker], topic, queue)
        except RocketmqAway as error:
            if not of_some:
                raise
            away[queue.broker] = error
    if away and not found:
        raise next(iter(away.values()))
    return found


def oldest(client: RocketMq, topic: str, queues: Sequence[Queue]) -> dict[Queue, int]:
    """Of those of `queues` that are there."""
    if not queues:
        return {}
    route = client.route(topic)
    there = [queue for queue in queues if queue.broker in route.addresses]
    return {queue: client.oldest(route.addresses[queue.broker], topic, queue) for queue in there}


def admitted(start: Offsets, end: Offsets, most: int) -> dict[Queue, int]:
    """Offsets from `start` towards `end` with `most` messages between: each queue gets its share of what waits.

    Queues of `start` that `end` does not have stay; one that stands behind its `end` goes back to it.
    """
    waiting = {queue: end[queue] - start.get(queue, 0) for queue in end if end[queue] > start.get(queue, 0)}
    total = sum(waiting.values())
    left = min(most, total)
    reached = {**start, **{queue: offset for queue, offset in end.items() if offset <= start.get(queue, 0)}}
    for queue, rows in sorted(waiting.items(), key=lambda item: item[1]):
        share = min(rows, -(-left * rows // total)) if total else 0
        reached[queue] = start.get(queue, 0) + share
        total, left = total - rows, left - share
    return reached


def ranges(start: Offsets, end: Offsets) -> list[QueueRange]:
    """What lies between; a queue that went back was made anew, and is read from its beginning."""
    between = ((queue, start.get(queue, 0), last) for queue, last in sorted(end.items()))
    return [QueueRange(queue, first if first < last else 0, last) for queue, first, last in between if first != last and last > 0]


def shared_out(whole: Sequence[QueueRange], tasks: int) -> list[list[QueueRange]]:
    """The ranges cut into about `tasks` parts of equal size, fewer when they are small."""
    total = sum(one.last - one.first for one in whole)
    size = max(-(-total // max(1, tasks)), _FEW)
    parts: list[list[QueueRange]] = []
    room = 0
    for piece in _pieces(whole, size):
        rows = piece.last - piece.first
        if room < rows:
            parts.append([])
            room = size
        parts[-1].append(piece)
        room -= rows
    return parts


def _pieces(whole: Sequence[QueueRange], size: int) -> Iterator[QueueRange]:
    for one in whole:
        for first in range(one.first, one.last, size):
            yield QueueRange(one.queue, first, min(first + size, one.last))
