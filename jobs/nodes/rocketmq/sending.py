"""Messages on their way to a topic: several in a request where RocketMQ allows it, requests to several queues under way at once.

RocketMQ's own client for Python speaks to a proxy only, one message a request: measured 1,800 messages/s with 64 under way, where
this one stores some 40,000 to 80,000.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from jobs.nodes.base import NodeError
from jobs.nodes.patience import Patience
from jobs.nodes.rocketmq.client import RocketMq, RocketmqAway
from jobs.nodes.rocketmq.line import Away, Line, Refused
from jobs.nodes.rocketmq.messages import properties_text, sent_in_batch
from jobs.nodes.rocketmq.refusals import is_passing, shortened
from jobs.nodes.rocketmq.route import Queue, Route

_SEND, _SEND_SEVERAL = 310, 320
_PRODUCER = "pipeline-web"
#: Stored by the master: what comes with the others is about its disk and its copies.
_STORED = frozenset({0, 10, 11, 12})
#: The message is to blame, not the broker.
_ILLEGAL = 13
#: There is no such queue: its topic was made smaller.
_NO_QUEUE = 29
_MOST_IN_PACK, _MOST_BYTES_IN_PACK = 500, 512 * 1024
#: Requests under way: as many as keep a broker busy while answers travel.
_DEPTH = 16


@dataclass(frozen=True)
class Outgoing:
    """A message to send. `properties`: KEYS, TAGS, DELAY … and what the user adds. ValueError where they cannot be written.

    `row` is what to show when it is refused.
    """

    value: bytes
    properties: Mapping[str, str] = field(default_factory=dict)
    row: str = ""
    text: str = ""

    def __post_init__(self) -> None:
        if not self.value:  # brokers stumble over it
            raise ValueError("the message has no value")
        object.__setattr__(self, "text", properties_text(self.properties))

    @property
    def size(self) -> int:
        return len(self.value) + len(self.text)


def send_submit(line: Line, topic: str, queue: Queue, messages: Sequence[Outgoing]) -> int:
    """Hand `messages` over to one queue, together or not at all; the number fetches the answer from `line`.

    Several together cannot be delayed: the broker would store them as they are.
    """
    several = len(messages) > 1
    header = {
        "a": _PRODUCER,
        "b": topic,
        "c": "TBW102",
        "d": 4,
        "e": queue.number,
        "f": 0,
        "g": round(time.time() * 1000),
        "h": 0,
        "i": "" if several else messages[0].text,
        "j": 0,
        "k": False,
        "m": several,
        "n": queue.broker,
    }
    body = b"".join(sent_in_batch(one.value, one.text) for one in messages) if several else messages[0].value
    return line.submit(_SEND_SEVERAL if several else _SEND, header, body)


@dataclass
class _Pack:
    """Messages for one queue. `spot` is the queue's place among those that can be written to."""

    spot: int
    messages: list[Outgoing] = field(default_factory=list)
    size: int = 0
    line: Line | None = None
    number: int = 0


class TopicWriter:
    """Writes to one topic; `settled` hears of messages that were stored, or why they were refused.

    `in_order`: messages of one key reach their queue one behind the other, so a queue has one request under way. `together`: several
    messages in a request. What was under way when a line broke is sent again: at least once.
    """

    def __init__(
        self,
        client: RocketMq,
        topic: str,
        settled: Callable[[Sequence[Outgoing], str], None],
        *,
        in_order: bool,
        together: bool,
        patience: Patience | None = None,
    ) -> None:
        self._client = client
        self._topic = topic
        self._settled = settled
        self._in_order = in_order
        self._most = _MOST_IN_PACK if together else 1
        self._patience = patience or Patience()
        self._route = self._routed()
        self._spots = len(self._route.writable)
        self._filling: dict[int, _Pack] = {}
        self._under_way: list[_Pack] = []
        self._next_spot = 0

    def add(self, message: Outgoing, key: str = "") -> None:
        """Messages of one key go to one queue; those without go where it suits."""
        spot = zlib.crc32(key.encode()) % self._spots if key else self._next_spot
        pack = self._filling.setdefault(spot, _Pack(spot))
        if pack.messages and pack.size + message.size > _MOST_BYTES_IN_PACK:
            self._flush(spot)
            pack = self._filling.setdefault(spot, _Pack(spot))
        pack.messages.append(message)
        pack.size += message.size
        if len(pack.messages) >= self._most:
            self._flush(spot)

    def finish(self) -> None:
        """Returns when everything is settled."""
        for spot in list(self._filling):
            self._flush(spot)
        while self._under_way:
            self._settle(self._under_way[0])

    def _flush(self, spot: int) -> None:
        pack = self._filling.pop(spot)
        self._next_spot = (self._next_spot + 1) % self._spots
        for before in [one for one in self._under_way if self._in_order and one.spot == spot] or self._under_way[: 1 - _DEPTH]:
            self._settle(before)
        self._under_way.append(pack)
        try:
            self._submit(pack)
        except Away as away:
            self._send_again(str(away))

    def _submit(self, pack: _Pack) -> None:
        queue = self._route.writable[pack.spot % len(self._route.writable)]
        pack.line = self._client.line(self._route.addresses[queue.broker])
        pack.number = send_submit(pack.line, self._topic, queue, pack.messages)

    def _settle(self, pack: _Pack) -> None:
        """Wait for the answer; send again as long as that may help."""
        while True:
            try:
                assert pack.line is not None
                answer = pack.line.answer(pack.number)
            except Away as away:
                self._send_again(str(away))
                continue
            if answer.code in _STORED or answer.code == _ILLEGAL:
                break
            if not is_passing(answer.code) and answer.code != _NO_QUEUE:
                raise self._client.refusal(Refused(answer.code, answer.remark))
            self._send_again(shortened(answer.remark), only=pack)
        self._under_way.remove(pack)
        self._patience.succeeded()
        if answer.code != _ILLEGAL:
            self._settled(pack.messages, "")
        elif len(pack.messages) == 1:
            self._settled(pack.messages, f"the broker refused the message: {shortened(answer.remark)}")
        else:
            self._one_by_one(pack)

    def _one_by_one(self, pack: _Pack) -> None:
        """One of them is to blame, and the broker does not say which."""
        for message in pack.messages:
            single = _Pack(pack.spot, [message])
            self._under_way.append(single)
            try:
                self._submit(single)
            except Away as away:
                self._send_again(str(away))
            self._settle(single)

    def _send_again(self, reason: str, only: _Pack | None = None) -> None:
        """After a pause, by a new look at where the queues are: `only` this pack, or all that is under way, on new lines."""
        while True:
            if self._patience.is_over():
                raise self._client.away(reason)
            self._patience.pause()
            if only is None:
                for address in {pack.line.address for pack in self._under_way if pack.line is not None}:
                    self._client.drop(address)
            try:
                self._route = self._routed()
                for pack in self._under_way if only is None else [only]:
                    self._submit(pack)
            except (Away, RocketmqAway) as away:
                reason, only = str(away), None
            else:
                return

    def _routed(self) -> Route:
        route = self._client.route(self._topic)
        if not route.writable:
            told = f'rocketmq "{self._client.name}": topic {self._topic} cannot be written to'
            raise NodeError(f"{told}; grant it the permission to be written", kind="user", field="topic")
        return route
