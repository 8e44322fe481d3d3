"""RocketMQ by its name servers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.rocketmq_reach import host_and_port, names_resolve, ports_answer, server_there
from jobs.nodes.connections.rocketmq_settings import RocketmqSettings, rocketmq_tls
from jobs.nodes.connections.tls import speaks_tls, tls_step
from jobs.nodes.rocketmq.client import RocketMq, RocketmqAway
from jobs.nodes.rocketmq.line import Away


class RocketmqConnection(ConnectionKind):
    kind = "rocketmq"
    title = "RocketMQ"
    icon = "rocket"
    Config = RocketmqSettings
    secrets: ClassVar[Mapping[str, str]] = {"secret_key": "Secret key, with an access key"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Names, ports, TLS, what the name server says, the brokers it names, the sign-in there; stops at the first that fails."""
        typed = RocketmqSettings.model_validate(settings.config)
        with RocketMq(settings) as client:
            return check_steps(
                ("name", lambda: names_resolve(typed)),
                ("port", lambda: ports_answer(typed)),
                ("TLS", lambda: _encrypted(typed)),
                ("name server", lambda: _brokers_named(client, typed)),
                ("broker", lambda: _brokers_reached(client)),
                ("sign-in", lambda: _signed_in(client, typed)),
            )


def _encrypted(typed: RocketmqSettings) -> str:
    context = rocketmq_tls(typed, "encrypting the line")
    return tls_step(*host_and_port(server_there(typed)), context)


def _brokers_named(client: RocketMq, typed: RocketmqSettings) -> str:
    try:
        client.brokers()
    except RocketmqAway:  # one that answers plain lines may take encrypted ones too
        if typed.tls == "none" and speaks_tls(*host_and_port(server_there(typed))):
            raise NodeError("the name server takes encrypted lines only; choose TLS in the connection") from None
        raise
    there = client.brokers_there()
    return f"{len(there)} broker(s): {', '.join(f'{name} at {address}' for name, address in there.items())}"


def _brokers_reached(client: RocketMq) -> str:
    there = client.brokers_there()
    for name, address in there.items():
        try:
            client.line(address)
        except Away as away:
            remedy = "brokers must be reachable at the address they registered with (brokerIP1), and so must their port"
            raise NodeError(f"broker {name} does not answer ({away}); {remedy}") from None
    return f"{', '.join(there)} can be reached"


def _signed_in(client: RocketMq, typed: RocketmqSettings) -> str:
    client.sign_in()
    return f"{typed.access_key} is taken" if typed.access_key else "requests are taken without signing in"
