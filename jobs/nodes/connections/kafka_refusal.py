"""What it means when Kafka's brokers do not let a client in, or do not answer: said by the client that asks them, often long before it
gives up, and in words of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jobs.nodes.base import NodeError
from jobs.nodes.connections.kafka_probe import Found, kafka_probe
from jobs.nodes.connections.kafka_reach import host_and_port
from jobs.nodes.connections.kafka_settings import KafkaSettings
from jobs.nodes.connections.tls import speaks_tls
from jobs.nodes.node_error import SignInRefused

if TYPE_CHECKING:
    from confluent_kafka import KafkaError


@dataclass(frozen=True)
class _Meaning:
    """`pattern` in what the client heard; `sentence` may take its groups. Not `permanent` is what brokers also do that start or end.

    `uncertified`: the sentence for a client that shows no certificate of its own, where it is another.
    """

    pattern: str
    sentence: str
    permanent: bool = True
    uncertified: str = ""

    def told(self, typed: KafkaSettings) -> str:
        return self.sentence if typed.client_certificate else self.uncertified or self.sentence


_MEANINGS = (
    _Meaning(r"certificate verify failed", "the brokers' certificate is not trusted; correct certificate authority or servers"),
    _Meaning(
        r"alert (?:bad certificate|certificate required|handshake failure)",
        "the brokers refuse the client certificate; correct it, and its key",
        uncertified="the brokers ask for a client certificate; enter it, and its key, in the connection",
    ),
    _Meaning(
        r"alert ((?:unsupported|unknown|certificate|access)[a-z ]+)",
        "the brokers refuse the client certificate ({0}); correct it, and its key",
    ),
    _Meaning(r"PLAINTEXT broker listener", "the port does not speak TLS; correct security or servers", permanent=False),
    _Meaning(r"not valid in current SASL state", "the port lets in without a sign-in; take a security without SASL"),
    _Meaning(
        r"SASL (\S+) mechanism handshake failed.*supported mechanisms: (.+)", "the brokers know no {0}, but {1}; correct the mechanism"
    ),
)
#: Where it happened, how long that took, and the library's own numbers.
_LEFT_OUT = re.compile(r"^\S+/\S+: |\(after \d+ms in state \w+[^)]*\)|error:[0-9A-F]+:SSL routines::")


#: "sasl_ssl://host:9092/bootstrap: Connect to ipv4#10.0.0.7:9092 failed: Connection refused (after 0ms in state CONNECT)"; a broker that
#: the cluster named itself has its number instead of "bootstrap".
_HEARD = re.compile(r"(?:\w+://)?(\S+:\d+)/(\w+): (.+?)(?: \(after \d+ms in state .*)?$")
_UNREACHED = re.compile(r"Connect to \S+ failed: (.+)|Failed to resolve '[^']*': (.+)|Connection setup (timed out)")


def kafka_silence(typed: KafkaSettings, heard: Sequence[KafkaError]) -> str:
    """Which servers do not answer, why as far as that was `heard`, and what to do, in a sentence without where it was tried."""
    unreached: dict[str, str] = {}
    named: dict[str, str] = {}
    for found in filter(None, (_HEARD.match(error.str()) for error in heard)):
        server, number, what = found.groups()
        if reason := _UNREACHED.match(what):
            (unreached if number == "bootstrap" else named)[server] = next(filter(None, reason.groups()))
    if named:
        return (
            f"the cluster names brokers that cannot be reached from here ({_listed(named)}); "
            "correct their advertised.listeners, or make these addresses known and open"
        )
    if taken := [broker for broker in typed.brokers if broker not in unreached]:
        return (
            f"{', '.join(taken)} takes connections, but does not answer as a Kafka broker; "
            "check whether the port is Kafka's, asks for TLS or a sign-in, and is not that of a proxy whose broker is away"
        )
    return f"no broker answers ({_listed(unreached)}); check ports, firewall and whether the brokers run"


def _listed(reasons: Mapping[str, str]) -> str:
    return "; ".join(f"{server}: {reason}" for server, reason in reasons.items())


def kafka_refusal(typed: KafkaSettings, heard: Sequence[KafkaError]) -> NodeError | None:
    """Why the brokers do not let the client in, without where it was tried; None where what it `heard` does not tell."""
    from confluent_kafka import KafkaError

    for error in heard:
        text = _LEFT_OUT.sub("", error.str()).strip()
        for meaning in _MEANINGS:
            if found := re.search(meaning.pattern, text):
                return NodeError(meaning.told(typed).format(*found.groups()), permanent=meaning.permanent, kind="user")
        if error.code() == KafkaError._AUTHENTICATION:
            words = f"the sign-in was refused ({text.rpartition(': ')[2]}); correct user, password or mechanism"
            return SignInRefused(words, permanent=True, kind="user")
        if error.code() == KafkaError._SSL:
            return _final(f"no trust by TLS ({text}); correct the certificates or the security")
    if heard and "tls" not in typed.security and any(speaks_tls(*host_and_port(broker)) for broker in typed.brokers):
        return _final("the port speaks TLS; take a security with TLS, or another port")
    if heard and "sasl" not in typed.security and "sign-in" in _found(typed):
        return _final("the port asks for a sign-in; take a security with SASL, and enter user and password")
    return None


def is_strange(typed: KafkaSettings) -> bool:
    """Whether nothing but strangers answers at the cluster's servers, which no waiting turns into brokers."""
    return set(_found(typed)) == {"stranger"}


def _found(typed: KafkaSettings) -> list[Found]:
    return [kafka_probe(*host_and_port(broker), tls="tls" in typed.security) for broker in typed.brokers]


def _final(message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user")
