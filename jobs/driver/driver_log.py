"""What a driver, its JVM and its workers write: a file that they append to for as long as the driver lives, and that is cut for them."""

import contextlib
import os
import shutil
import uuid
from pathlib import Path

from django.conf import settings

MOST_BYTES = 20 * 1024 * 1024
_LOGS_KEPT = 20
_LAST_BYTES, _LAST_LINES = 16 * 1024, 15


def driver_log(driver_id: uuid.UUID) -> Path:
    """To be opened for appending only: what is cut under a process that appends goes on at its new end."""
    folder = Path(settings.LOG_DIR) / "drivers"
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"driver-{driver_id}.log"


def log_cut(log: Path, *, most: int | None = None) -> None:
    """Begin one anew that has more than `most` bytes; the newest half of them stays beside it, where there is room.

    What is written in between is lost. OSError where it cannot be cut.
    """
    most = MOST_BYTES if most is None else most
    if not log.exists() or log.stat().st_size <= most:
        return
    try:
        _newest_kept(log, most // 2)
    except OSError:
        _older(log).unlink(missing_ok=True)
    os.truncate(log, 0)


def last_words(log: Path) -> str:
    """The end of what was written, for the worker's log."""
    return "\n".join([line for part in (_older(log), log) for line in _end(part)][-_LAST_LINES:])


def old_logs_remove(folder: Path) -> None:
    """All but those that were written last."""
    with contextlib.suppress(FileNotFoundError):  # another worker removes them as well
        logs = sorted(folder.glob("driver-*.log"), key=lambda path: path.stat().st_mtime)
        for old in logs[:-_LOGS_KEPT]:
            _older(old).unlink(missing_ok=True)
            old.unlink(missing_ok=True)


def _older(log: Path) -> Path:
    return log.with_name(f"{log.name}.1")


def _newest_kept(log: Path, size: int) -> None:
    with log.open("rb") as whole, _older(log).open("wb") as kept:
        whole.seek(-size, os.SEEK_END)
        whole.readline()
        shutil.copyfileobj(whole, kept)


def _end(log: Path) -> list[str]:
    if not log.exists():
        return []
    with log.open("rb") as whole:
        whole.seek(max(0, log.stat().st_size - _LAST_BYTES))
        return whole.read(_LAST_BYTES).decode(errors="replace").splitlines()
