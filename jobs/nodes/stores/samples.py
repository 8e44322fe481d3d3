"""Where the beginnings of files lie that were looked at."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

_KEPT_SECONDS = 86_400


def samples_folder(data_dir: Path) -> Path:
    """Below it lies `<place>/<sample>/`; the time of a sample is that of its last use."""
    return data_dir / "samples"


def sample_is_there(kept: Path) -> bool:
    """And marks it as used, that it stays."""
    try:
        os.utime(kept)
    except FileNotFoundError:
        return False
    return True


def sample_appear(draft: Path, kept: Path) -> None:
    """Another process may have been faster; samples of other days go."""
    try:
        draft.rename(kept)
    except OSError:
        shutil.rmtree(draft, ignore_errors=True)
    for old in kept.parent.iterdir():
        if old != kept and time.time() - old.stat().st_mtime > _KEPT_SECONDS:
            shutil.rmtree(old, ignore_errors=True)
