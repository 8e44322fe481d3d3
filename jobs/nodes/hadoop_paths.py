"""Local files and folders as Spark's readers and writers take them."""

import re
from pathlib import Path

_GLOB = re.compile(r"([{}\[\]*?\\])")


def hadoop_path(path: Path) -> str:
    """`path` with its scheme and otherwise as it is: Hadoop decodes nothing, an encoded space or + would name another folder."""
    return f"file://{path}"


def hadoop_path_read(path: Path) -> str:
    """The same for a reader, which would take some letters for a pattern."""
    return hadoop_path(Path(_GLOB.sub(r"\\\1", str(path))))
