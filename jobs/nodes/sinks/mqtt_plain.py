"""Messages published to an MQTT broker as plain Python: what `sink.mqtt` is in a script."""

from __future__ import annotations

import ssl
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from paho.mqtt.client import Client, MQTTMessageInfo, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from jobs.nodes.sinks.messages import MESSAGE_ID

_UNCONFIRMED = 1_000
_SECONDS = 60.0
#: Reasons that lie in a message's topic: not authorized, its name.
_OF_TOPIC = frozenset({0x87, 0x90})


@dataclass(frozen=True)
class MqttPublishing:
    """Rows with the columns value (bytes), id and route, a task at a time; `route` is the topic where a row names its own."""

    host: str
    port: int
    topic: str
    qos: int
    retain: bool
    is_text: bool
    user: str = ""
    password: str = ""
    tls: bool = False
    certificate_authority: str = ""
    stops_at_rejected: bool = False

    def publish(self, rows: Iterable[Any]) -> None:
        """Returns when the broker has confirmed every message, where it confirms any; one that it refuses is left out.

        RuntimeError where it refuses the topic of all.
        """
        client, refused = self._client(), list[Any]()
        client.on_publish = lambda _, __, ___, reason, ____: refused.append(reason) if reason.is_failure else None
        under_way: list[MQTTMessageInfo] = []
        try:
            for row in rows:
                try:
                    under_way.append(self._published(client, row))
                except ValueError:  # no topic can be called so: the row is left out
                    if self.stops_at_rejected:
                        raise
                if len(under_way) == _UNCONFIRMED:
                    _await(under_way)
            _await(under_way)
            if refused and (self.stops_at_rejected or (self.topic and refused[0].value in _OF_TOPIC)):
                raise RuntimeError(f"the broker refuses a message: {refused[0]}")
        finally:
            client.disconnect()
            client.loop_stop()

    def _client(self) -> Client:
        client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
        client.max_inflight_messages_set(_UNCONFIRMED)
        if self.user:
            client.username_pw_set(self.user, self.password)
        if self.tls:
            client.tls_set_context(ssl.create_default_context(cadata=self.certificate_authority or None))
        client.connect(self.host, self.port)
        client.loop_start()
        return client

    def _published(self, client: Client, row: Any) -> MQTTMessageInfo:
        properties = Properties(PacketTypes.PUBLISH)
        properties.PayloadFormatIndicator = 1 if self.is_text else 0
        if row.id:
            properties.UserProperty = (MESSAGE_ID, row.id)
        return client.publish(row.route or self.topic, bytes(row.value or b""), self.qos, self.retain, properties)


def _await(under_way: list[MQTTMessageInfo]) -> None:
    """RuntimeError where the broker does not take one in time."""
    for info in under_way:
        info.wait_for_publish(_SECONDS)
        if not info.is_published():
            raise RuntimeError(f"the broker confirmed nothing for {_SECONDS:.0f} s")
    under_way.clear()
