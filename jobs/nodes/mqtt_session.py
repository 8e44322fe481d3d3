"""A session with an MQTT broker in which a message is acknowledged only when its reader says so, whatever its quality of service."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from paho.mqtt.client import PUBACK, PUBREC, Client, MQTTMessage, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.mqtt_client import SECONDS, mqtt_away, mqtt_connect, mqtt_refused, reading_act
from jobs.nodes.durable_text import text_place

#: Retained messages are sent when a subscription is new, not each time it is renewed.
_RETAINED_WHEN_NEW = 1
_END_SECONDS = 2.0
_READ_BYTES = 64 * 1024
#: MQTT 5, 3.4 and 3.5: what it is, its length, and the number of the message.
_CONFIRMATION = struct.Struct("!BBH")
_CONFIRMED_BY = {1: PUBACK, 2: PUBREC}
#: What messages of quality 0 may take in memory until they are kept, each with what Python needs for it: no broker holds them back.
_MOST_UNKEPT_BYTES, _BYTES_EACH = 64 * 1024 * 1024, 1_000
_NOBODYS = "pipeline-web/nothing"
#: What the library's object for properties always has; its own question whether it is empty looks for each property there could be.
_NO_PROPERTY = frozenset(vars(Properties(PacketTypes.PUBLISH)))


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message that is not acknowledged yet; `told` are its properties of MQTT 5 by the library's names.

    The library's own object for a message holds some ten kilobytes of tables: a thousand that wait make Python's collector walk far.
    """

    mid: int
    qos: int
    topic: str
    payload: bytes
    retain: bool
    told: dict[str, Any]

    @property
    def unasked_bytes(self) -> int:
        """What it takes in memory where the broker sends it whether there is room or not."""
        return 0 if self.qos else len(self.payload) + _BYTES_EACH

    @classmethod
    def of(cls, message: MQTTMessage) -> Arrived:
        properties = message.properties
        told = {} if properties is None or not vars(properties).keys() - _NO_PROPERTY else dict(properties.json())
        return cls(message.mid, message.qos, message.topic, bytes(message.payload), message.retain, told)


class _LateClient(Client):
    """Holds back what tells the broker that a message has arrived, and reads and confirms many at once.

    The library itself would confirm a message of quality 2 before anybody has seen it: a crash then loses it. It asks the system for
    each byte that tells what a message is, and how long, and for a look at the line between two of them.
    """

    def __init__(self, client_id: str) -> None:
        super().__init__(CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5, reconnect_on_failure=False)
        self._ahead = memoryview(b"")

    def _sock_recv(self, bufsize: int) -> bytes:
        if not self._ahead:
            self._ahead = memoryview(super()._sock_recv(max(bufsize, _READ_BYTES)))
        part, self._ahead = self._ahead[:bufsize], self._ahead[bufsize:]
        return part.tobytes()

    def _send_puback(self, mid: int) -> MQTTErrorCode:
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def _send_pubrec(self, mid: int) -> MQTTErrorCode:
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def hear(self, seconds: float) -> MQTTErrorCode:
        """What comes within so many seconds, all of it that came together: of what was read nothing waits behind this."""
        code = self.loop(seconds)
        while self._ahead and code == MQTTErrorCode.MQTT_ERR_SUCCESS:
            code = self.loop_read()
        return code

    def confirm(self, messages: Iterable[Arrived]) -> None:
        words = b"".join(_CONFIRMATION.pack(_CONFIRMED_BY[one.qos], 2, one.mid) for one in messages if one.qos)
        if words:
            self._packet_queue(PUBACK, words, 0, 1)

    def held(self) -> list[MQTTMessage]:
        """Messages of quality 2 that the broker has not released yet, in the order they came."""
        with self._in_message_mutex:
            return list(self._in_messages.values())


