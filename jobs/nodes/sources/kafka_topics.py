"""Whether topics are still those that were read before: one that was deleted and made anew has its name, but other messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jobs.nodes.base import NodeError
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.durable_text import text_place
from jobs.nodes.known_messages import made_anew

_MOST_NAMED = 5


@dataclass(frozen=True)
class KnownTopics:
    """`place` keeps the id that the cluster gave each topic when it was first read, for the life of what a stream remembers."""

    place: Path
    admin: KafkaAdmin

    def remade(self) -> NodeError | None:
        """What ends a run that goes on at its old offsets; None while each topic is the one it was, as far as the cluster tells ids."""
        kept = self._kept()
        ids = self.admin.topic_ids(kept)
        if not (gone := sorted(topic for topic, told in ids.items() if told != kept[topic])):
            return None
        named = ", ".join(gone[:_MOST_NAMED]) + (", …" if len(gone) > _MOST_NAMED else "")
        return made_anew("topic" if len(gone) == 1 else "topics", named)

    def keep(self, topics: Iterable[str], *, anew: bool) -> None:
        """Add those that are not known yet; `anew`, take all as they are now."""
        kept = self._kept()
        asked = [topic for topic in topics if anew or topic not in kept]
        found = kept | self.admin.topic_ids(asked) if asked else kept
        if found != kept:
            self.place.parent.mkdir(parents=True, exist_ok=True)
            text_place(self.place, json.dumps(found))

    def _kept(self) -> dict[str, str]:
        try:
            return dict(json.loads(self.place.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return {}


def offsets_check(admin: KafkaAdmin, position: Mapping[str, Mapping[str, int]]) -> None:
    """NodeError where messages behind `position` (topic → partition → next offset) were deleted."""
    places = {(topic, int(number)): offset for topic, numbers in position.items() for number, offset in numbers.items()}
    begins = admin.begins(places) if places else {}
    for (topic, number), begin in sorted(begins.items()):
        if begin > (offset := places[topic, number]):
            raise NodeError(
                f"messages of {topic}/{number} from {offset:,} on were deleted before they were read (there is none before {begin:,}); "
                'set "Lost messages" to go on with what is left, or start from the beginning',
                permanent=True,
                field="lost_messages",
            )
