"""How HBase is reached, by its Thrift server, and what that server's answers mean."""

from __future__ import annotations

import socket
from types import TracebackType
from typing import Any, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.server_fields import host_field
from jobs.nodes.form import hints
from jobs.nodes.node_error import SystemAway

_SILENT_SECONDS = 3.0
#: Of Java's exceptions those that no later attempt changes, with what to do; their names stand in what the Thrift server says.
_REFUSED = {
    "TableNotFoundException": "there is no such table; create it, or correct the name",
    "NoSuchColumnFamilyException": "the table lacks a column family; add it to the table, or correct its name",
    "NamespaceNotFoundException": "there is no such namespace; create it, or correct the table's name",
    "AccessDeniedException": "the Thrift server's user may not do this; have the right granted",
}


class HbaseSettings(base.Config):
    host: str = host_field("hbase-thrift.example.com")
    port: int = Field(9090, ge=1, le=65535, description="The port of HBase's Thrift server: usually 9090.", examples=[9090])
    transport: Literal["buffered", "framed"] = Field(
        "buffered",
        description="How the Thrift server frames what it reads: framed where it was started with -f or as a non-blocking server.",
        examples=["buffered", "framed"],
        json_schema_extra=hints(advanced=True),
    )
    protocol: Literal["binary", "compact"] = Field(
        "binary",
        description="How values travel: compact where the Thrift server was started with -c.",
        examples=["binary", "compact"],
        json_schema_extra=hints(advanced=True),
    )
    timeout_seconds: float = Field(
        60, gt=0, le=600, description="How long to wait for an answer.", examples=[60], json_schema_extra=hints(advanced=True)
    )


class RowsRefused(Exception):
    """HBase cannot store rows of this call: the message says why."""


class HbaseLine:
    """A line to the Thrift server, opened when it is first needed, and again after it failed. A context: its end closes the line.

    `act` begins what its errors say. `seconds`: wait no longer than that for an answer.
    """

    def __init__(self, connection: ConnectionSettings, act: str, *, seconds: float | None = None) -> None:
        self._settings = HbaseSettings.model_validate(connection.config)
        self._act = act
        self._seconds = min(self._settings.timeout_seconds, seconds or self._settings.timeout_seconds)
        self._transport: Any = None
        self._client: Any = None

    def __enter__(self) -> HbaseLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._close()

    def call(self, name: str, *arguments: Any) -> Any:
        """What a call of HBase's Hbase.thrift, the one that happybase brings, gives back; names and values are bytes.

        RowsRefused, or NodeError; permanent where trying again cannot help.
        """
        try:
            if self._client is None:
                self._open()
            return getattr(self._client, name)(*arguments)
        except NodeError:
            raise
        except Exception as error:
            if not _is_answer(error):
                # The answer to this call might still come, and be taken for that to the next.
                self._close()
            raise _told(error, self._act) from error

    def _open(self) -> None:
        import happybase.connection as happy
        from thriftpy2.thrift import TClient
        from thriftpy2.transport import TSocket

        typed = self._settings
        try:
            line = socket.create_connection((typed.host, typed.port), timeout=self._seconds)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            raise SystemAway(f"{self._act}: the Thrift server does not answer ({why}); check that it runs and can be reached") from error
        line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        line.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        plain: Any = TSocket  # it has no types
        self._transport = happy.THRIFT_TRANSPORTS[typed.transport](plain(sock=line))
        protocol = happy.THRIFT_PROTOCOLS[typed.protocol](self._transport, decode_response=False)
        self._client = TClient(happy.Hbase, protocol)

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()
        self._transport = self._client = None


def _is_answer(error: Exception) -> bool:
    """Said by HBase, so that the line goes on."""
    from Hbase_thrift import AlreadyExists, IllegalArgument
    from Hbase_thrift import IOError as HbaseError
    from thriftpy2.thrift import TApplicationException

    return isinstance(error, HbaseError | IllegalArgument | AlreadyExists | TApplicationException)


def _told(error: Exception, act: str) -> Exception:
    from Hbase_thrift import IllegalArgument
    from thriftpy2.transport import TTransportException

    if isinstance(error, IllegalArgument):
        return RowsRefused(_words(error).split("Exception: ", 1)[-1])
    if _is_answer(error):
        return _refusal(error, act)
    remedy = "check that HBase runs, and that transport and protocol are the server's"
    if isinstance(error, TimeoutError):
        return NodeError(f"{act}: no answer in time; {remedy}")
    if isinstance(error, OSError | EOFError | TTransportException):
        return NodeError(f"{act}: the line broke off; {remedy}")
    return NodeError(f"{act}: something answers, but not as HBase's Thrift server ({type(error).__name__}); {remedy}")


def _refusal(error: Any, act: str) -> NodeError:
    told = _text(error)
    for name, words in _REFUSED.items():
        if name in told:
            return NodeError(f"{act}: {words}", permanent=True, kind="user")
    if "TableNotEnabledException" in told:
        return NodeError(f"{act}: the table is disabled; enable it")
    return NodeError(f"{act}: HBase says {_words(error)}")


def _text(error: Any) -> str:
    """What it says, with Java's trace. Not by `str`, which fails where the words are bytes."""
    told = error.message
    return told.decode("utf-8", "replace") if isinstance(told, bytes) else str(told or "")


def _words(error: Any) -> str:
    lines = _text(error).strip().splitlines() or ["no more than that something failed"]
    return lines[0][:500]


def hbase_silent(connection: ConnectionSettings, table: str) -> str:
    """Its name, as in "waiting for hbase main", when the Thrift server or the HBase behind it does not answer; else ""."""
    try:
        with HbaseLine(connection, "asking", seconds=_SILENT_SECONDS) as line:
            line.call("isTableEnabled", table.encode())
    except NodeError as error:
        return "" if error.permanent else f"hbase {connection.name}"
    return ""
