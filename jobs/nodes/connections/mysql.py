"""MySQL and MariaDB servers, reached by fields alone: no free text ever becomes part of an address or an option."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.lines_alive import keep_alive
from jobs.nodes.connections.reach import name_resolve
from jobs.nodes.connections.server_fields import TlsMode, certificate_field, host_field, tls_mode_field
from jobs.nodes.connections.tls import unchecked_context
from jobs.nodes.node_error import SignInRefused, SystemAway

if TYPE_CHECKING:
    import pymysql

_CONNECT_SECONDS = 10
#: Of a greeting, by the version of the protocol, and of a refusal, such as one of too many connections.
_FIRST_BYTES = frozenset({9, 10, 255})
#: Shorter than a driver's lease: a frozen client is dropped before another attempt may begin.
_IDLE_SECONDS = 10
#: Error numbers: lines that broke or were ended by the server, a server that ends, one that has no line left.
_AWAY = frozenset({0, 1040, 1053, 1927, 2003, 2006, 2013, 4031})
#: Before a client gives up a server that was to end a statement by itself.
_GRACE_SECONDS = 5
#: A reader may pause for as long while Spark computes.
_SLOW_READER_SECONDS = 3600


class MysqlSettings(base.Config):
    host: str = host_field("db.example.com")
    port: int = Field(3306, ge=1, le=65535, description="Port of the server.", examples=[3306])
    database: str = Field(
        min_length=1, max_length=64, pattern=r"^[^\x00-\x1f]+$", description="Name of the database.", examples=["warehouse"]
    )
    user: str = Field(min_length=1, max_length=80, pattern=r"^[^\x00-\x1f]+$", description="Who signs in.", examples=["pipeline"])
    tls: TlsMode = tls_mode_field()
    certificate_authority: str = certificate_field(unfolds="tls=require|verify-ca|verify-full")


class MysqlConnection(ConnectionKind):
    kind = "mysql"
    title = "MySQL or MariaDB"
    icon = "database"
    Config = MysqlSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, TLS, sign-in, database with rights; a step is tried only when all before it held."""
        with closing(_Trial(settings)) as trial:
            return check_steps(
                ("name", trial.resolve),
                ("port", trial.reach),
                ("TLS", trial.encrypt),
                ("sign-in", trial.sign_in),
                ("database", trial.database),
            )


def mysql_open(settings: ConnectionSettings, *, database: bool = True) -> pymysql.Connection[Any]:
    """A session in UTC and without a transaction's time limit; NodeError in one sentence when it is refused."""
    import pymysql

    from jobs.nodes.connections.mysql_line import MysqlLine

    typed = MysqlSettings.model_validate(settings.config)
    try:
        session = MysqlLine(
            host=typed.host,
            port=typed.port,
            user=typed.user,
            password=settings.secrets.get("password", ""),
            database=typed.database if database else None,
            charset="utf8mb4",
            connect_timeout=_CONNECT_SECONDS,
            read_timeout=_CONNECT_SECONDS,
            init_command=f"SET SESSION time_zone = '+00:00', net_write_timeout = {_SLOW_READER_SECONDS}",
            **_tls_arguments(typed),
        )
    except (pymysql.Error, OSError, ValueError) as error:
        raise _refusal(settings.name, typed, error) from error
    _be_patient(session)
    return session


def mysql_close(session: pymysql.Connection[Any]) -> None:
    """With a goodbye, which keeps the server's log quiet, unless the line is lost already. What is not committed is rolled back."""
    if session.open:
        session.close()


def mysql_away(error: BaseException) -> bool:
    """Whether a session's error says that the server is away: by its number, or without one where the line broke."""
    import pymysql

    if isinstance(error, (pymysql.ProgrammingError, pymysql.DataError, pymysql.NotSupportedError)):
        return False
    return (error.args[0] if len(error.args) > 1 else 0) in _AWAY


def drop_when_idle(session: pymysql.Connection[Any]) -> None:
    """The server ends the session, and its transaction, when the client froze."""
    with session.cursor() as cursor:
        cursor.execute(f"SET SESSION wait_timeout = {_IDLE_SECONDS}, net_read_timeout = {_IDLE_SECONDS}")


def limit_statements(session: pymysql.Connection[Any], seconds: int) -> None:
    """What a SELECT may take, and wait for a lock. The server ends it; one that is too old to, or froze, is given up a little later."""
    import pymysql

    is_mariadb = "MariaDB" in session.get_server_info()
    longest = f"max_statement_time = {seconds}" if is_mariadb else f"max_execution_time = {seconds * 1000}"
    with suppress(pymysql.MySQLError), session.cursor() as cursor:
        cursor.execute(f"SET SESSION lock_wait_timeout = {seconds}, {longest}")
    session._read_timeout = seconds + _GRACE_SECONDS


def _be_patient(session: Any) -> None:
    """Signing in has a time limit, statements have none; a host that vanished is noticed by the system."""
    session._read_timeout = None  # the client has no public way to change it
    keep_alive(session._sock)


def _tls_arguments(typed: MysqlSettings) -> dict[str, Any]:
    """The client itself prefers TLS and takes a plain line where the server has none; then no password goes over it in the clear."""
    if typed.tls in ("disable", "prefer"):
        refused = dict.fromkeys(("mysql_clear_password", "dialog"), _NeverInTheClear)
        return {"ssl_disabled": typed.tls == "disable", "auth_plugin_map": refused}
    if typed.tls == "require":
        return {"ssl": unchecked_context(), "auth_plugin_map": dict.fromkeys(("mysql_clear_password", "dialog"), _NeverInTheClear)}
    try:
        context = ssl.create_default_context(cadata=typed.certificate_authority or None)
    except ssl.SSLError as error:
        raise ValueError(f"the certificate authority is no PEM certificate ({error.reason or error})") from None
    context.check_hostname = typed.tls == "verify-full"
    return {"ssl": context}


