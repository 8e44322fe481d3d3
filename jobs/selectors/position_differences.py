"""How many rows lie between two positions of a source, of those whose positions count them."""

from collections.abc import Mapping
from typing import Any, TypeGuard


def rows_between(position: Any, reached: Any) -> int | None:
    """Messages or rows from one offset to the other, negative where `reached` is the earlier; None where they do not count them."""
    if not isinstance(position, Mapping) or not isinstance(reached, Mapping):
        return None
    for counted in ("rows", "next", "position", "offset"):
        if is_count(position.get(counted)) and is_count(reached.get(counted)):
            return int(reached[counted]) - int(position[counted])
    return _partitions_between(position, reached)


def _partitions_between(position: Mapping[str, Any], reached: Mapping[str, Any]) -> int | None:
    """Kafka: topic → partition → offset; RocketMQ: broker/queue → offset. What came since is counted from its first offset on, if told."""
    total = 0
    for key, end in reached.items():
        start = position.get(key)
        if isinstance(end, Mapping):
            inner = _partitions_between(start if isinstance(start, Mapping) else {}, end)
        else:
            is_place = key.isdecimal() or "/" in key
            inner = int(end) - int(start) if is_place and is_count(end) and is_count(start) else None
        if inner is None:
            return None
        total += inner
    return total


def is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
