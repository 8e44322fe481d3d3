"""Whether a log that is read by offset is still the one that was read: another one of its name has other messages at its offsets.

Brokers of RabbitMQ and RocketMQ give logs no id that a client is told. So a message of the log is remembered, by its offset and a digest.
"""

from __future__ import annotations

import json
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jobs.nodes.durable_text import text_kept, text_place
from jobs.nodes.node_error import NodeError
from jobs.nodes.patience import SETTLING_SECONDS

logger = logging.getLogger(__name__)

#: In the `work_dir` of the source.
NOTE = "known_messages.json"
_UNTOLD = object()


class Mark(NamedTuple):
    """A message of a log: messages of different digests are different messages."""

    offset: int
    digest: str


#: Places of a log, by the keys of a position, with an offset in each → the first message that is there at or behind it, None where the
#: log ends before it. Places that are not there, and those where something else came before, may be left out. Raises NodeError.
Look = Callable[[Mapping[str, int]], Mapping[str, Mark | None]]


@dataclass(frozen=True)
class KnownMessages:
    """`place` keeps, for each place of the log called `name`, the newest message before the last checkpoint's position.

    Where two messages are the same, as their senders wrote them, a log that was made anew is taken for the one before.
    """

    place: Path
    kind: Literal["stream", "topic"]
    name: str
    look: Look

    def check(self) -> None:
        """NodeError, a permanent one, where the log is another than the one that was read. What retention took tells nothing."""
        kept = self._marks()
        found = self._looked(kept)
        if None in found.values():
            time.sleep(SETTLING_SECONDS)
            found = self._looked(kept)
        if _differ(kept, found):
            raise made_anew(self.kind, self.name)
        if None in found.values():
            raise NodeError(
                f"messages of {self.kind} {self.name} that were read are not there any more, nor any behind them: it was made anew, or "
                'lost its end; start from the beginning, or set "Lost messages" to go on with what is there',
                permanent=True,
                field="lost_messages",
            )

    def begin(self) -> None:
        """As `check`; what a checkpoint of an earlier attempt found out is over then."""
        self.check()
        if self.heard():
            self._note(self._marks(), made_anew=False)

    def follow(self, position: Mapping[str, int], *, may_change: bool) -> None:
        """Remember what is before `position`, unless the log is another one: then `heard` tells so. `may_change`: take it as it is.

        While the system does not answer, what is remembered stays.
        """
        try:
            self._follow(position, may_change=may_change)
        except NodeError as error:
            logger.info("messages of %s %s are not remembered this time: %s", self.kind, self.name, error)

    def heard(self) -> NodeError | None:
        """What the last checkpoint found out. Asks no system."""
        return made_anew(self.kind, self.name) if self._noted().get("made_anew") else None

    def forget(self) -> None:
        """The log may be another one from here on."""
        self.place.unlink(missing_ok=True)

    def _follow(self, position: Mapping[str, int], *, may_change: bool) -> None:
        kept = {} if may_change else self._marks()
        there = self._looked(kept)
        if _differ(kept, there):
            return self._note(kept, made_anew=True)
        # Where the log ends before what was read of it, nobody knows whose its messages are.
        last = {name: offset - 1 for name, offset in position.items() if offset > 0 and there.get(name, _UNTOLD) is not None}
        asked = {name: offset for name, offset in last.items() if name not in kept or kept[name].offset != offset}
        found = {name: mark for name, mark in (self.look(asked) if asked else {}).items() if mark is not None}
        return self._note(kept | found, made_anew=False)

    def _looked(self, kept: Mapping[str, Mark]) -> Mapping[str, Mark | None]:
        return self.look({name: mark.offset for name, mark in kept.items()}) if kept else {}

    def _marks(self) -> dict[str, Mark]:
        return {name: Mark(int(offset), str(digest)) for name, (offset, digest) in self._noted().get("messages", {}).items()}

    def _noted(self) -> dict[str, Any]:
        """Of the log of this name: another that was read before is another place."""
        noted: dict[str, Any] = json.loads(text_kept(self.place) or "{}").get(self.name, {})
        return noted

    def _note(self, marks: Mapping[str, Mark], *, made_anew: bool) -> None:
        noted = {"messages": {name: list(mark) for name, mark in marks.items()}, "made_anew": made_anew}
        if noted != self._noted():
            text_place(self.place, json.dumps({self.name: noted}))


class RemembersMessages(ABC):
    """A source of a log without an id. Its config has `lost_messages`; its position says the next offset of each place."""

    _read_now: KnownMessages | None = None

    @abstractmethod
    def known_messages(self, context: Any) -> KnownMessages: ...

    def log_check(self, context: Any) -> None:
        """Before the log is read: NodeError where it is another one, which is taken as it is where lost messages are left out."""
        known = self.known_messages(context)
        if context.config.lost_messages == "go_on":
            known.forget()
            return
        known.begin()
        self._read_now = known

    def check(self, missing: Sequence[str]) -> None:
        if self._read_now is not None and (fault := self._read_now.heard()):
            raise fault

    def checkpointed(self, position: Any, context: Any) -> None:
        """Remembers where the log was read up to, by a message."""
        self.known_messages(context).follow(position, may_change=context.config.lost_messages == "go_on")


def made_anew(kind: str, name: str) -> NodeError:
    """What ends a run that would go on at its old offsets."""
    return NodeError(
        f"{kind} {name} was deleted and made anew since it was read: the offset where this job stands lies in other messages now; "
        'start from the beginning, or set "Lost messages" to go on there',
        permanent=True,
        field="lost_messages",
    )


def _differ(kept: Mapping[str, Mark], found: Mapping[str, Mark | None]) -> bool:
    """Whether another message is where one of those `kept` was."""
    there = ((mark, found.get(name)) for name, mark in kept.items())
    return any(now is not None and now.offset == mark.offset and now.digest != mark.digest for mark, now in there)
