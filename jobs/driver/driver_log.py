"""What a driver, its JVM and its workers write: a file that they append to for as long as the driver lives, and that is cut for them."""

import contextlib
import os
import shutil
import time
import uuid
from pathlib import Path

from django.conf import settings

MOST_BYTES = 20 * 1024 * 1024
_LOGS_KEPT = 20
#: A log that was touched since belongs to a driver that lives, perhaps one of another worker.
_LIVING_SECONDS = 300.0
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


def log_touch(log: Path) -> None:
    """It counts as new, also where its driver has written nothing for long."""
    with contextlib.suppress(FileNotFoundError):
        os.utime(log)


def last_words(log: Path) -> str:
    """The end of what was written, for the worker's log."""
    return "\n".join([line for part in (_older(log), log) for line in _end(part)][-_LAST_LINES:])


def old_logs_remove(folder: Path) -> None:
    """All but the newest, and but those of drivers that live: what one writes into a file that is gone nobody sees."""
    with contextlib.suppress(FileNotFoundError):  # another worker removes them as well
        touched = {log: log.stat().st_mtime for log in folder.glob("driver-*.log")}
        dead = [log for log in touched if touched[log] < time.time() - _LIVING_SECONDS]
        spare = max(0, len(touched) - _LOGS_KEPT)
        for old in sorted(dead, key=touched.__getitem__)[:spare]:
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
