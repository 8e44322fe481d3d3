"""The folder of the socket at which a driver's readers are asked for: a path short enough for a socket's address, and nobody else's."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path


def readers_folder_make() -> str:
    """A new one, of this process."""
    return tempfile.mkdtemp(prefix=_beginning(os.getpid()))


def readers_folders_remove(pid: int) -> None:
    """What the process `pid` left behind, which was killed before it could do so itself."""
    if sys.platform != "linux":  # nowhere else is there one
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_beginning(pid)}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _beginning(pid: int) -> str:
    """Containers that share the folder for temporary files count their processes each for themselves."""
    return f"pipeline-web-readers-{os.stat('/proc/self/ns/pid').st_ino:x}-{pid}-"
