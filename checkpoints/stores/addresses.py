"""A store by its address: `s3://bucket/folder`, and every other that fsspec knows, `hdfs://…` among them.

Their libraries, which take their time, are loaded where a store is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from checkpoints.stores.base import StorageUnfit
from checkpoints.stores.objects import ObjectStorage
from jobs.nodes.base import NodeError
from jobs.nodes.stores.store import Store

_CONNECT_SECONDS, _READ_SECONDS = 5, 30
#: They make no folders: a name is all there is.
_WITHOUT_FOLDERS = {"gs", "gcs", "abfs", "abfss", "az", "oss", "memory"}


@dataclass(frozen=True)
class Access:
    """How to sign in. Empty: as the machine is signed in. `options`: what else the library of the store is to be told."""

    key: str = ""
    secret: str = field(default="", repr=False)
    endpoint: str = ""
    region: str = ""
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)


class _AnyStore(Store):
    """Of a library that nothing more is known of."""

    def put(self, source: Path, name: str) -> None:
        if self.title not in _WITHOUT_FOLDERS:
            self._done(f'writing "{name}"', lambda: self._files.makedirs(self._files._parent(self._path(name)), exist_ok=True))
        super().put(source, name)

    def meaning(self, error: Exception) -> NodeError | None:
        if isinstance(error, PermissionError):
            return NodeError("the product may not do this; have the right granted", permanent=True, kind="user")
        return None

    def is_taken(self, error: Exception) -> bool:
        return isinstance(error, FileExistsError)

    def modified(self, entry: dict[str, Any]) -> float:
        known = next((entry[name] for name in ("LastModified", "mtime", "last_modified", "updated", "modified") if entry.get(name)), None)
        if known is None:
            known = self._files.modified(entry["name"])
        return float(known.timestamp() if hasattr(known, "timestamp") else known)


def name_of(address: str) -> str:
    """What settings call the store at `address`: its scheme."""
    return urlsplit(address).scheme.lower()


def storage_at(address: str, access: Access) -> ObjectStorage:
    """The store at `address`; nothing is asked yet. StorageUnfit where no library for it is installed, or it holds a password."""
    import fsspec

    name, parts = name_of(address), urlsplit(address)
    if parts.password is not None:
        raise StorageUnfit("its address holds a password, which would be shown: give it by the variables for that")
    if not name or not parts.netloc + parts.path:
        raise StorageUnfit("its address is none like s3://bucket/folder")
    try:
        fsspec.get_filesystem_class(name)
    except (ImportError, ValueError) as error:
        raise StorageUnfit(f"no library for {name}:// is installed: {error}") from None
    if name == "s3":
        return ObjectStorage(name, lambda: _s3(parts.netloc + parts.path, access), address)
    return ObjectStorage(name, lambda: _any(address, access), address)


def _any(address: str, access: Access) -> Store:
    import fsspec

    files, base = fsspec.core.url_to_fs(address, skip_instance_cache=True, **access.options)
    return _AnyStore(name_of(address), files, base)


def _s3(base: str, access: Access) -> Store:
    """Signed with the key that is given, else as the machine is; many stores know no newer checksums."""
    from s3fs import S3FileSystem

    from jobs.nodes.connections.s3 import S3Store

    files = S3FileSystem(
        key=access.key or None,
        secret=access.secret or None,
        endpoint_url=access.endpoint or None,
        client_kwargs={"region_name": access.region} if access.region else {},
        config_kwargs={
            "s3": {"addressing_style": "path" if access.endpoint else "auto"},
            "connect_timeout": _CONNECT_SECONDS,
            "read_timeout": _READ_SECONDS,
            "retries": {"total_max_attempts": 2, "mode": "standard"},
            "request_checksum_calculation": "when_required",
            "response_checksum_validation": "when_required",
        },
        skip_instance_cache=True,
        use_listings_cache=False,
        **access.options,
    )
    files.retries = 1  # the next checkpoint tries again
    return S3Store("s3", files, base.rstrip("/"))