class _NeverInTheClear:
    """Stands in for ways to sign in that would hand the password to whoever answers."""

    def __init__(self, session: Any) -> None:
        pass

    def authenticate(self, packet: Any) -> Any:
        from pymysql.err import OperationalError

        raise OperationalError(1045, "the server asks for the password itself: choose a TLS that checks who it is")


class _Trial:
    """The steps of a connection test, in turn."""

    def __init__(self, settings: ConnectionSettings) -> None:
        self._settings = settings
        self._typed = MysqlSettings.model_validate(settings.config)
        self._session: Any = None
        self._refused: NodeError | None = None

    def close(self) -> None:
        if self._session is not None:
            mysql_close(self._session)

    def resolve(self) -> str:
        return name_resolve(self._typed.host)

    def reach(self) -> str:
        """The server speaks first: one that says nothing, or something else, is no MySQL."""
        where = f"{self._typed.host}:{self._typed.port}"
        try:
            answering = socket.create_connection((self._typed.host, self._typed.port), timeout=_CONNECT_SECONDS)
        except OSError as error:
            reason = error.strerror or error
            raise NodeError(f"nothing answers at {where} ({reason}); check port, firewall and whether the server runs") from None
        with answering:
            if not _greets(answering):
                raise NodeError(
                    f"{where} takes connections, but does not answer as MySQL does; "
                    "check whether the port is MySQL's, and is not that of a proxy whose server is away"
                )
        return f"{where} takes connections"

    def encrypt(self) -> str:
        """A refusal that comes after the line is encrypted belongs to the next step."""
        try:
            self._session = mysql_open(self._settings, database=False)
        except NodeError as error:
            if error.field == "tls":
                raise
            self._refused = error
            return "not used, as chosen: what is sent can be read on the way" if self._typed.tls == "disable" else "the server agrees"
        cipher = getattr(self._session._sock, "cipher", lambda: None)()
        return f"the line is encrypted, {cipher[1]}" if cipher else "the line is not encrypted"

    def sign_in(self) -> str:
        if self._refused is not None:
            raise self._refused
        return f"{self._session.get_server_info().removeprefix('5.5.5-')}, signed in as {self._typed.user}"

    def database(self) -> str:
        import pymysql

        try:
            self._session.select_db(self._typed.database)
            with self._session.cursor() as cursor:
                cursor.execute("SHOW GRANTS")
                may_create = any(_creates(grant, self._typed.database) for (grant,) in cursor.fetchall())
        except pymysql.Error as error:
            raise _refusal(self._settings.name, self._typed, error) from error
        rights = "may create tables" if may_create else "may not create tables: sinks then need existing tables and a marker table"
        return f"{self._typed.database} is there, {self._typed.user} {rights}"


def _greets(answering: socket.socket) -> bool:
    """Whether what answers begins as MySQL does: with a packet that greets or refuses."""
    answering.settimeout(_CONNECT_SECONDS)
    try:
        beginning = answering.recv(5, socket.MSG_WAITALL)
    except OSError:
        return False
    return len(beginning) == 5 and beginning[4] in _FIRST_BYTES


def _creates(grant: str, database: str) -> bool:
    """Whether a line such as "GRANT SELECT, CREATE ON `ware%`.* TO …" gives the right to create tables in `database`."""
    found = re.match(r"GRANT (.+?) ON (\*|`(?:[^`]|``)+`)\.\* TO", grant)
    if found is None or not re.search(r"\b(ALL PRIVILEGES|CREATE)(,|$)", found[1]):
        return False
    if found[2] == "*":
        return True
    pattern = found[2][1:-1].replace("``", "`")
    parts = {"\\_": "_", "\\%": "%", "_": ".", "%": ".*"}
    as_regex = re.sub(r"\\_|\\%|_|%|[^_%\\]+", lambda part: parts.get(part[0], re.escape(part[0])), pattern)
    return re.fullmatch(as_regex, database) is not None


def _refusal(name: str, typed: MysqlSettings, error: Exception) -> NodeError:
    """The server's words and what to do. `field` is "tls" where the line could not be encrypted as it should."""
    code, text = (error.args[0], str(error.args[1])) if len(error.args) > 1 else (0, str(error))
    cause = getattr(error, "original_exception", None)
    where = f'connecting to "{name}"'
    if isinstance(cause, ssl.SSLError) or isinstance(error, ValueError) or code in (2026, 3159):
        reason = getattr(cause, "verify_message", "") or getattr(cause, "reason", "") or text
        return NodeError(f"{where}: no TLS as chosen ({reason}); correct TLS or the certificate authority", kind="user", field="tls")
    if code in (1045, 1698, 1251, 1275):
        return SignInRefused(f"{where}: user {typed.user} was refused ({text}); correct user or password", permanent=True, kind="user")
    if code in (1044, 1049):
        return NodeError(f"{where}: {text}; correct the database, or the user's rights", permanent=True, kind="user")
    if isinstance(cause, socket.gaierror):
        return NodeError(f"{where}: the name {typed.host} is not known; correct the host")
    reason = getattr(cause, "strerror", "") or text
    return SystemAway(f"{where}: {typed.host}:{typed.port} does not answer as it should ({reason}); check that it runs and can be reached")
