"""What one task does with its messages: publishes them, many at once under way, and waits until the broker confirmed each."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from threading import Condition
from typing import Any

import pyarrow as pa
from paho.mqtt.client import Client, MQTTMessageInfo, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.mqtt_client import mqtt_away, mqtt_connect
from jobs.nodes.rejected_rows import RejectedRows
from jobs.nodes.sinks.messages import MESSAGE_ID, Outgoing, outgoing
from jobs.nodes.sinks.mqtt import MqttSinkConfig
from jobs.nodes.sinks.task_tally import SAMPLE_ROWS, TaskTally, task_tally
from jobs.nodes.worker_errors import carried_out

_UNCONFIRMED = 1_000
_PAUSE_SECONDS = 1.0
#: A broker that is away for longer fails the batch, which is tried again as a whole.
_AWAY_SECONDS = 300.0
#: Reasons in DISCONNECT (MQTT 5, 3.14.2.1) that lie in a message: unspecified, malformed, against the protocol or the broker's own rules,
#: not authorized, its topic, its size, its payload, retained, its quality of service.
_BLAMES = frozenset({0x80, 0x81, 0x82, 0x83, 0x87, 0x90, 0x95, 0x99, 0x9A, 0x9B})
#: Those that lie in its topic: not authorized, its name.
_OF_TOPIC = frozenset({0x87, 0x90})
#: So many lines that end in turn, with nothing confirmed, lie in a message too: the reason is lost where others were under way.
_ENDS = 3


@dataclass(frozen=True)
class MqttSender:
    """Goes to the tasks by value."""

    config: MqttSinkConfig
    connection: ConnectionSettings
    node_id: str
    act: str
    stops_at_rejected: bool
    rejections: RejectedRows | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with carried_out(self.node_id), task_tally(SAMPLE_ROWS, self.rejections) as tally:
            _Publishing(self, tally).publish(outgoing(batches))
        yield tally.as_batch()


class _Publishing:
    """The client sends again by itself what a broken line has left unconfirmed, save in quality 0.

    Where the broker ended the line because of a message, that would go on for ever: then each is sent alone.
    """

    def __init__(self, sender: MqttSender, tally: TaskTally) -> None:
        self._sender, self._tally = sender, tally
        self._under_way: dict[int, tuple[Outgoing, MQTTMessageInfo]] = {}
        self._answered: dict[int, Any] = {}
        self._changed = Condition()
        self._heard_at = time.monotonic()
        self._begin()

    def _begin(self) -> None:
        self._blamed: Any = None
        self._ends = 0
        self._client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
        self._client.max_inflight_messages_set(_UNCONFIRMED)
        self._client.on_publish = self._confirmed
        self._client.on_disconnect = self._line_ended

    def _open(self) -> None:
        self._connect()
        self._client.reconnect_delay_set(1, 5)
        self._client.loop_start()

    def _close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def publish(self, messages: Iterator[Outgoing]) -> None:
        self._open()
        try:
            for message in messages:
                self._send(message)
                self._await(_UNCONFIRMED - 1)
                if self._tally.rejected and self._sender.stops_at_rejected:
                    return
            self._await(0)
        finally:
            self._close()

    def _connect(self) -> None:
        deadline = time.monotonic() + _AWAY_SECONDS
        while True:
            try:
                mqtt_connect(self._client, self._sender.connection, self._sender.act)
                return
            except NodeError as error:
                if error.permanent or time.monotonic() > deadline:
                    raise
                time.sleep(_PAUSE_SECONDS)

    def _send(self, message: Outgoing) -> None:
        config = self._sender.config
        properties = Properties(PacketTypes.PUBLISH)
        properties.PayloadFormatIndicator = 0 if config.format == "binary" else 1
        if message.id:
            properties.UserProperty = (MESSAGE_ID, message.id)
        topic = message.route or config.topic
        if not topic:
            self._tally.add([message.text], "it has no topic")
            return
        try:
            info = self._client.publish(topic, message.value, config.qos, config.retain, properties)
        except ValueError as error:
            self._tally.add([message.text], f"topic {topic[:100]!r}: {error}")
            return
        with self._changed:
            self._under_way[info.mid] = message, info
        self._settle()

    def _confirmed(self, client: Client, data: Any, mid: int, reason: Any, properties: Any) -> None:
        """In the client's own thread, at times before `publish` has returned."""
        with self._changed:
            if self._sender.config.qos == 2 and self._ends:
                return
            self._answered[mid] = reason
            self._heard_at, self._ends = time.monotonic(), 0
            self._changed.notify()

    def _line_ended(self, client: Client, data: Any, flags: Any, reason: Any, properties: Any) -> None:
        with self._changed:
            self._ends += 1
            if flags.is_disconnect_packet_from_server and reason.value in _BLAMES:
                self._blamed = reason
            self._changed.notify()

    def _settle(self) -> None:
        with self._changed:
            for mid in [mid for mid in self._answered if mid in self._under_way]:
                (message, _), reason = self._under_way.pop(mid), self._answered.pop(mid)
                if reason is not None and reason.is_failure:
                    self._refused(message, reason, f"the broker refuses it: {reason}")
                else:
                    self._tally.add([message.text])

    def _refused(self, message: Outgoing, reason: Any, words: str) -> None:
        """A topic that a row brought may be wrong; one that all rows share is the target, where nothing can be written."""
        act, topic = self._sender.act, self._sender.config.topic
        if topic and reason.value in _OF_TOPIC:
            told = f"{act}: topic {topic} is refused ({reason}); correct it, or have the right to write to it granted"
            raise NodeError(told, permanent=True, kind="user", field="topic")
        self._tally.add([message.text], words)

    def _await(self, most: int) -> None:
        """Until no more than `most` are unconfirmed."""
        self._settle()
        while len(self._under_way) > most:
            if self._is_lost():
                self._send_singly()
                continue
            self._wait()

    def _is_lost(self) -> bool:
        """Whether what is unconfirmed has to be sent anew: in quality 2 the client would only release what the broker has forgotten."""
        return self._blamed is not None or self._ends >= (1 if self._sender.config.qos == 2 else _ENDS)

    def _send_singly(self) -> None:
        """What is unconfirmed, one message after the other."""
        self._close()
        self._settle()
        unconfirmed = [message for message, _ in self._under_way.values()]
        self._begin_again()
        for message in unconfirmed:
            while not self._is_done(message):
                pass

    def _is_done(self, message: Outgoing) -> bool:
        """Sends it alone; one at which the broker ends the line is refused."""
        self._send(message)
        while self._under_way and not self._is_lost():
            self._wait()
        self._settle()
        if not self._under_way:
            return True
        if (blamed := self._blamed) is not None:
            self._refused(message, blamed, f"the broker ends the line at it: {blamed}")
            self._heard_at = time.monotonic()
        self._close()
        self._begin_again()
        return blamed is not None

    def _begin_again(self) -> None:
        self._under_way.clear()
        self._answered.clear()
        self._begin()
        self._open()

    def _wait(self) -> None:
        with self._changed:
            self._changed.wait(0.5)
        self._settle()
        self._send_dropped()
        if time.monotonic() - self._heard_at > _AWAY_SECONDS:
            raise mqtt_away(self._sender.act, f"nothing was confirmed for {_AWAY_SECONDS:.0f} s")

    def _send_dropped(self) -> None:
        """In quality 0 the client drops what no line has taken yet when one breaks, and what it is given while there is none."""
        if self._sender.config.qos == 0 and self._client.is_connected():
            for mid, (message, info) in list(self._under_way.items()):
                if info.rc != MQTTErrorCode.MQTT_ERR_SUCCESS:
                    del self._under_way[mid]
                    self._send(message)
