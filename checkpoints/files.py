"""What is done to the files of a checkpoint, whichever store they are in."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from checkpoints.cut import CutDamaged
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint
from checkpoints.storage import bytes_exclusive, folder_delete, folder_own
from checkpoints.storages import folder_of, key_of, opened, storage_chosen, storage_named, storage_of
from checkpoints.stores.base import Placed
from checkpoints.stores.local import LOCAL
from checkpoints.verification import checkpoint_files, holds_state

logger = logging.getLogger(__name__)


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

    StorageFailed where its store does not answer.
    """
    if checkpoint.storage == LOCAL:
        folder = folder_of(checkpoint)
        return folder_own(folder), bytes_exclusive(folder)
    try:
        with opened(checkpoint) as folder:
            return [], storage_of(checkpoint).put(folder, key_of(checkpoint)).bytes
    except CutDamaged as damaged:
        return damaged.problems, 0
    except ManifestDamaged as damaged:
        return [str(damaged)], 0


def files_delete(checkpoint: Checkpoint) -> int:
    """The bytes given back."""
    if checkpoint.storage == LOCAL:
        return folder_delete(Path(settings.CHECKPOINT_ROOT), folder_of(checkpoint))
    return stored_delete(checkpoint.storage, key_of(checkpoint))


def stored_alone(storage: str, keys: Collection[str]) -> dict[str, int]:
    """Key → what deleting it would give back, as far as the store tells."""
    try:
        return storage_named(storage).alone(keys)
    except Exception as failed:  # somebody else's may raise anything, and figures can wait
        logger.warning('what checkpoints take in the store "%s" cannot be told now: %s', storage, failed)
        return {}


def stored_delete(storage: str, key: str) -> int:
    """The bytes given back. A store that does not answer is no reason to hold up a job: the clean-up finds what is left.

    A store of somebody else may raise anything.
    """
    try:
        return storage_named(storage).delete(key)
    except Exception as failed:
        logger.warning("checkpoint %s could not be deleted from its store: %s", key, failed)
        return 0
