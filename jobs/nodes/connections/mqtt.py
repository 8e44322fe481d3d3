"""MQTT brokers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.mqtt_client import MqttSettings, mqtt_connect, mqtt_tls
from jobs.nodes.connections.reach import name_resolve, port_reach
from jobs.nodes.connections.tls import tls_step


class MqttConnection(ConnectionKind):
    kind = "mqtt"
    title = "MQTT"
    icon = "antenna"
    Config = MqttSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password"}
    secrets_when: ClassVar[Mapping[str, str]] = {"password": "sign_in=password"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, TLS, sign-in; a step is tried only when all before it held."""
        typed = MqttSettings.model_validate(settings.config)
        return check_steps(
            ("name", lambda: name_resolve(typed.host)),
            ("port", lambda: port_reach(typed.host, typed.port)),
            ("TLS", lambda: tls_step(typed.host, typed.port, mqtt_tls(typed, "encrypting the line"))),
            ("sign-in", lambda: _sign_in(settings, typed)),
        )


def _sign_in(settings: ConnectionSettings, typed: MqttSettings) -> str:
    from paho.mqtt.client import Client, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion

    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    mqtt_connect(client, settings, "signing in")
    client.disconnect()
    return f"the broker takes {typed.user or 'anybody'}"
