"""How a Kafka cluster is reached: by fields and a short list of client options; no free text ever becomes a setting of the client."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args

from pydantic import Field, field_validator, model_validator

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.form import hints

SECONDS = 10
_TLS = {"tls", "sasl_tls"}
_SASL = {"sasl_plaintext", "sasl_tls"}
_PROTOCOLS = {"plaintext": "PLAINTEXT", "tls": "SSL", "sasl_plaintext": "SASL_PLAINTEXT", "sasl_tls": "SASL_SSL"}
_LOGIN_MODULES = {
    "PLAIN": "org.apache.kafka.common.security.plain.PlainLoginModule",
    "SCRAM-SHA-256": "org.apache.kafka.common.security.scram.ScramLoginModule",
    "SCRAM-SHA-512": "org.apache.kafka.common.security.scram.ScramLoginModule",
}

#: What a job may say to the client: sizes and times, nothing that names a class, a file or another server.
ClientOption = Literal[
    "acks",
    "batch.size",
    "buffer.memory",
    "client.dns.lookup",
    "client.rack",
    "compression.type",
    "connections.max.idle.ms",
    "delivery.timeout.ms",
    "fetch.max.bytes",
    "fetch.max.wait.ms",
    "fetch.min.bytes",
    "isolation.level",
    "linger.ms",
    "max.partition.fetch.bytes",
    "max.poll.records",
    "max.request.size",
    "metadata.max.age.ms",
    "receive.buffer.bytes",
    "reconnect.backoff.max.ms",
    "request.timeout.ms",
    "retry.backoff.ms",
    "send.buffer.bytes",
]


_OPTION = re.compile(r"([a-z.]+)\s*=\s*([A-Za-z0-9._-]{1,100})")


class KafkaSettings(base.Config):
    servers: str = Field(
        max_length=2000,
        pattern=r"^\s*[A-Za-z0-9._-]+:[0-9]{1,5}(\s*,\s*[A-Za-z0-9._-]+:[0-9]{1,5})*\s*$",
        description="Some of the cluster's brokers; the others are learnt from them.",
        examples=["kafka-1.example.com:9092, kafka-2.example.com:9092"],
        json_schema_extra=hints(allowed="names or addresses with their port, such as kafka-1:9092, with a comma between"),
    )
    security: Literal["plaintext", "tls", "sasl_plaintext", "sasl_tls"] = Field(
        "plaintext",
        description="Whether the line is encrypted (TLS) and whether a user signs in (SASL).",
        examples=["sasl_tls"],
    )
    mechanism: Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"] = Field(
        "SCRAM-SHA-512",
        description="How the user's password is shown to the broker, with SASL.",
        examples=["SCRAM-SHA-512"],
        json_schema_extra=hints(when="security=sasl_plaintext|sasl_tls"),
    )
    user: str = Field(
        "",
        max_length=200,
        pattern=r"^[^\x00-\x1f\"\\]*$",
        description="Who signs in, with SASL.",
        examples=["pipeline"],
        json_schema_extra=hints(when="security=sasl_plaintext|sasl_tls", allowed="a name without quotes and backslashes"),
    )
    certificate_authority: str = Field(
        "",
        max_length=100_000,
        description="The PEM certificates that the brokers' are checked against, with TLS; empty takes the usual ones.",
        examples=["-----BEGIN CERTIFICATE-----"],
        json_schema_extra=hints("textarea", when="security=tls|sasl_tls"),
    )
    client_certificate: str = Field(
        "",
        max_length=100_000,
        description="The client's own PEM certificate, where the brokers ask for one; its key is a secret below.",
        examples=["-----BEGIN CERTIFICATE-----"],
        json_schema_extra=hints("textarea", when="security=tls|sasl_tls"),
    )
    options: str = Field(
        "",
        max_length=5000,
        description="Sizes and times of Kafka's own client, one on each line.",
        examples=["fetch.max.bytes=52428800"],
        json_schema_extra=hints("textarea", advanced=True),
    )

    @field_validator("options")
    @classmethod
    def _options_are_known(cls, text: str) -> str:
        _written_options(text)
        return text

    @model_validator(mode="after")
    def _is_complete(self) -> KafkaSettings:
        if self.security in _SASL and not self.user:
            raise ValueError("signing in by SASL needs a user")
        return self

    @property
    def client_options(self) -> dict[str, str]:
        """What is written in `options`, by its name."""
        return _written_options(self.options)

    @property
    def brokers(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.servers.split(","))


def _written_options(text: str) -> dict[str, str]:
    """Option → value from lines of "option=value"; ValueError for one that is not on the list."""
    found: dict[str, str] = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        written = _OPTION.fullmatch(line)
        if written is None:
            raise ValueError(f'options: "{line[:60]}" is not written as option=value')
        if written[1] not in get_args(ClientOption):
            raise ValueError(f"options: {written[1]} cannot be set here; what can: {', '.join(get_args(ClientOption))}")
        found[written[1]] = written[2]
    return found


def kafka_spark_options(settings: ConnectionSettings) -> dict[str, str]:
    """Options of Spark's Kafka source and sink, each below "kafka."; they hold the secrets."""
    typed = KafkaSettings.model_validate(settings.config)
    options: dict[str, str] = {
        "bootstrap.servers": ",".join(typed.brokers),
        "security.protocol": _PROTOCOLS[typed.security],
        **typed.client_options,
    }
    if typed.security in _SASL:
        password = _password(settings).replace("\\", "\\\\").replace('"', '\\"')
        options["sasl.mechanism"] = typed.mechanism
        options["sasl.jaas.config"] = f'{_LOGIN_MODULES[typed.mechanism]} required username="{typed.user}" password="{password}";'
    if typed.security in _TLS and typed.certificate_authority:
        options |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": typed.certificate_authority}
    if typed.security in _TLS and typed.client_certificate:
        key = _client_key(settings)
        options |= {"ssl.keystore.type": "PEM", "ssl.keystore.certificate.chain": typed.client_certificate, "ssl.keystore.key": key}
    return {f"kafka.{name}": value for name, value in options.items()}


def kafka_client_settings(settings: ConnectionSettings) -> dict[str, Any]:
    """For librdkafka, which asks the cluster; Spark's rows travel through Kafka's own client."""
    typed = KafkaSettings.model_validate(settings.config)
    given: dict[str, Any] = {
        "bootstrap.servers": ",".join(typed.brokers),
        "security.protocol": _PROTOCOLS[typed.security],
        "socket.timeout.ms": SECONDS * 1000,
        "log_level": 0,
    }
    if typed.security in _SASL:
        given |= {"sasl.mechanism": typed.mechanism, "sasl.username": typed.user, "sasl.password": _password(settings)}
    if typed.security in _TLS and typed.certificate_authority:
        given["ssl.ca.pem"] = typed.certificate_authority
    if typed.security in _TLS and typed.client_certificate:
        given |= {"ssl.certificate.pem": typed.client_certificate, "ssl.key.pem": _client_key(settings)}
    return given


def _password(settings: ConnectionSettings) -> str:
    if password := settings.secrets.get("password", ""):
        return password
    raise NodeError(f'connecting to "{settings.name}": signing in by SASL needs a password; enter it', permanent=True, kind="user")


def _client_key(settings: ConnectionSettings) -> str:
    if key := settings.secrets.get("client_key", ""):
        return key
    message = f'connecting to "{settings.name}": the client certificate has no key; enter it in the connection'
    raise NodeError(message, permanent=True, kind="user")
