"""Whether name servers and brokers of RocketMQ answer."""

from __future__ import annotations

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.reach import line_try, name_resolve
from jobs.nodes.connections.rocketmq_settings import SECONDS, RocketmqSettings
from jobs.nodes.rocketmq.client import RocketMq, RocketmqAway

_SILENT_SECONDS = 2.0


def rocketmq_silent(connection: ConnectionSettings, topic: str) -> str:
    """What does not answer, as in "waiting for rocketmq main": the name servers, or all brokers of the topic; else ""."""
    try:
        return _silent_brokers(connection, topic)
    except NodeError:
        return _named(connection)


def rocketmq_away(connection: ConnectionSettings, topic: str) -> str:
    """The same before anything is read or written: what is refused then, as a topic that is not there, is not waited for but told."""
    try:
        return _silent_brokers(connection, topic)
    except RocketmqAway:
        return _named(connection)
    except NodeError:
        return ""


def _silent_brokers(connection: ConnectionSettings, topic: str) -> str:
    with RocketMq(connection, seconds=_SILENT_SECONDS) as client:
        addresses = client.route(topic).addresses.values()
        return "" if any(_answers(client, address) for address in addresses) else _named(connection)


def _named(connection: ConnectionSettings) -> str:
    return f"rocketmq {connection.name}"


def _answers(client: RocketMq, address: str) -> bool:
    """A refusal is an answer."""
    try:
        client.heartbeat(address)
    except RocketmqAway:
        return False
    except NodeError:
        return True
    return True


def names_resolve(typed: RocketmqSettings) -> str:
    """What the name servers' names mean; NodeError for one that is not known."""
    return "; ".join(name_resolve(host_and_port(server)[0]) for server in typed.name_servers)


def ports_answer(typed: RocketmqSettings) -> str:
    """Which name server takes a connection; one is enough. NodeError if none does."""
    return f"{server_there(typed)} takes connections"


def server_there(typed: RocketmqSettings) -> str:
    """The first name server that takes a connection. NodeError if none does."""
    refusals = []
    for server in typed.name_servers:
        try:
            line_try(*host_and_port(server), seconds=SECONDS)
            return server
        except (OSError, OverflowError) as error:
            refusals.append(f"{server}: {getattr(error, 'strerror', None) or error}")
    raise NodeError(f"nothing answers ({'; '.join(refusals)}); check ports, firewall and whether the name servers run")


def host_and_port(server: str) -> tuple[str, int]:
    host, _, port = server.rpartition(":")
    return host, int(port)
