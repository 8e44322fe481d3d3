"""The test of an S3 connection, step by step."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from contextlib import closing
from uuid import uuid4

from jobs.nodes.base import Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, check_steps
from jobs.nodes.connections.reach import SECONDS, port_reach
from jobs.nodes.connections.s3_settings import S3Settings
from jobs.nodes.connections.tls import tls_context, tls_fault
from jobs.nodes.http_guard import checked_addresses
from jobs.nodes.stores.store import Store


def s3_check(typed: S3Settings, limits: Limits, opened: Callable[[], Store]) -> list[CheckStep]:
    """Name, port, TLS (of https), sign-in, bucket, listing, writing; stops at the first that fails. A key may be one that only reads."""
    tried = _Tried(typed, opened)
    steps: list[tuple[str, Callable[[], str]]] = [
        ("name", lambda: f"{typed.asked_host} has the address {', '.join(checked_addresses(typed.asked_host, typed.port, limits))}"),
        ("port", lambda: port_reach(typed.asked_host, typed.port)),
        ("TLS", lambda: _encrypted(typed)),
        ("sign-in", tried.signed_in),
        ("bucket", tried.bucket_found),
        ("listing", tried.listed),
        ("writing", tried.written),
    ]
    return check_steps(*(step for step in steps if step[0] != "TLS" or typed.secure))


class _Tried:
    """One listing tells of sign-in, bucket and right; each step says its part of it."""

    def __init__(self, typed: S3Settings, opened: Callable[[], Store]) -> None:
        self._typed = typed
        self._opened = opened
        self._store: Store | None = None
        self._refusal: NodeError | None = None
        self._trial = f".pipeline-connection-test-{uuid4().hex[:8]}"

    def signed_in(self) -> str:
        self._store = self._opened()
        try:
            self._store.find(self._trial)
        except NodeError as error:
            self._refusal = error
            if _step_of(self._store, error) == "sign-in":
                raise
        return f"key {self._typed.key_id} is taken" if self._typed.sign_in == "key" else "none is asked for"

    def bucket_found(self) -> str:
        if self._store is not None and self._refusal is not None and _step_of(self._store, self._refusal) == "bucket":
            raise self._refusal
        return f"bucket {self._typed.bucket} is there"

    def listed(self) -> str:
        if self._refusal is not None:
            raise self._refusal
        return "files can be listed"

    def written(self) -> str:
        assert self._store is not None
        try:
            kept = self._store.keeps_what_is_there(self._trial)
        except NodeError as error:
            if not error.permanent:
                raise
            return "this key may only read: sources can use it, sinks cannot"
        if not kept:  # by files that are made only where there are none the sink counts its batches
            return "this store does not keep a file that is there: sources can use it, sinks cannot"
        return "files can be written and deleted"


def _step_of(store: Store, error: NodeError) -> str:
    known = store.meaning(error.__cause__) if isinstance(error.__cause__, Exception) else None
    return known.field if known is not None and known.field else "sign-in"


def _encrypted(typed: S3Settings) -> str:
    act = f"TLS at {typed.asked_host}:{typed.port}"
    context = tls_context(typed.certificate_authority, act)
    with closing(socket.create_connection((typed.asked_host, typed.port), timeout=SECONDS)) as plain:
        try:
            with context.wrap_socket(plain, server_hostname=typed.asked_host) as secure:
                return f"{secure.version()}, the certificate is valid for {typed.asked_host}"
        except ssl.SSLError as error:
            raise tls_fault(error, act) from None
        except OSError as error:
            raise NodeError(f"no TLS at {typed.asked_host}:{typed.port} ({error}); check scheme and port") from None
