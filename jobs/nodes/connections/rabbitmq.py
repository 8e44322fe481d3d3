"""RabbitMQ brokers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.rabbitmq_client import RabbitMQSettings, rabbitmq_channel, rabbitmq_tls
from jobs.nodes.connections.reach import name_resolve, port_reach
from jobs.nodes.connections.tls import tls_step


class RabbitMQConnection(ConnectionKind):
    kind = "rabbitmq"
    title = "RabbitMQ"
    icon = "mailbox"
    Config = RabbitMQSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, TLS, then sign-in and virtual host together, as the broker tells them."""
        typed = RabbitMQSettings.model_validate(settings.config)
        return check_steps(
            ("name", lambda: name_resolve(typed.host)),
            ("port", lambda: port_reach(typed.host, typed.port)),
            ("TLS", lambda: tls_step(typed.host, typed.port, rabbitmq_tls(settings, typed))),
            ("sign-in", lambda: _sign_in(settings, typed)),
        )


def _sign_in(settings: ConnectionSettings, typed: RabbitMQSettings) -> str:
    with rabbitmq_channel(settings, f"signing in as {typed.user}") as (line, _):
        told = line._impl.server_properties or {}
        product = told.get("product", "the broker")
    return f"{product} {told.get('version', '')}".strip() + f" takes {typed.user} into {typed.virtual_host}"
