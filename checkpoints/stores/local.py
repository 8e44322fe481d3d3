"""The local disk, or one that all hosts share: checkpoints stand beside the live folders, so that files can be linked."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from checkpoints.copying import checkpoint_copy_files
from checkpoints.cut import folder_remove, partial_of, rename_into_place
from checkpoints.storage import bytes_exclusive, bytes_logical, folder_delete, folders_found
from checkpoints.stores.base import CheckpointStorage, Placed, Stored, Wanted, everything
from checkpoints.threads import Pulse, no_pulse

LOCAL = "local"


class LocalStorage(CheckpointStorage):
    """Below `root`. What was cut in its place stays there as it is."""

    is_local = True

    def __init__(self, root: Path) -> None:
        super().__init__(LOCAL)
        self._root = root

    def put(self, folder: Path, key: str, *, base: str = "", pulse: Pulse = no_pulse) -> Placed:
        target = self._root / key
        if folder.resolve() != target.resolve():
            partial = partial_of(target)
            folder_remove(partial)
            partial.mkdir(parents=True)
            checkpoint_copy_files(folder, partial)
            rename_into_place(partial, target)
        return Placed(str(target), bytes_exclusive(target))

    def list_stored(self) -> Iterator[Stored]:
        for found in folders_found(self._root):
            if found.kind == "checkpoint":
                changed = datetime.fromtimestamp(found.path.stat().st_mtime, UTC)
                yield Stored(str(found.path.relative_to(self._root)), str(found.path), bytes_exclusive(found.path), changed)

    @contextmanager
    def open(self, key: str, scratch: Path, *, wanted: Wanted = everything, pulse: Pulse = no_pulse) -> Iterator[Path]:
        yield self._root / key

    def delete(self, key: str) -> int:
        return folder_delete(self._root, self._root / key)

    def size(self, key: str) -> int:
        return bytes_logical(self._root / key)

    def place(self, key: str) -> str:
        return str(self._root / key)
