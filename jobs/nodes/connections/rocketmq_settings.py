"""How RocketMQ is reached: by the name servers, which tell where the brokers are."""

from __future__ import annotations

import ssl
from typing import Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.connections.server_fields import certificate_field
from jobs.nodes.connections.tls import tls_context
from jobs.nodes.form import hints
from jobs.nodes.rocketmq.frames import Credentials

SECONDS = 10.0


class RocketmqSettings(base.Config):
    servers: str = Field(
        max_length=2000,
        pattern=r"^\s*[A-Za-z0-9._-]+:[0-9]{1,5}(\s*[,;]\s*[A-Za-z0-9._-]+:[0-9]{1,5})*\s*$",
        description="The name servers; the brokers are learnt from them, and must be reachable at the addresses they registered with.",
        examples=["rocketmq-1.example.com:9876, rocketmq-2.example.com:9876"],
        json_schema_extra=hints(allowed="names or addresses with their port, such as rocketmq-1:9876, with a comma between"),
    )
    access_key: str = Field(
        "",
        max_length=200,
        pattern=r"^[^\x00-\x1f]*$",
        description="The access key (in RocketMQ 5 the user) that signs in, where the brokers ask for one; its secret stands below.",
        examples=["pipeline"],
    )
    tls: Literal["none", "verify-ca", "verify-full"] = Field(
        "none",
        description="Whether the lines are encrypted, and whether a server's certificate must bear the name or address it is reached by: "
        "that of a broker is the one it registered with.",
        examples=["verify-ca"],
    )
    certificate_authority: str = certificate_field(when="tls=verify-ca|verify-full")

    @property
    def name_servers(self) -> tuple[str, ...]:
        return tuple(part.strip() for part in self.servers.replace(";", ",").split(","))


def rocketmq_credentials(settings: ConnectionSettings) -> Credentials | None:
    """None where nobody signs in."""
    access_key = RocketmqSettings.model_validate(settings.config).access_key
    return Credentials(access_key, settings.secrets.get("secret_key", "")) if access_key else None


def rocketmq_tls(typed: RocketmqSettings, act: str) -> ssl.SSLContext | None:
    """What encrypts the lines; None where they are to be plain. NodeError beginning with `act` where the authority is none."""
    if typed.tls == "none":
        return None
    context = tls_context(typed.certificate_authority, act)
    context.check_hostname = typed.tls == "verify-full"
    return context
