"""Kafka clusters."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from typing import ClassVar

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import brokers_reach, host_and_port
from jobs.nodes.connections.kafka_settings import KafkaSettings


class KafkaConnection(ConnectionKind):
    kind = "kafka"
    title = "Kafka"
    icon = "topology-star-3"
    Config = KafkaSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password, with SASL", "client_key": "The client certificate's PEM key"}
    secrets_when: ClassVar[Mapping[str, str]] = {"password": "security=sasl_plaintext|sasl_tls", "client_key": "security=tls|sasl_tls"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Names, ports, then sign-in and what the brokers tell of themselves; a step is tried only when all before it held."""
        typed = KafkaSettings.model_validate(settings.config)
        steps: list[CheckStep] = []
        acts: tuple[tuple[str, Callable[[], str]], ...] = (
            ("name", lambda: _resolve(typed)),
            ("port", lambda: brokers_reach(typed)),
            ("sign-in", lambda: _sign_in(settings)),
        )
        for name, act in acts:
            started = time.monotonic()
            try:
                message = act()
            except NodeError as error:
                steps.append(CheckStep(name, False, error.message, _milliseconds(started)))
                break
            steps.append(CheckStep(name, True, message, _milliseconds(started)))
        return steps


def _resolve(typed: KafkaSettings) -> str:
    found = []
    for broker in typed.brokers:
        host, port = host_and_port(broker)
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, OverflowError) as error:
            raise NodeError(f'the name "{host}" is not known ({getattr(error, "strerror", None) or error}); correct the servers') from None
        found.append(f"{host} is {', '.join(sorted({str(address[4][0]) for address in addresses}))}")
    return "; ".join(found)


def _sign_in(settings: ConnectionSettings) -> str:
    admin = KafkaAdmin(settings)
    topics = admin.partitions()
    return f"{admin.brokers()} broker(s), {len(topics)} topics to be seen"


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
