"""PostgreSQL servers, reached by fields and a short list of options: no free text ever becomes part of an address."""

from __future__ import annotations

import os
import re
import socket
import ssl
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.reach import name_resolve, port_reach
from jobs.nodes.connections.server_fields import TlsMode, certificate_field, host_field, tls_mode_field
from jobs.nodes.connections.tls import tls_context, tls_told, unchecked_context
from jobs.nodes.durable_text import certificates_place
from jobs.nodes.form import hints
from jobs.nodes.node_error import SignInRefused, SystemAway

if TYPE_CHECKING:
    from psycopg2.extensions import connection as PostgresSession

_CONNECT_SECONDS = 10
#: A connection's test waits so long for the first answer, for which a server looks at nothing.
_ANSWER_SECONDS = 4
#: The first message of a client that would encrypt (SSLRequest of PostgreSQL's protocol).
_SSL_REQUEST = struct.pack("!ii", 8, 80877103)
#: What libpq says of encryption that no waiting brings about; an "SSL SYSCALL error" is a line that broke.
_ABOUT_TLS = re.compile(r"certificate|does not support SSL|SSL error: (?!unexpected eof)")
#: No file can ever be there.
_NOWHERE = f"{os.devnull}/none"
#: What libpq would else take from PG* variables and from the home of whom the product runs as.
_OWN_ALONE = {"hostaddr": "", "passfile": _NOWHERE, "sslcert": _NOWHERE, "target_session_attrs": "any", "gssencmode": "disable"}
#: From PostgreSQL's libpq 16 on: no ticket of whom the product runs as.
_NO_TICKET, _NO_TICKET_SINCE = {"require_auth": "!gss,!sspi"}, 160_000
#: SQLSTATE: lines that broke, a server that ends or begins, one that has no line left.
_AWAY = ("08", "57P", "53300")
#: Shorter than a driver's lease: a frozen client is dropped before another attempt may begin.
_IDLE_IN_TRANSACTION_MS = 10_000


class PostgresqlSettings(base.Config):
    host: str = host_field("db.example.com")
    port: int = Field(5432, ge=1, le=65535, description="Port of the server.", examples=[5432])
    database: str = Field(
        min_length=1, max_length=63, pattern=r"^[^\x00-\x1f]+$", description="Name of the database.", examples=["warehouse"]
    )
    user: str = Field(min_length=1, max_length=63, pattern=r"^[^\x00-\x1f]+$", description="Who signs in.", examples=["pipeline"])
    tls: TlsMode = tls_mode_field()
    certificate_authority: str = certificate_field(unfolds="tls=require|verify-ca|verify-full", empty="verify-ca and verify-full need them")
    statement_timeout_seconds: int = Field(
        0,
        ge=0,
        le=86_400,
        description="Longest time of one statement; 0 means none.",
        examples=[0, 600],
        json_schema_extra=hints(advanced=True),
    )
    search_path: str = Field(
        "",
        pattern=r"^([A-Za-z_][A-Za-z0-9_$]*(, ?[A-Za-z_][A-Za-z0-9_$]*)*)?$",
        description="Schemas to look into, in order; empty takes the server's.",
        examples=["reporting, public"],
        json_schema_extra=hints(advanced=True, allowed="names of schemas with a comma between"),
    )

    @model_validator(mode="after")
    def _checking_needs_a_certificate(self) -> PostgresqlSettings:
        if self.tls.startswith("verify") and not self.certificate_authority:
            raise ValueError(f"{self.tls} needs the certificates to check against: paste the certificate authority")
        return self


