"""Redis servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.reach import name_resolve, port_reach
from jobs.nodes.form import hints

if TYPE_CHECKING:
    from redis import Redis

_SECONDS = 10


class RedisSettings(base.Config):
    host: str = Field(
        min_length=1,
        max_length=253,
        pattern=r"^[A-Za-z0-9._:-]+$",
        description="The server's name or address.",
        examples=["redis.example.com"],
        json_schema_extra=hints(allowed="a server's name or address"),
    )
    port: int = Field(6379, ge=1, le=65_535, description="The port it listens on.", examples=[6379])
    database: int = Field(
        0, ge=0, le=10_000, description="The number of the database.", examples=[0], json_schema_extra=hints(advanced=True)
    )
    tls: bool = Field(False, description="Encrypts the way there and checks the server's certificate.", examples=[True])
    sign_in: Literal["none", "password"] = Field("none", description="How to sign in.", examples=["password"])
    user: str = Field(
        "",
        max_length=200,
        description="The user; empty is the server's default user.",
        examples=["reader"],
        json_schema_extra=hints(when="sign_in=password"),
    )


class RedisConnection(ConnectionKind):
    kind = "redis"
    title = "Redis"
    icon = "database"
    Config = RedisSettings
    #: Kept encrypted, never among the settings.
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password"}
    secrets_when: ClassVar[Mapping[str, str]] = {"password": "sign_in=password"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, then sign-in."""
        typed = RedisSettings.model_validate(settings.config)
        return check_steps(
            ("name", lambda: name_resolve(typed.host)),
            ("port", lambda: port_reach(typed.host, typed.port)),
            ("sign-in", lambda: _sign_in(settings)),
        )


def _sign_in(settings: ConnectionSettings) -> str:
    with redis_open(settings, "signing in") as client:
        return f"Redis {client.info('server')['redis_version']} takes us"


@contextmanager
def redis_open(settings: ConnectionSettings, act: str) -> Iterator[Redis]:
    """A client whose answers are text. Inside, Redis's errors become NodeErrors about `act`, such as "reading a stream"."""
    from redis import Redis
    from redis.backoff import NoBackoff
    from redis.exceptions import AuthenticationError, RedisError, ResponseError
    from redis.retry import Retry

    typed = RedisSettings.model_validate(settings.config)
    signs_in = typed.sign_in == "password"
    signing: dict[str, Any] = {"username": typed.user or None, "password": settings.secrets.get("password", "")} if signs_in else {}
    # The product tries again by itself, and says so; the client need not.
    waits: dict[str, Any] = {"socket_timeout": _SECONDS, "socket_connect_timeout": _SECONDS, "retry": Retry(NoBackoff(), 0)}
    client = Redis(host=typed.host, port=typed.port, db=typed.database, ssl=typed.tls, decode_responses=True, **waits, **signing)
    try:
        with client:
            yield client
    except AuthenticationError as error:
        told = f"{act}: Redis refuses to let us in ({error}); correct user and password of connection {settings.name}"
        raise NodeError(told, permanent=True, kind="user", field="connection") from error
    except ResponseError as error:
        raise NodeError(f"{act}: Redis refuses: {error}", permanent=True, kind="user") from error
    except RedisError as error:
        raise NodeError(f"{act}: Redis at {typed.host}:{typed.port} does not answer ({error}); check whether it runs") from error
