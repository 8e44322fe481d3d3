"""This installation's own disk as a store, for where its files are copied before they are read, or put away afterwards."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from fsspec.implementations.local import LocalFileSystem

from jobs.nodes.base import Limits, NodeError
from jobs.nodes.stores.store import Store, Stored, everywhere


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

    def find(self, folder: str, enters: Callable[[str], bool] = everywhere) -> list[Stored]:
        return [one for one in super().find(folder) if self._is_inside(one.name)]

    def move(self, name: str, target: str) -> None:
        """Renamed; onto another disk it is copied beside first, so that whatever has the name `target` is whole."""
        source, end = Path(self._path(name)), Path(self._path(target))
        self._was_there(f'writing "{target}"', lambda: _moved(source, end))

    def _is_inside(self, name: str) -> bool:
        target = Path(os.path.realpath(self._path(name)))
        return any(target.is_relative_to(root) for root in self._roots)


def _moved(source: Path, end: Path) -> None:
    end.parent.mkdir(parents=True, exist_ok=True)
    if not source.is_symlink():  # what a link leads to is wanted, not the link
        try:
            os.rename(source, end)
            return
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
    beside = end.with_name(f".{sha256(os.fsencode(source)).hexdigest()[:16]}.part")
    shutil.copyfile(source, beside)
    with suppress(OSError):  # not every disk keeps times and rights
        shutil.copystat(source, beside)
    with beside.open("rb") as copied:
        os.fsync(copied.fileno())
    os.replace(beside, end)
    source.unlink()
