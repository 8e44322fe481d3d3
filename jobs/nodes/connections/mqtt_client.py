"""How an MQTT broker is reached, and what it says."""

from __future__ import annotations

import ssl
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.reach import is_silent
from jobs.nodes.connections.server_fields import certificate_field, host_field, tls_switch_field
from jobs.nodes.connections.tls import speaks_tls, tls_context, tls_fault
from jobs.nodes.form import hints
from jobs.nodes.node_error import SignInRefused, SystemAway

if TYPE_CHECKING:
    from paho.mqtt.client import Client

SECONDS = 10
_KEEPALIVE_SECONDS = 30
#: CONNACK reason codes (MQTT 5, 3.2.2.2) that no later attempt changes.
_SIGN_IN_REFUSED = {
    0x86: ("the sign-in was refused", "correct user or password"),
    0x87: ("the broker does not let this user in", "correct user or password, or have the right to connect granted"),
}
_NO_USER = ("no user is named, and the broker lets nobody in without one", "name user and password in the connection")
_REFUSED = {0x85: "the broker does not take this client's name", 0x8C: "the broker wants another way to sign in"}

ClientT = TypeVar("ClientT", bound="Client")


class MqttSettings(base.Config):
    host: str = host_field("mqtt.example.com")
    port: int = Field(1883, ge=1, le=65535, description="The port of MQTT: usually 1883, with TLS 8883.", examples=[1883])
    sign_in: Literal["none", "password"] = Field("password", description="Whether a user signs in with a password.", examples=["password"])
    user: str = Field(
        "", max_length=255, description="Who signs in.", examples=["pipeline"], json_schema_extra=hints(when="sign_in=password")
    )
    tls: bool = tls_switch_field()
    certificate_authority: str = certificate_field(when="tls=true")


def mqtt_connect(client: Client, connection: ConnectionSettings, act: str, **given: Any) -> bool:
    """Signs `client` in: whether the broker had kept its session. NodeError beginning with `act` where it does not let it in."""
    typed = MqttSettings.model_validate(connection.config)
    if typed.sign_in == "password":
        client.username_pw_set(typed.user, connection.secrets.get("password", ""))
    if context := mqtt_tls(typed, act):
        with suppress(ValueError):  # a client that connects again has one
            client.tls_set_context(context)
    answers: list[Any] = []
    client.on_connect = lambda _, __, flags, reason, ___: answers.append((reason, flags.session_present))
    try:
        client.connect(typed.host, typed.port, keepalive=_KEEPALIVE_SECONDS, **given)
    except ssl.SSLError as error:
        raise tls_fault(error, act) from error
    except OSError as error:
        hint = "; it may not speak TLS" if typed.tls and isinstance(error, ConnectionResetError) else ""
        raise mqtt_away(act, (error.strerror or str(error)) + hint) from error
    deadline = time.monotonic() + SECONDS
    while not answers and time.monotonic() < deadline:
        if client.loop(0.1) != 0 and not answers:
            break
    if not answers and not typed.tls and speaks_tls(typed.host, typed.port):
        raise mqtt_refused(f"{act}: the port speaks TLS; switch TLS on in the connection, or take another port")
    if not answers:
        raise SystemAway(
            f"{act}: {typed.host}:{typed.port} takes connections, but does not answer as an MQTT broker; "
            "check whether the port is MQTT's, and is not that of a proxy whose broker is away"
        )
    reason, is_kept = answers[0]
    if reason.is_failure:
        _raise_for(reason, act, has_user=typed.sign_in == "password" and typed.user != "")
    return bool(is_kept)


def mqtt_tls(typed: MqttSettings, act: str) -> ssl.SSLContext | None:
    """What encrypts a line to the broker; None where it is to be plain."""
    return tls_context(typed.certificate_authority, act) if typed.tls else None


def _raise_for(reason: Any, act: str, *, has_user: bool) -> None:
    if reason.value in _SIGN_IN_REFUSED:
        what, remedy = _SIGN_IN_REFUSED[reason.value] if has_user else _NO_USER
        raise SignInRefused(f"{act}: {what}; {remedy}", permanent=True, kind="user")
    if reason.value in _REFUSED:
        raise mqtt_refused(f"{act}: {_REFUSED[reason.value]}")
    raise NodeError(f"{act}: the broker refuses for now ({reason})")


def reading_act(connection: str) -> str:
    """How the words of an error begin."""
    return f'reading mqtt "{connection}"'


def mqtt_refused(message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user")


def mqtt_away(act: str, why: str) -> SystemAway:
    return SystemAway(f"{act}: the broker does not answer ({why}); check that it runs and can be reached")


def mqtt_silent(connection: ConnectionSettings) -> str:
    """The broker's name, as in "waiting for mqtt plant", when it takes no connection; else ""."""
    typed = MqttSettings.model_validate(connection.config)
    return f"mqtt {connection.name}" if is_silent(typed.host, typed.port) else ""
