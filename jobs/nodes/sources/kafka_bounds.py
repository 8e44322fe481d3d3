"""Whether where a Kafka source begins and ends can be read: both are looked at before any row is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobs.nodes.base import NodeError
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import END_BEFORE_START, OTHER_PARTITIONS
from jobs.nodes.sources.kafka_places import written_offsets
from jobs.nodes.start_time import milliseconds_of

if TYPE_CHECKING:
    from jobs.nodes.base import NodeContext
    from jobs.nodes.sources.kafka_config import KafkaSourceConfig

Offsets = dict[tuple[str, int], int]
_NEWEST, _OLDEST = -1, -2


def form_check(context: NodeContext[KafkaSourceConfig]) -> None:
    """NodeError where the form's own values end before they begin, in a job that ends."""
    config = context.config
    if context.job_type == "STREAMING" and not context.beside:
        return
    if config.start == config.end == "time" and milliseconds_of(config.end_time) < milliseconds_of(config.start_time):
        raise _wrong("end_time", f"the end time {config.end_time} lies before the start time {config.start_time}; correct one of them")
    if config.start == config.end == "offsets":
        _order_check(_given(config.start_offsets), _given(config.end_offsets), "end_offsets")


def bounds_check(context: NodeContext[KafkaSourceConfig]) -> None:
    """NodeError on the field that is wrong, where Spark would refuse it amid the read or, worse, speak of lost messages.

    A stream that has begun goes by its position: the form says no more where it reads.
    """
    config, is_batch = context.config, context.mode == "batch"
    ends = is_batch and config.end != "newest"
    if not (config.start == "offsets" or ends) or (not is_batch and any((context.query_dir / "offsets").glob("[0-9]*"))):
        return
    admin = KafkaAdmin(context.connection(config.connection))
    places = config.places().partitions_of(admin.partitions())
    for field in ("start", "end") if is_batch else ("start",):
        if getattr(config, field) == "offsets":
            _places_check(_given(getattr(config, f"{field}_offsets")), places, f"{field}_offsets")
    if not places:
        return
    behind = admin.ends(places)
    if config.start == "offsets" and (is_batch or config.lost_messages == "fail"):
        _reach_check(_given(config.start_offsets), admin, behind)
    if ends:
        _order_check(_start(config, admin, behind), _ends(config, admin, behind), f"end_{config.end}")


def whole_ends(context: NodeContext[KafkaSourceConfig]) -> dict[str, dict[str, int]]:
    """Topic → partition → the offset up to which a read that begins now goes at least, as Spark keeps positions."""
    admin = KafkaAdmin(context.connection(context.config.connection))
    found: dict[str, dict[str, int]] = {}
    if places := context.config.places().partitions_of(admin.partitions()):
        for (topic, number), offset in _ends(context.config, admin, admin.ends(places)).items():
            found.setdefault(topic, {})[str(number)] = offset
    return found


def _ends(config: KafkaSourceConfig, admin: KafkaAdmin, behind: Offsets) -> Offsets:
    """Up to where a bounded read goes that begins now. `behind`: where the newest messages end."""
    if config.end == "time":
        return _at(config.end_time, admin, behind)
    if config.end == "offsets":
        given = _given(config.end_offsets)
        return {place: offset if (offset := given.get(place, _NEWEST)) >= 0 else behind[place] for place in behind}
    return behind


def _start(config: KafkaSourceConfig, admin: KafkaAdmin, behind: Offsets) -> Offsets:
    if config.start == "time":
        return _at(config.start_time, admin, behind)
    first, given = admin.begins(behind), _given(config.start_offsets) if config.start == "offsets" else {}
    named = {_OLDEST: first, _NEWEST: behind}
    return {place: named[offset][place] if (offset := given.get(place, _OLDEST)) in named else offset for place in behind}


def _at(time: str, admin: KafkaAdmin, behind: Offsets) -> Offsets:
    found = admin.offsets_at(behind, milliseconds_of(time))
    return {place: offset if (offset := found.get(place, _NEWEST)) >= 0 else behind[place] for place in behind}


def _given(text: str) -> Offsets:
    return {(topic, int(number)): offset for topic, numbers in written_offsets(text).items() for number, offset in numbers.items()}


def _places_check(given: Offsets, places: list[tuple[str, int]], field: str) -> None:
    if set(given) != set(places):
        raise _wrong(field, OTHER_PARTITIONS.format(_named(given), _named(places)))


def _reach_check(given: Offsets, admin: KafkaAdmin, behind: Offsets) -> None:
    for (topic, number), offset in sorted(given.items()):
        if offset > (end := behind.get((topic, number), offset)):
            begin = admin.begins([(topic, number)]).get((topic, number), 0)
            message = (
                f"{topic}-{number} has messages from {begin} to before {end}: there is no {offset} yet; "
                "correct the start offsets, where -1 means behind the newest"
            )
            raise _wrong("start_offsets", message)


def _order_check(start: Mapping[tuple[str, int], int], end: Mapping[tuple[str, int], int], field: str) -> None:
    for (topic, number), offset in sorted(end.items()):
        begin = start.get((topic, number), _OLDEST)
        if 0 <= offset < begin:
            raise _wrong(field, END_BEFORE_START.format(begin, offset, topic, number))


def _named(places: Mapping[tuple[str, int], int] | list[tuple[str, int]]) -> str:
    return ", ".join(f"{topic}-{number}" for topic, number in sorted(places)) or "none"


def _wrong(field: str, message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user", field=field)
