"""The files of a folder that others change meanwhile."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePath


def files_below(folder: Path) -> Iterator[Path]:
    """Every file in `folder` and in its folders, in no order; links to folders are not followed.

    What vanishes or may not be read while it is looked for is left out, as is a folder that is not there.
    """
    for place, _, names in os.walk(folder):
        yield from (Path(place, name) for name in names)


def is_hidden(path: PurePath) -> bool:
    """Whether Spark skips a file for a name on its way from the folder: one that begins with a dot, or with an underscore unless it is a
    partition's, such as _day=1."""
    return any(part.startswith(".") or (part.startswith("_") and "=" not in part) for part in path.parts)


def stats_below(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """The same with what the disk knows of each."""
    for file in files_below(folder):
        with suppress(FileNotFoundError):
            yield file, file.stat()


def size_of(file: Path) -> int:
    """Bytes; 0 of what is gone by now."""
    try:
        return file.stat().st_size
    except FileNotFoundError:
        return 0
