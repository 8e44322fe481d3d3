"""Which topics and partitions a Kafka source reads, where it begins and where a bounded read ends, as options of Spark's reader."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.nodes.start_time import milliseconds_of

if TYPE_CHECKING:
    from jobs.nodes.base import NodeContext
    from jobs.nodes.sources.kafka_config import KafkaSourceConfig

_NAME = re.compile(r"[A-Za-z0-9._-]{1,249}")
_MOST_PARTITIONS = 10_000


@dataclass(frozen=True)
class ReadPlaces:
    """`topic` as the form holds it; `partitions` empty for all."""

    topic: str
    is_pattern: bool
    partitions: tuple[int, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return () if self.is_pattern else topic_names(self.topic)

    def among(self, topics: Mapping[str, int]) -> list[str]:
        """Those of `topics` (topic → partitions) that are read."""
        if self.is_pattern:
            return [topic for topic in topics if re.fullmatch(self.topic, topic)]
        return [topic for topic in self.names if topic in topics]

    def partitions_of(self, topics: Mapping[str, int]) -> list[tuple[str, int]]:
        """Each partition of `topics` (topic → partitions) that is read, with its topic."""
        return [(topic, number) for topic in self.among(topics) for number in self.partitions or range(topics[topic])]

    def number(self, topics: Mapping[str, int]) -> int:
        """How many partitions of `topics` (topic → partitions) are read."""
        return len(self.partitions_of(topics))

    def missing(self, topics: Mapping[str, int]) -> str:
        """What is to be read and is not among `topics`, in words; "" if all is there. A pattern may match topics to come."""
        if self.is_pattern:
            return ""
        for name in self.names:
            if name not in topics:
                return f"topic {name} does not exist, or may not be seen"
            for partition in self.partitions:
                if partition >= topics[name]:
                    return f"topic {name} has no partition {partition} (it has {topics[name]})"
        return ""

    def options(self) -> dict[str, str]:
        if self.is_pattern:
            return {"subscribePattern": self.topic}
        if self.partitions:
            return {"assign": json.dumps({name: list(self.partitions) for name in self.names})}
        return {"subscribe": ",".join(self.names)}


def topic_names(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def topics_check(text: str, *, is_pattern: bool) -> None:
    """ValueError where the topics are not written as they should be."""
    if is_pattern:
        try:
            re.compile(text)
        except re.error as error:
            raise ValueError(f"topic is no pattern ({error})") from None
        return
    wrong = [name for name in topic_names(text) if not _NAME.fullmatch(name)]
    if wrong:
        raise ValueError(f'"{wrong[0]}" is no name of a topic: letters, digits, dots, hyphens and underscores, with a comma between')


def partitions_chosen(text: str) -> tuple[int, ...]:
    """The numbers of "0, 2-5"; ValueError for a range that runs backwards or is far too long."""
    chosen: set[int] = set()
    for part in filter(None, (part.strip() for part in text.split(","))):
        first, _, last = (number.strip() for number in part.partition("-"))
        numbers = range(int(first), int(last or first) + 1)
        if not numbers or len(numbers) > _MOST_PARTITIONS:
            raise ValueError(f"partitions: {part} is no range of partitions")
        chosen.update(numbers)
    return tuple(sorted(chosen))


def written_offsets(text: str) -> dict[str, dict[str, int]]:
    """What the form's JSON holds; ValueError in words when it holds something else."""
    try:
        given = json.loads(text)
        return {topic: {str(int(partition)): int(offset) for partition, offset in parts.items()} for topic, parts in given.items()}
    except (ValueError, TypeError, AttributeError):
        raise ValueError('offsets are written as {"topic": {"0": 1200, "1": -2}}') from None


def places_options(context: NodeContext[KafkaSourceConfig]) -> dict[str, str]:
    """Options of Spark's Kafka reader for what is read and from where to where."""
    config = context.config
    options = {
        **config.places().options(),
        "failOnDataLoss": str(config.lost_messages == "fail").lower(),
        "includeHeaders": str(config.metadata).lower(),
        **_start(config, context.mode == "batch"),
    }
    if context.mode == "batch":
        return options | _end(config)
    if config.max_records_per_trigger and not context.real_time:
        options["maxOffsetsPerTrigger"] = str(config.max_records_per_trigger)
    return options


def _start(config: KafkaSourceConfig, is_batch: bool) -> dict[str, str]:
    if config.start == "time":  # a partition without a later message begins behind its newest
        return {"startingTimestamp": str(milliseconds_of(config.start_time)), "startingOffsetsByTimestampStrategy": "latest"}
    if config.start == "offsets":
        return {"startingOffsets": json.dumps(written_offsets(config.start_offsets))}
    # A plain read ends at the newest message and so cannot begin there.
    return {"startingOffsets": "earliest" if is_batch else config.start}


def _end(config: KafkaSourceConfig) -> dict[str, str]:
    if config.end == "time":
        return {"endingTimestamp": str(milliseconds_of(config.end_time))}
    if config.end == "offsets":
        return {"endingOffsets": json.dumps(written_offsets(config.end_offsets))}
    return {}
