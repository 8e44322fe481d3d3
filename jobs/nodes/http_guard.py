"""Keeps HTTP nodes away from private addresses: every connection, a redirect's included, goes to an address that was checked."""

from __future__ import annotations

import ipaddress
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import Any, TypeVar

import httpcore
import httpx

from jobs.nodes.base import Limits, NodeError
from jobs.nodes.connections.tls import tls_context

Result = TypeVar("Result")

_NAT64 = ipaddress.ip_network("64:ff9b::/96")
#: Translators within a network, sites of their own, and two old ways to write IPv4: nothing public is reached only by these.
_WITHIN = tuple(map(ipaddress.ip_network, ("64:ff9b:1::/48", "fec0::/10", "::/96", "::ffff:0:0:0/96")))


def guarded_transport(limits: Limits, most_connections: int = 20, certificate_authority: str = "") -> httpx.HTTPTransport:
    """A transport that resolves a name itself, checks every address behind it, and connects to the one it checked.

    The check stands where the socket is opened, so a name that changes its address between check and use gains nothing.
    """
    kept = httpx.Limits(max_connections=most_connections, max_keepalive_connections=most_connections)
    transport = httpx.HTTPTransport(verify=http_tls(certificate_authority), trust_env=False, limits=kept)
    pool: Any = transport._pool
    pool._network_backend = _GuardedBackend(limits)
    return transport


@lru_cache(maxsize=32)
def http_tls(certificate_authority: str) -> ssl.SSLContext:
    """Trusts these PEM certificates; empty: the usual ones, of which reading takes longer than many a request. NodeError for others."""
    return tls_context(certificate_authority, "encrypting the line") if certificate_authority else httpx.create_ssl_context(trust_env=False)


class _GuardedBackend(httpcore.NetworkBackend):
    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        return first_reached(
            checked_addresses(host, port, self._limits),
            lambda address: self._sockets.connect_tcp(address, port, timeout, local_address, socket_options),
        )

    def connect_unix_socket(
        self, path: str, timeout: float | None = None, socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None
    ) -> httpcore.NetworkStream:
        raise NodeError("sockets of the file system are not allowed", permanent=True, kind="user")


def checked_addresses(host: str, port: int, limits: Limits) -> list[str]:
    """Addresses of `host`; NodeError if it is not known, or any of them is private and `host:port` is not allowed."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NodeError(f'the name "{host}" is not known ({getattr(error, "strerror", None) or error}); correct the address') from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    if not _is_allowed(host, port, limits):
        for address in addresses:
            if not is_public(address):
                name = _written(host)
                raise NodeError(
                    f"{name}:{port} leads to the private address {address}, which this installation does not allow; "
                    f"let an administrator add {name}:{port} to HTTP_ALLOWED_HOSTS",
                    permanent=True,
                    kind="user",
                )
    return addresses


def first_reached(addresses: Sequence[str], act: Callable[[str], Result]) -> Result:
    """What `act` gives for the first address that takes a connection; what it raises for the last where none does."""
    *others, last = addresses
    for address in others:
        with suppress(OSError, httpcore.ConnectError, httpcore.ConnectTimeout):
            return act(address)
    return act(last)


def is_public(address: str) -> bool:
    """Whether `address` belongs to the internet at large, also behind its IPv6 disguises."""
    parsed = ipaddress.ip_address(address.split("%", 1)[0])
    if isinstance(parsed, ipaddress.IPv6Address):
        if any(parsed in network for network in _WITHIN):
            return False
        inner = parsed.ipv4_mapped or parsed.sixtofour or (parsed.teredo[1] if parsed.teredo else None)
        if parsed in _NAT64:
            inner = ipaddress.IPv4Address(int(parsed) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    return parsed.is_global and not parsed.is_multicast


def _is_allowed(host: str, port: int, limits: Limits) -> bool:
    allowed = {entry.lower() for entry in limits.http_allowed_hosts}
    return bool(allowed & {f"{host.lower()}:{port}", f"{_written(host.lower())}:{port}"})


def _written(host: str) -> str:
    """As it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host else host