class MqttSession:
    """A context. `client_id` names a session that the broker keeps for `hours` after its end; "" is one that leaves nothing behind."""

    def __init__(self, connection: ConnectionSettings, *, client_id: str, hours: int, receive_maximum: int) -> None:
        #: Messages that are not acknowledged, in order.
        self.arrived: list[Arrived] = []
        self._connection, self._hours, self._receive_maximum = connection, hours, receive_maximum
        self._act = reading_act(connection.name)
        self._client = _LateClient(client_id)
        self._client.on_message = self._hear
        self._answers: dict[int, list[Any]] = {}
        self._client.on_subscribe = self._client.on_unsubscribe = lambda _, __, mid, reasons, ___: self._answers.update({mid: reasons})
        self._taken: set[int] = set()
        self._unkept_bytes = self._left_out = 0
        #: Whether the broker had kept this session since the last time.
        self.is_kept = False

    def __enter__(self) -> MqttSession:
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = self._hours * 3600
        properties.ReceiveMaximum = self._receive_maximum
        self.is_kept = mqtt_connect(self._client, self._connection, self._act, clean_start=not self._hours, properties=properties)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            self._await_acknowledged()
        self._client.disconnect()

    def _await_acknowledged(self) -> None:
        """The library closes the line on the heels of its last word, and the broker then leaves unread what came before it.

        So it is asked something first: its answer comes after it has heard of all that is kept.
        """
        _, asked = self._client.unsubscribe(_NOBODYS)
        deadline = time.monotonic() + _END_SECONDS
        while asked not in self._answers and time.monotonic() < deadline:
            if self._client.hear(0.1) != MQTTErrorCode.MQTT_ERR_SUCCESS:
                return

    def subscribe(self, filters: list[str], qos: int, *, memory: Path | None) -> None:
        """Read `filters` and, in a kept session, no longer what was read before; `memory` is where it is written what was."""
        before = json.loads(memory.read_text(encoding="utf-8")) if memory is not None and memory.exists() else []
        if dropped := sorted(set(before) - set(filters)):
            self._client.unsubscribe(dropped)
        options = SubscribeOptions(qos=qos, retainHandling=_RETAINED_WHEN_NEW)
        code, mid = self._client.subscribe([(one, options) for one in filters])
        if mid is None:
            raise mqtt_away(self._act, str(code))
        deadline = time.monotonic() + SECONDS
        while mid not in self._answers and time.monotonic() < deadline:
            self.work(0.1)
        for one, reason in zip(filters, self._answers.get(mid, ()), strict=False):
            if reason.is_failure:
                raise mqtt_refused(f"{self._act}: topic {one} is refused ({reason}); correct it, or have the right granted")
        if mid not in self._answers:
            raise NodeError(f"{self._act}: the broker does not answer the subscription")
        if memory is not None:
            text_place(memory, json.dumps(filters))

    def work(self, seconds: float) -> bool:
        """Hear what comes within so many seconds; returns at once when something did: whether a message. NodeError when the line broke."""
        before = len(self.arrived)
        if (code := self._client.hear(seconds)) != MQTTErrorCode.MQTT_ERR_SUCCESS:
            raise mqtt_away(self._act, str(code))
        for message in self._client.held():
            if message.mid not in self._taken:
                self._taken.add(message.mid)
                self.arrived.append(Arrived.of(message))
        return len(self.arrived) > before

    def acknowledge(self, count: int) -> None:
        """The first `count` of those that arrived are kept: the broker need not send them again."""
        self._client.confirm(self.arrived[:count])
        self._unkept_bytes -= sum(message.unasked_bytes for message in self.arrived[:count])
        del self.arrived[:count]

    def left_out(self) -> int:
        """How many messages of quality 0 had no room in memory since this was asked last."""
        count, self._left_out = self._left_out, 0
        return count

    def _hear(self, client: Client, data: Any, message: MQTTMessage) -> None:
        """One of quality 2 is told again when the broker releases it: it was taken when it came."""
        if message.qos == 2:
            self._taken.discard(message.mid)
            return
        arrived = Arrived.of(message)
        if arrived.qos == 0 and self._unkept_bytes + arrived.unasked_bytes > _MOST_UNKEPT_BYTES:
            self._left_out += 1
            return
        self._unkept_bytes += arrived.unasked_bytes
        self.arrived.append(arrived)
