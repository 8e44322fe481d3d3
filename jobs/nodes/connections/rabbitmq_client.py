"""How a RabbitMQ broker is reached, and what its client's errors mean."""

from __future__ import annotations

import logging
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.reach import is_silent
from jobs.nodes.connections.server_fields import certificate_field, host_field, tls_switch_field
from jobs.nodes.connections.tls import speaks_tls, tls_context, tls_fault
from jobs.nodes.node_error import SignInRefused, SystemAway

if TYPE_CHECKING:
    from pika import BlockingConnection, ConnectionParameters
    from pika.adapters.blocking_connection import BlockingChannel

SECONDS = 10
#: It logs each failed attempt as several errors with their traces; what happened is told in words instead.
logging.getLogger("pika").setLevel(logging.CRITICAL)
_HEARTBEAT_SECONDS = 30
_GOING_DOWN = 320
#: What a broker may lack ("no queue 'orders' in vhost '/'"); forms call their fields so, too.
_NAMED = ("queue", "exchange")


class RabbitMQAway(SystemAway):
    """The broker does not answer, or goes down: worth waiting for."""


class RabbitMQSettings(base.Config):
    host: str = host_field("rabbit.example.com")
    port: int = Field(5672, ge=1, le=65535, description="The port of AMQP: usually 5672, with TLS 5671.", examples=[5672])
    virtual_host: str = Field(
        "/", min_length=1, max_length=255, description="The virtual host in which queues and exchanges lie.", examples=["/", "shop"]
    )
    user: str = Field("guest", min_length=1, max_length=255, description="Who signs in.", examples=["pipeline"])
    tls: bool = tls_switch_field()
    certificate_authority: str = certificate_field(when="tls=true")


def rabbitmq_line(connection: ConnectionSettings) -> BlockingConnection:
    """A line of its own. What takes the connection and does not speak as a broker does is an AMQPError, too."""
    from pika import BlockingConnection
    from pika.adapters.utils.connection_workflow import AMQPConnectorException
    from pika.exceptions import AMQPConnectionError

    from jobs.nodes.connections.rabbitmq_line import WideLine

    try:
        return BlockingConnection(rabbitmq_parameters(connection), WideLine)
    except AMQPConnectorException as error:
        raise AMQPConnectionError("what takes the connection does not speak as a broker does") from error


@contextmanager
def rabbitmq_channel(connection: ConnectionSettings, act: str) -> Iterator[tuple[BlockingConnection, BlockingChannel]]:
    """A line of its own and a channel on it. Whatever the broker refuses inside is a NodeError that begins with `act`."""
    from pika.exceptions import AMQPError

    try:
        with closing(rabbitmq_line(connection)) as line:
            yield line, line.channel()
    except (AMQPError, OSError) as error:
        told = rabbitmq_error(error, act)
        raise (_encryption_lacks(connection, act) if isinstance(told, RabbitMQAway) else None) or told from error


def _encryption_lacks(connection: ConnectionSettings, act: str) -> NodeError | None:
    typed = RabbitMQSettings.model_validate(connection.config)
    if typed.tls or not speaks_tls(typed.host, typed.port):
        return None
    return _refused(f"{act}: the port speaks TLS; switch TLS on in the connection, or take another port")


def stream_channel_close(channel: BlockingChannel) -> None:
    """Of a channel on which a stream is read. The client's own close gives messages back that were on their way, which streams refuse."""
    channel._consumer_infos.clear()
    channel.close()


def rabbitmq_error(error: BaseException, act: str) -> NodeError:
    """What the broker or its client says, as `act` and a sentence."""
    from pika import exceptions

    if isinstance(error, exceptions.ProbableAuthenticationError | exceptions.ProbableAccessDeniedError) and not _was_refused(error):
        return RabbitMQAway(f"{act}: the broker broke off the sign-in; it may be starting or ending")
    if isinstance(error, exceptions.ProbableAuthenticationError):
        words = f"{act}: the sign-in was refused; correct user or password of the connection"
        return SignInRefused(words, permanent=True, kind="user")
    if isinstance(error, exceptions.ProbableAccessDeniedError):
        return _refused(f"{act}: the user may not use this virtual host, or it does not exist; correct the connection")
    if isinstance(error, exceptions.ChannelClosedByBroker | exceptions.ConnectionClosedByBroker):
        return _told(error.reply_code, error.reply_text, act)
    if isinstance(error, ssl.SSLError):
        return tls_fault(error, act)
    return RabbitMQAway(f"{act}: the broker does not answer ({_words(error)}); check that it runs and can be reached")


def _was_refused(error: BaseException) -> bool:
    """The client takes any line that breaks off during the sign-in for a refusal; a broker that starts or ends breaks it off, too."""
    words = str(error)
    return "ConnectionClosedByBroker" in words and "is down" not in words


def _told(code: int, text: str, act: str) -> NodeError:
    words = text.partition(" - ")[2] or text
    if code == 404 and not words.startswith("no "):  # a queue that is there, on a node that is not, or not yet
        return RabbitMQAway(f"{act}: {words}")
    if code == 404:
        lacking = words.split(" ")[1]
        return _refused(f"{act}: {words}; create it, or correct the name", lacking if lacking in _NAMED else "")
    if code == 403:
        return _refused(f"{act}: {words}; have the right granted")
    if code == 405:
        return NodeError(f"{act}: {words}; another consumer holds it alone")
    if code == _GOING_DOWN:
        return RabbitMQAway(f"{act}: the broker closes its lines ({words})")
    return NodeError(f"{act}: {words}")


def _refused(message: str, field: str = "") -> NodeError:
    return NodeError(message, permanent=True, kind="user", field=field)


def _words(error: BaseException) -> str:
    from pika.exceptions import AMQPConnectionError

    inner = error.args[0] if isinstance(error, AMQPConnectionError) and error.args else error
    cause = getattr(inner, "exception", inner)
    if "StreamLostError" in str(cause):
        return "the line broke off before a broker said anything; it may be starting, or something else uses this port"
    return str(getattr(cause, "strerror", None) or cause or type(error).__name__)


def rabbitmq_tls(connection: ConnectionSettings, typed: RabbitMQSettings) -> ssl.SSLContext | None:
    """What encrypts a line to the broker; None where it is to be plain."""
    return tls_context(typed.certificate_authority, f'connecting to "{connection.name}"') if typed.tls else None


def rabbitmq_parameters(connection: ConnectionSettings, *, heartbeat: int = _HEARTBEAT_SECONDS) -> ConnectionParameters:
    """`heartbeat`: after so many seconds without a word a line counts as dead; 0 for lines whose user may be busy elsewhere."""
    from pika import ConnectionParameters, PlainCredentials, SSLOptions

    typed = RabbitMQSettings.model_validate(connection.config)
    context = rabbitmq_tls(connection, typed)
    return ConnectionParameters(
        host=typed.host,
        port=typed.port,
        virtual_host=typed.virtual_host,
        credentials=PlainCredentials(typed.user, connection.secrets.get("password", "")),
        ssl_options=SSLOptions(context, typed.host) if context else None,
        heartbeat=heartbeat,
        socket_timeout=SECONDS,
        stack_timeout=SECONDS,
        blocked_connection_timeout=300,
    )


def rabbitmq_silent(connection: ConnectionSettings) -> str:
    """The broker's name, as in "waiting for rabbitmq main", when it takes no connection; else ""."""
    typed = RabbitMQSettings.model_validate(connection.config)
    return f"rabbitmq {connection.name}" if is_silent(typed.host, typed.port) else ""
