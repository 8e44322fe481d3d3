"""Which kinds of connections are stores of files."""

from __future__ import annotations

from abc import abstractmethod
from importlib import import_module

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import ConnectionKind
from jobs.nodes.stores.store import Store

#: Kind → its class; imported on first use, as its library takes its time.
_STORES = {"s3": "jobs.nodes.connections.s3:S3Connection", "file_store": "jobs.nodes.connections.file_store:FileStoreConnection"}
STORE_KINDS = tuple(_STORES)
#: Those that make a file only if there is none of its name, which a sink counts its batches by.
SINK_STORE_KINDS = ("s3",)


class StoreKind(ConnectionKind):
    """A kind of connection behind which files lie."""

    @abstractmethod
    def open(self, settings: ConnectionSettings, limits: Limits) -> Store:
        """Ready for requests; nothing is asked yet. NodeError where the address is not allowed."""

    def called(self, settings: ConnectionSettings) -> str:
        """As in "waiting for s3 lake"."""
        return f"{settings.kind} {settings.name}"

    @abstractmethod
    def is_silent(self, settings: ConnectionSettings, limits: Limits) -> bool:
        """Whether nothing takes a connection at its address now."""


def store_open(settings: ConnectionSettings, limits: Limits, *, patience_seconds: float = 0) -> Store:
    """The store behind a connection, which is of one of STORE_KINDS. A request that fails is repeated for so long."""
    store = _kind(settings).open(settings, limits)
    store.patience_seconds = patience_seconds
    return store


def store_silent(settings: ConnectionSettings, limits: Limits) -> str:
    """The store's name, as in "waiting for s3 lake", when nothing answers at its address; else ""."""
    kind = _kind(settings)
    return kind.called(settings) if kind.is_silent(settings, limits) else ""


def stored_path(path: str) -> str:
    """`path` as a name below a connection's folder, "" for that folder itself; NodeError where it would lead out of it."""
    parts = path.strip("/").split("/")
    if parts == ["."]:
        return ""
    if any(part in (".", "..", "") for part in parts) or "\x00" in path:
        message = f'path "{path}" is not allowed: name a file or folder below the connection\'s, without . or ..'
        raise NodeError(message, permanent=True, kind="user", field="path")
    return "/".join(parts)


def _kind(settings: ConnectionSettings) -> StoreKind:
    module, _, name = _STORES[settings.kind].partition(":")
    found: StoreKind = getattr(import_module(module), name)()
    return found
