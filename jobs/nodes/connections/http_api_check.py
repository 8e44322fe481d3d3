"""The test of an HTTP API's connection, step by step."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, check_steps
from jobs.nodes.connections.http_api import HttpApiSettings
from jobs.nodes.connections.reach import line_try
from jobs.nodes.connections.tls import tls_fault
from jobs.nodes.http_client import HttpApi
from jobs.nodes.http_guard import checked_addresses, first_reached, http_tls
from jobs.nodes.retry_note import RetryNote

Step = tuple[str, Callable[[], str]]

_SECONDS = 10.0
_SILENT_SECONDS = 3.0


def api_check(settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
    """Name, port, TLS (of https), sign-in, path; stops at the first that fails. At the base address any page or none may be."""
    return _checked(settings, limits, _Check.steps)


def address_check(settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
    """Name, port, TLS (of https) without a request."""
    return _checked(settings, limits, _Check.line_steps)


def _checked(settings: ConnectionSettings, limits: Limits, steps: Callable[[_Check], Iterator[Step]]) -> list[CheckStep]:
    typed = HttpApiSettings.model_validate(settings.config)
    try:
        http_tls(typed.certificate_authority)
    except NodeError as error:
        return [CheckStep("TLS", False, error.message)]
    with HttpApi(settings, limits, attempts=1, timeout_seconds=_SECONDS) as api:
        return check_steps(*steps(_Check(typed, limits, api)))


def api_awaited(connection: ConnectionSettings, limits: Limits, work_dir: Path) -> str:
    """Like `api_silent`, also while a request of the node with this folder is tried again; why stands in brackets then."""
    if silent := api_silent(connection, limits):
        return silent
    words = RetryNote.of(work_dir).words()
    return f"HTTP API {connection.name} ({words})" if words else ""


def api_silent(connection: ConnectionSettings, limits: Limits) -> str:
    """The API's name, as in "waiting for HTTP API main", when nothing takes a connection at its address; else ""."""
    address = urlsplit(HttpApiSettings.model_validate(connection.config).base_url)
    port = address.port or (443 if address.scheme == "https" else 80)
    try:
        found = checked_addresses(address.hostname or "", port, limits)
        first_reached(found, lambda address: line_try(address, port, seconds=_SILENT_SECONDS))
        return ""
    except NodeError as error:  # an address that is not allowed is not silent
        return "" if error.permanent else f"HTTP API {connection.name}"
    except OSError:
        return f"HTTP API {connection.name}"


class _Check:
    """What each step found is kept for the next."""

    def __init__(self, typed: HttpApiSettings, limits: Limits, api: HttpApi) -> None:
        self._typed = typed
        self._limits = limits
        self._api = api
        address = urlsplit(typed.base_url)
        self._host = address.hostname or ""
        self._secure = address.scheme == "https"
        self._addresses: list[str] = []
        self._status = 0
        self._unanswered: NodeError | None = None

    def line_steps(self) -> Iterator[Step]:
        yield "name", self._name
        yield "port", self._reached
        if self._secure:
            yield "TLS", self._encrypted

    def steps(self) -> Iterator[Step]:
        yield from self.line_steps()
        yield "sign-in", self._signed_in
        yield "path", self._answered

    def _port(self) -> int:
        return urlsplit(self._typed.base_url).port or (443 if self._secure else 80)

    def _name(self) -> str:
        self._addresses = checked_addresses(self._host, self._port(), self._limits)
        return f"{self._host} has the address {', '.join(self._addresses)}"

    def _reached(self) -> str:
        with closing(self._connected()):
            return f"{self._host}:{self._port()} takes connections"

    def _connected(self) -> socket.socket:
        try:
            return first_reached(self._addresses, lambda address: socket.create_connection((address, self._port()), timeout=_SECONDS))
        except OSError as error:
            reason = error.strerror or error
            raise NodeError(
                f"nothing answers at {self._host}:{self._port()} ({reason}); check port, firewall and whether the server runs"
            ) from None

    def _encrypted(self) -> str:
        context = http_tls(self._typed.certificate_authority)
        with closing(self._connected()) as plain:
            try:
                with context.wrap_socket(plain, server_hostname=self._host) as secure:
                    return f"{secure.version()}, the certificate is valid for {self._host}"
            except ssl.SSLCertVerificationError as error:
                raise tls_fault(error, "encrypting the line") from None
            except ssl.SSLError as error:
                raise NodeError(f"no TLS at {self._host}:{self._port()} ({error.reason or error}); check scheme and port") from None

    def _signed_in(self) -> str:
        token = self._api.signed_in()
        try:
            self._status = self._api.probe(self._typed.test_path)
        except NodeError as error:  # the next step's matter
            self._unanswered = error
            return token or "nothing to be said yet"
        if self._status in (401, 403):
            wanted = "wants a sign-in" if self._typed.auth == "none" else "refused the sign-in"
            raise NodeError(f"the server {wanted} ({self._status}); correct the connection")
        return token or ("none is asked for" if self._typed.auth == "none" else "the server did not refuse it")

    def _answered(self) -> str:
        """A base address without a page is usual; a path that was named has to be there."""
        if self._unanswered is not None:
            raise self._unanswered
        where = self._typed.test_path or "the base address"
        if self._status >= 500 or self._status == 429 or (self._status >= 400 and self._typed.test_path):
            raise NodeError(f"the server answered {self._status} at {where}; check address and server")
        return f"the server answered {self._status}"