class PostgresqlConnection(ConnectionKind):
    kind = "postgresql"
    title = "PostgreSQL"
    icon = "database"
    Config = PostgresqlSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, TLS, sign-in with rights; a step is tried only when all before it held."""
        typed = PostgresqlSettings.model_validate(settings.config)
        return check_steps(
            ("name", lambda: name_resolve(typed.host)),
            ("port", lambda: port_reach(typed.host, typed.port, seconds=_CONNECT_SECONDS)),
            ("TLS", lambda: _encrypt(typed)),
            ("sign-in", lambda: _sign_in(typed, settings, limits)),
        )


def postgresql_open(
    settings: ConnectionSettings, limits: Limits, *, application: str = "pipeline web", idle_limit: bool = True, seconds: int = 0
) -> PostgresSession:
    """A connection in UTC, by nothing but `settings`; NodeError in one sentence when it is refused.

    With `idle_limit` a frozen client loses it. `seconds`: what a statement may take, and wait for a lock; 0 means no further limit.
    """
    import psycopg2
    from psycopg2.extensions import libpq_version

    typed = PostgresqlSettings.model_validate(settings.config)
    try:
        return psycopg2.connect(
            host=typed.host,
            port=typed.port,
            dbname=typed.database,
            user=typed.user,
            password=settings.secrets.get("password", ""),
            connect_timeout=_CONNECT_SECONDS,
            application_name=application,
            options=_server_options(typed, seconds)
            + (f" -c idle_in_transaction_session_timeout={_IDLE_IN_TRANSACTION_MS}" if idle_limit else ""),
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            client_encoding="UTF8",
            **_OWN_ALONE,
            **(_NO_TICKET if libpq_version() >= _NO_TICKET_SINCE else {}),
            **_tls_arguments(typed, settings.name, limits),
        )
    except psycopg2.Error as error:
        raise _refusal(settings.name, typed, error) from None


def _server_options(typed: PostgresqlSettings, seconds: int) -> str:
    options = ["-c TimeZone=UTC"]
    if limits := [limit for limit in (typed.statement_timeout_seconds, seconds) if limit]:
        options.append(f"-c statement_timeout={min(limits) * 1000}")
    if seconds:
        options.append(f"-c lock_timeout={seconds * 1000}")
    if typed.search_path:
        options.append(f"-c search_path={typed.search_path.replace(' ', '')}")
    return " ".join(options)


def _tls_arguments(typed: PostgresqlSettings, name: str, limits: Limits) -> dict[str, str]:
    if not typed.certificate_authority:
        return {"sslmode": typed.tls, "sslrootcert": _NOWHERE}
    tls_context(typed.certificate_authority, f'connecting to "{name}"')  # libpq would name a file that nobody here has heard of
    return {"sslmode": typed.tls, "sslrootcert": str(certificates_place(typed.certificate_authority, Path(limits.data_dir)))}


def _encrypt(typed: PostgresqlSettings) -> str:
    """Asked for as libpq asks, before anybody signs in."""
    if typed.tls == "disable":
        return "not used, as chosen: what is sent can be read on the way"
    try:
        with socket.create_connection((typed.host, typed.port), timeout=_ANSWER_SECONDS) as line:
            line.sendall(_SSL_REQUEST)
            answer = line.recv(1)
            if answer == b"S":
                return tls_told(line, typed.host, _context(typed))
    except OSError as error:
        raise _stranger(typed, str(error.strerror or error)) from None
    if answer not in (b"N", b"E"):
        raise _stranger(typed, "it speaks something else" if answer else "it hangs up")
    if typed.tls == "prefer":
        return "the server offers no TLS: what is sent can be read on the way"
    raise NodeError(f"encrypting the line: the server offers no TLS, which {typed.tls} asks for; switch it on there, or choose another TLS")


def _stranger(typed: PostgresqlSettings, why: str) -> NodeError:
    where = f"{typed.host}:{typed.port}"
    return NodeError(f"encrypting the line: {where} does not answer as PostgreSQL does ({why}); check whether the port is PostgreSQL's")


def _context(typed: PostgresqlSettings) -> ssl.SSLContext:
    if typed.tls == "prefer" or not typed.certificate_authority:
        return unchecked_context()
    context = tls_context(typed.certificate_authority, "encrypting the line")
    context.check_hostname = typed.tls == "verify-full"
    return context


def _sign_in(typed: PostgresqlSettings, settings: ConnectionSettings, limits: Limits) -> str:
    session = postgresql_open(settings, limits)
    try:
        with session.cursor() as cursor:
            cursor.execute("SELECT current_setting('server_version'), has_schema_privilege(coalesce(current_schema(), 'public'), 'CREATE')")
            row: Any = cursor.fetchone()
    finally:
        session.close()
    rights = "may create tables" if row[1] else "may not create tables: sinks then need existing tables and a marker table"
    return f"PostgreSQL {row[0]}, {typed.user} {rights}"


def postgresql_away(error: BaseException) -> bool:
    """Whether a session's error says that the server is away: by its SQLSTATE, or without one where the line broke."""
    import psycopg2

    code: str = getattr(error, "pgcode", None) or ""
    return code.startswith(_AWAY) if code else isinstance(error, (psycopg2.OperationalError, psycopg2.InterfaceError))


def _refusal(name: str, typed: PostgresqlSettings, error: Exception) -> NodeError:
    """libpq's words, without its repetition of host and address, and what to do."""
    told = [line for line in str(error).strip().splitlines() if not line[:1].isspace()]  # below stand its questions
    text = re.sub(r"^.*?(?:(?:FATAL|failed):\s*)+", "", told[-1])
    where = f'connecting to "{name}"'
    if "password authentication failed" in text or "no password supplied" in text:
        return SignInRefused(f"{where}: user {typed.user} was refused ({text}); correct user or password", permanent=True, kind="user")
    if "authentication method requirement" in text:
        message = f"{where}: {typed.host}:{typed.port} asks for a ticket of Kerberos; have it take the password of {typed.user}"
        return SignInRefused(message, permanent=True, kind="user")
    if "does not exist" in text:
        return NodeError(f"{where}: {text}; correct the connection", permanent=True, kind="user")
    if "could not translate host name" in text or "Name or service not known" in text:
        return NodeError(f"{where}: the name {typed.host} is not known; correct the host")
    if _ABOUT_TLS.search(text):
        message = f"{where}: the line cannot be encrypted as {typed.tls} asks ({text}); correct TLS, host or certificate authority"
        return NodeError(message, permanent=True, kind="user")
    return SystemAway(f"{where}: {typed.host}:{typed.port} does not answer as it should ({text}); check that it runs and can be reached")
