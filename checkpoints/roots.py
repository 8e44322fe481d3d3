"""Whether the disk is mounted that checkpoints are kept on: a file marks its folder, and the database remembers that there is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings

from checkpoints.models import Checkpoint, CheckpointRoot, CheckpointStatus
from checkpoints.stores.local import LOCAL

MARKER = "checkpoint-root"


def root_is_there() -> bool:
    """Whether the marked folder is there. Of one that was never marked: whether anything lies there."""
    root = Path(settings.CHECKPOINT_ROOT)
    return (root / MARKER).is_file() or (root.is_dir() and any(root.iterdir()) and not _is_remembered())


def root_away() -> str:
    """Why nothing can be told of what lies on the local disk, "" if it can."""
    if root_is_there():
        return ""
    return _unmarked() if _is_remembered() else f"there is nothing in {settings.CHECKPOINT_ROOT}: is its disk mounted?"


def root_refusal() -> str:
    """Why nothing new is put there, "" where it may be: the mark is gone, or what was there before folders were marked."""
    root = Path(settings.CHECKPOINT_ROOT)
    if (root / MARKER).is_file():
        return ""
    return _unmarked() if _is_remembered() or (not root_is_there() and _was_filled(root)) else ""


def root_named() -> dict[str, Any]:
    """Another folder, or another host's disk, is another root."""
    return {"host": "" if settings.CHECKPOINT_ROOT_SHARED else settings.STORAGE_HOST, "path": str(settings.CHECKPOINT_ROOT)}


def _is_remembered() -> bool:
    return CheckpointRoot.objects.filter(**root_named()).exists()


def _was_filled(root: Path) -> bool:
    """Whether checkpoints were kept in a folder of this name before folders were marked."""
    kept = Checkpoint.objects.filter(storage=LOCAL, status=CheckpointStatus.COMPLETED, storage_path__startswith=f"{root.resolve()}/")
    return kept.filter(execution__storage_host__in=("", settings.STORAGE_HOST)).exists()


def _unmarked() -> str:
    root = settings.CHECKPOINT_ROOT
    return f'there is no file "{MARKER}" in {root}: is its disk mounted? Where it is a new one, make an empty file of that name there'
