"""Where file nodes may read and write: below configured folders only, judged after every symbolic link is followed."""

from __future__ import annotations

import os
from pathlib import Path

from jobs.nodes.base import Limits, NodeError

#: Hadoop would expand these, and so reach beside the folder that was checked.
_GLOB_CHARACTERS = frozenset("*?[]{}\\")


def allowed_path(path: str, limits: Limits) -> Path:
    """`path` made absolute (relative ones start at the first root), free of links, below a root; else NodeError.

    The path need not exist yet: the nearest existing folder is what links are followed from.
    """
    if not limits.file_roots:
        raise _refused(path, "this installation allows no folders: set FILE_ROOTS")
    if "\x00" in path or "://" in path or path.lower().startswith("file:"):
        raise _refused(path, "give a plain path without a scheme")
    if _GLOB_CHARACTERS & set(path):
        raise _refused(path, "wildcards belong into the file name pattern")
    resolved = Path(os.path.realpath(limits.file_roots[0] / path))
    if not any(_is_below(resolved, root) for root in limits.file_roots):
        raise _refused(
            path,
            f"it leads outside the allowed folders ({', '.join(str(root) for root in limits.file_roots)}); name a path below one of them",
        )
    return resolved


def links_leaving_roots(folder: Path, limits: Limits) -> list[Path]:
    """Symbolic links below `folder` whose target stands outside every root."""
    leaving = []
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            entry = Path(parent, name)
            if entry.is_symlink() and not any(_is_below(Path(os.path.realpath(entry)), root) for root in limits.file_roots):
                leaving.append(entry)
    return leaving


def _is_below(path: Path, root: Path) -> bool:
    return path.is_relative_to(os.path.realpath(root))


def _refused(path: str, why: str) -> NodeError:
    return NodeError(f'path "{path}" is not allowed: {why}', permanent=True, kind="user", field="path")
