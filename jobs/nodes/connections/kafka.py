"""Kafka clusters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import broker_reached, host_and_port
from jobs.nodes.connections.kafka_settings import KafkaSettings
from jobs.nodes.connections.reach import name_resolve
from jobs.nodes.connections.tls import tls_context, tls_step


class KafkaConnection(ConnectionKind):
    kind = "kafka"
    title = "Kafka"
    icon = "topology-star-3"
    Config = KafkaSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password, with SASL", "client_key": "The client certificate's PEM key"}
    secrets_when: ClassVar[Mapping[str, str]] = {"password": "security=sasl_plaintext|sasl_tls", "client_key": "security=tls|sasl_tls"}
    secrets_of_lines: ClassVar[frozenset[str]] = frozenset({"client_key"})

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Names, ports, TLS, sign-in and what the brokers tell of themselves; a step is tried only when all before it held."""
        typed = KafkaSettings.model_validate(settings.config)
        return check_steps(
            ("name", lambda: _resolve(typed)),
            ("port", lambda: f"{broker_reached(typed)} takes connections"),
            ("TLS", lambda: _encrypt(typed)),
            ("sign-in", lambda: _sign_in(settings)),
        )


def _resolve(typed: KafkaSettings) -> str:
    return "; ".join(name_resolve(host_and_port(broker)[0]) for broker in typed.brokers)


def _encrypt(typed: KafkaSettings) -> str:
    """With the first broker that takes a connection; the client certificate is looked at by the next step."""
    context = tls_context(typed.certificate_authority, "encrypting the line") if "tls" in typed.security else None
    return tls_step(*host_and_port(broker_reached(typed)), context)


def _sign_in(settings: ConnectionSettings) -> str:
    admin = KafkaAdmin(settings)
    topics = admin.partitions()
    return f"{admin.brokers()} broker(s), {len(topics)} topics to be seen"
