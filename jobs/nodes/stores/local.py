"""This installation's own disk as a store, for where its files are copied before they are read, or put away afterwards."""

from __future__ import annotations

import os
from pathlib import Path

from fsspec.implementations.local import LocalFileSystem

from jobs.nodes.base import Limits, NodeError
from jobs.nodes.stores.store import Store, Stored


class LocalStore(Store):
    """Below `folder`, which is allowed; a link in it that leads outside the allowed folders is as good as not there."""

    def __init__(self, folder: Path, limits: Limits) -> None:
        super().__init__("this installation", LocalFileSystem(auto_mkdir=True), str(folder))
        self._roots = [Path(os.path.realpath(root)) for root in limits.file_roots]

    def meaning(self, error: Exception) -> NodeError | None:
        if isinstance(error, PermissionError):
            return NodeError("the product may not do this; grant it the right", permanent=True, kind="user")
        return None

    def is_taken(self, error: Exception) -> bool:
        return isinstance(error, FileExistsError)

    def modified(self, entry: dict[str, object]) -> float:
        return float(str(entry["mtime"]))

    def find(self, folder: str) -> list[Stored]:
        return [one for one in super().find(folder) if self._is_inside(one.name)]

    def _is_inside(self, name: str) -> bool:
        target = Path(os.path.realpath(self._path(name)))
        return any(target.is_relative_to(root) for root in self._roots)
