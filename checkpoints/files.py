"""What is done to the files of a checkpoint, whichever store they are in."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from django.conf import settings

from checkpoints.cut import CutDamaged
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint
from checkpoints.storage import OutsideRoot, bytes_exclusive, folder_delete, folder_own
from checkpoints.storages import folder_of, key_of, opened, storage_chosen, storage_named, storage_of
from checkpoints.stores.base import CheckpointStorage, Placed, StorageAway
from checkpoints.stores.local import LOCAL
from checkpoints.verification import checkpoint_files, holds_state

logger = logging.getLogger(__name__)

Result = TypeVar("Result")


@dataclass(frozen=True)
class Brought:
    """The files of a checkpoint that comes from elsewhere: in `folder`, and `placed` in `storage` unless that is the local disk."""

    folder: Path
    storage: str
    placed: Placed | None


def files_bring(folder: Path, key: str) -> Brought:
    """What stands in `folder` goes to the installation's store, if that takes it. StorageFailed where it does not answer."""
    storage = storage_chosen(settings.CHECKPOINT_STORAGE, stateful=holds_state(checkpoint_files(folder))).storage
    return Brought(folder, storage.name, None if storage.is_local else storage.put(folder, key))


def files_own(checkpoint: Checkpoint) -> tuple[list[str], int]:
    """Nothing of it is shared with others any more; what is damaged, a sentence a file, and the bytes it takes.

    StorageFailed where its store does not answer, or its files are on another host.
    """
    try:
        with opened(checkpoint) as folder:
            if checkpoint.storage == LOCAL:
                return folder_own(folder), bytes_exclusive(folder)
            return [], storage_of(checkpoint).put(folder, key_of(checkpoint)).bytes
    except CutDamaged as damaged:
        return damaged.problems, 0
    except ManifestDamaged as damaged:
        return [str(damaged)], 0


class Stores:
    """The stores as one run of deletions asks them: one that did not answer is not asked again, for each question takes its time-outs.

    Nothing here raises. A store that does not answer, or a disk, is no reason to hold up a job, and the clean-up finds what is left;
    somebody else's may raise anything.
    """

    def __init__(self) -> None:
        self._away: set[str] = set()

    def files_delete(self, checkpoint: Checkpoint) -> int:
        """The bytes given back."""
        if checkpoint.storage == LOCAL:
            return self.folder_delete(folder_of(checkpoint))
        return self.delete(checkpoint.storage, key_of(checkpoint))

    def folder_delete(self, path: Path) -> int:
        """Of one on the local disk; the bytes given back."""
        try:
            return folder_delete(Path(settings.CHECKPOINT_ROOT), path)
        except (OSError, OutsideRoot) as failed:
            logger.warning("%s could not be deleted: %s", path, failed)
            return 0

    def delete(self, storage: str, key: str) -> int:
        """The bytes given back."""
        return self._asked(storage, lambda store: store.delete(key), 0, f"checkpoint {key} could not be deleted from its store")

    def alone(self, storage: str, keys: Collection[str]) -> dict[str, int]:
        """Key → what deleting it would give back, as far as the store tells."""
        return self._asked(
            storage, lambda store: store.alone(keys), {}, f'what checkpoints take in the store "{storage}" cannot be told now'
        )

    def _asked(self, name: str, question: Callable[[CheckpointStorage], Result], otherwise: Result, words: str) -> Result:
        if name in self._away:
            return otherwise
        try:
            return question(storage_named(name))
        except StorageAway as away:
            self._away.add(name)
            logger.warning("%s, and no more is asked of it in this run: %s", words, away)
        except Exception as failed:
            logger.warning("%s: %s", words, failed)
        return otherwise
