"""Offsets of Kafka topics as a person sets them: within what the brokers have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.hand_positions import Wanted, Way, whole_number, wrong
from jobs.nodes.start_time import milliseconds_of

if TYPE_CHECKING:
    from jobs.nodes.base import NodeContext
    from jobs.nodes.sources.kafka_config import KafkaSourceConfig

Places = dict[tuple[str, int], int]


@dataclass(frozen=True)
class KafkaPositions:
    """Topic → partition → offset of the next message. Partitions that `values` do not name stay where they are."""

    ways: tuple[Way, ...] = ("earliest", "latest", "time", "values")

    def settable(self, position: Any, config: KafkaSourceConfig) -> dict[str, Any]:
        return dict(position)

    def moved(self, position: Any, wanted: Wanted, context: NodeContext[KafkaSourceConfig]) -> Any:
        admin = KafkaAdmin(context.connection(context.config.connection))
        places = {(topic, int(number)): offset for topic, numbers in position.items() for number, offset in numbers.items()}
        first, behind = admin.begins(places), admin.ends(places)
        if gone := sorted(set(places) - set(behind)):
            raise wrong(f"{gone[0][0]}/{gone[0][1]} does not exist any more")
        moved: Places = {"earliest": first, "latest": behind}.get(wanted.to, places)
        if wanted.to == "time":
            found = admin.offsets_at(places, _milliseconds(wanted.time))
            moved = {place: found.get(place, -1) if found.get(place, -1) >= 0 else behind[place] for place in places}
        elif wanted.to == "values":
            moved = places | _written(wanted.values, places)
            _range_check(moved, places, first, behind)
        return {topic: {number: moved[topic, int(number)] for number in numbers} for topic, numbers in position.items()}


def _milliseconds(text: str) -> int:
    try:
        return milliseconds_of(text)
    except ValueError:
        raise wrong(f"there is no such time: {text!r}") from None


def _written(values: Mapping[str, Any], places: Places) -> Places:
    found = {}
    for topic, numbers in values.items():
        if not isinstance(numbers, Mapping):
            raise wrong('offsets are written as {"topic": {"0": 1200}}')
        for number, offset in numbers.items():
            place = (topic, int(number) if str(number).isdecimal() and len(str(number)) < 10 else -1)
            if place not in places:
                raise wrong(f"the checkpoint has no position in {topic}/{number}")
            found[place] = whole_number(offset, f"{topic}/{number}")
    return found


def _range_check(moved: Places, before: Places, first: Places, behind: Places) -> None:
    for (topic, number), offset in moved.items():
        place = (topic, number)
        if offset != before[place] and not first[place] <= offset <= behind[place]:
            raise wrong(f"{topic}/{number} has messages from {first[place]} to before {behind[place]}: there is no {offset}")
