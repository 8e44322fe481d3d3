"""Kafka clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import brokers_reach, host_and_port
from jobs.nodes.connections.kafka_settings import KafkaSettings
from jobs.nodes.connections.reach import name_resolve


class KafkaConnection(ConnectionKind):
    kind = "kafka"
    title = "Kafka"
    icon = "topology-star-3"
    Config = KafkaSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password, with SASL", "client_key": "The client certificate's PEM key"}
    secrets_when: ClassVar[Mapping[str, str]] = {"password": "security=sasl_plaintext|sasl_tls", "client_key": "security=tls|sasl_tls"}
    secrets_of_lines: ClassVar[frozenset[str]] = frozenset({"client_key"})

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Names, ports, then sign-in and what the brokers tell of themselves; a step is tried only when all before it held."""
        typed = KafkaSettings.model_validate(settings.config)
        return check_steps(
            ("name", lambda: _resolve(typed)),
            ("port", lambda: brokers_reach(typed)),
            ("sign-in", lambda: _sign_in(settings)),
        )


def _resolve(typed: KafkaSettings) -> str:
    return "; ".join(name_resolve(host_and_port(broker)[0]) for broker in typed.brokers)


def _sign_in(settings: ConnectionSettings) -> str:
    admin = KafkaAdmin(settings)
    topics = admin.partitions()
    return f"{admin.brokers()} broker(s), {len(topics)} topics to be seen"
