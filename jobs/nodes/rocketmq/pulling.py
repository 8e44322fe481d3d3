"""Messages of a queue by offset: many requests on their way at once, for a broker answers each with few messages (32 as it comes)."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass

from jobs.nodes.rocketmq.frames import Frame
from jobs.nodes.rocketmq.line import Away, Line, Refused
from jobs.nodes.rocketmq.messages import BrokenMessage, Message, messages_in, properties_of

_PULL = 11
_FOUND, _NOTHING, _AGAIN, _MOVED = 0, 19, 20, 21
_HAS_SUBSCRIPTION = 4
#: Requests under way on a line.
_DEPTH = 16
#: What the first request asks for; the broker's answer tells what it gives.
_MOST = 1024
#: After so many answers that held all that was asked for, more is asked for.
_FULL_ANSWERS = 20


@dataclass(frozen=True)
class Wanted:
    """What is pulled: messages of `topic` with one of `tags`, or all; in the name of `group`."""

    topic: str
    group: str
    tags: tuple[str, ...] = ()


class Lost(Exception):
    """There is no message at `at` any more, or not yet again; the broker goes on at `following`."""

    def __init__(self, at: int, following: int) -> None:
        super().__init__(f"{at}, {following}")
        self.at = at
        self.following = following


@dataclass(frozen=True)
class _Asked:
    """A request under way for the messages from `first` to before `last`."""

    first: int
    last: int
    number: int


class Pull:
    """The messages of one queue from `first` to before `last`. Raises Away, Refused, and Lost where some are not there."""

    def __init__(self, line: Line, wanted: Wanted, queue: int, last: int) -> None:
        self._line = line
        self._wanted = wanted
        self._queue = queue
        self._last = last
        self._stride = 0
        self._full_answers = 0

    def parts(self, first: int) -> Iterator[tuple[Sequence[Message], int]]:
        """Some messages, maybe none, and the offset at which to go on; each message once and in order."""
        begun = _Asked(first, self._last, self._submit(first, self._last - first))
        at = yield from self._answered(begun, only_first=not self._wanted.tags)
        under_way: deque[_Asked] = deque()
        ahead = at
        while at < self._last:
            while ahead < self._last and len(under_way) < _DEPTH:
                upto = min(ahead + self._stride, self._last)
                under_way.append(_Asked(ahead, upto, self._submit(ahead, upto - ahead)))
                ahead = upto
            at = yield from self._answered(under_way.popleft())

    def _answered(self, asked: _Asked, *, only_first: bool = False) -> Generator[tuple[Sequence[Message], int], None, int]:
        """Until all of `asked` is here, or (`only_first`) one answer; returns the offset behind it."""
        at, number, whole = asked.first, asked.number, True
        while True:
            messages, following = self._taken(self._line.answer(number), at, asked.last)
            yield messages, following
            if only_first:
                self._stride = max(1, following - at)
            if only_first or following >= asked.last:
                break
            self._shorter(following - at)
            at, whole = following, False
            number = self._submit(at, asked.last - at)
        self._full_answers = self._full_answers + 1 if whole else 0
        if self._full_answers >= _FULL_ANSWERS:
            self._stride, self._full_answers = min(_MOST, self._stride + max(1, self._stride // 4)), 0
        return following

    def _shorter(self, given: int) -> None:
        self._stride = max(1, given, self._stride // 2)

    def _submit(self, first: int, most: int) -> int:
        fields = {
            "consumerGroup": self._wanted.group,
            "topic": self._wanted.topic,
            "queueId": self._queue,
            "queueOffset": first,
            "maxMsgNums": min(most, _MOST),
            "sysFlag": _HAS_SUBSCRIPTION,
            "commitOffset": 0,
            "suspendTimeoutMillis": 0,
            "subscription": " || ".join(self._wanted.tags) or "*",
            "subVersion": 0,
            "expressionType": "TAG",
        }
        return self._line.submit(_PULL, fields)

    def _taken(self, answer: Frame, at: int, last: int) -> tuple[Sequence[Message], int]:
        """What `answer` gives of the messages from `at` to before `last`, and where to go on."""
        if answer.code not in (_FOUND, _NOTHING, _AGAIN, _MOVED):
            raise Refused(answer.code, answer.remark)
        following = int(answer.fields["nextBeginOffset"])
        if answer.code in (_NOTHING, _MOVED) or (answer.code == _AGAIN and not self._wanted.tags) or following <= at:
            raise Lost(at, following)
        try:
            messages = [message for message in messages_in(answer.body) if message.offset < last]
        except BrokenMessage as error:
            raise Away(f"{self._line.address}: {error}") from None
        if self._wanted.tags:
            return _tagged(messages, self._wanted.tags), min(following, last)
        there = _before_gap(messages, at)
        return there, at + len(there)


def _tagged(messages: Sequence[Message], tags: tuple[str, ...]) -> Sequence[Message]:
    """The broker compares the tags' hashes only."""
    return [message for message in messages if properties_of(message.properties).get("TAGS") in tags]


def _before_gap(messages: Sequence[Message], at: int) -> Sequence[Message]:
    """Those that follow each other from `at` on; Lost when not even the first does."""
    if not messages or messages[0].offset != at:
        raise Lost(at, messages[0].offset if messages else at)
    count = next((number for number, message in enumerate(messages) if message.offset != at + number), len(messages))
    return messages[:count]
