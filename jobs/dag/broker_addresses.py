"""Addresses of message brokers in an imported text, turned into connections."""

import re
from typing import Any
from urllib.parse import parse_qsl, unquote

from jobs.dag.proposals import Proposal, ProposedConnection, address_split, name_of

_KAFKA = re.compile(r"(?:(?P<scheme>[a-z_+]+)://)?(?P<servers>[^/?#]+)(?:/(?P<topic>[A-Za-z0-9._-]*))?", re.IGNORECASE)
_BROKER = re.compile(r"[A-Za-z0-9._-]+(?::(?P<port>\d{1,5}))?")
_KAFKA_PORT = 9092
#: What stands before `://`, as clients write it → how the line is secured.
_KAFKA_SECURITY = {
    **dict.fromkeys(("", "kafka", "plaintext", "tcp"), "plaintext"),
    **dict.fromkeys(("ssl", "tls", "kafka+ssl"), "tls"),
    **dict.fromkeys(("sasl_ssl", "sasl_tls"), "sasl_tls"),
    "sasl_plaintext": "sasl_plaintext",
}
_SIGNED_IN = {"plaintext": "sasl_plaintext", "tls": "sasl_tls"}
_AMQP_PORTS = {"amqp": 5672, "amqps": 5671}


def propose_kafka(url: str, user: str = "") -> Proposal | None:
    """A connection to the brokers of `url` (`kafka://one:9092,two:9092/topic`, or without scheme and topic), or None."""
    found = _KAFKA.fullmatch(url.strip())
    security = _KAFKA_SECURITY.get((found["scheme"] or "").lower()) if found else None
    if found is None or security is None:
        return None
    brokers = [_BROKER.fullmatch(part.strip()) for part in found["servers"].split(",")]
    known = [broker for broker in brokers if broker and int(broker["port"] or 0) <= 65535]
    if len(known) < len(brokers):
        return None
    config = {"servers": ", ".join(broker[0] if broker["port"] else f"{broker[0]}:{_KAFKA_PORT}" for broker in known)}
    if user:
        security, config["user"] = _SIGNED_IN.get(security, security), user
    if security != "plaintext":
        config["security"] = security
    secrets = ("password",) if security.startswith("sasl") else ()
    connection = ProposedConnection(name_of(known[0][0].split(":")[0]), "kafka", config, secrets=secrets)
    return Proposal(connection, node_config={"topic": found["topic"]} if found["topic"] else {})


def propose_rabbitmq(url: str, user: str = "") -> Proposal | None:
    """A connection to the broker of `url` (`amqp://user@host:5672/virtual-host`, with TLS `amqps:`), or None."""
    parts = address_split(url)
    if parts is None or parts.scheme not in _AMQP_PORTS or not parts.hostname:
        return None
    config: dict[str, Any] = {"host": parts.hostname, "port": parts.port or _AMQP_PORTS[parts.scheme]}
    if user := user or unquote(parts.username or ""):
        config["user"] = user
    if virtual_host := unquote(parts.path[1:]):
        config["virtual_host"] = virtual_host
    if parts.scheme == "amqps":
        config["tls"] = True
    left_out = tuple(name for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return Proposal(ProposedConnection(name_of(parts.hostname), "rabbitmq", config, secrets=("password",)), left_out=left_out)
