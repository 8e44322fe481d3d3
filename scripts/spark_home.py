"""Makes a home of Spark beside Spark's jars: links to what the package of PySpark holds, without its zip.

Spark puts that zip first on the path of its Python workers, of which each would then compile PySpark anew.
"""

import os
import tempfile
from pathlib import Path

import pyspark

from jobs.engine.prepared import spark_home_place

#: What Spark looks for in its home; `conf` may come later.
_NEEDED = ("bin", "jars", "conf")


def spark_home_make(folder: Path) -> None:
    """Make the home in `folder`, unless it is there and leads to this PySpark."""
    place, package = spark_home_place(folder), Path(pyspark.__file__).resolve().parent
    place.mkdir(parents=True, exist_ok=True)
    for name in _NEEDED:
        if not (place / name).is_symlink() or (place / name).readlink() != package / name:
            _link(place / name, package / name)


def _link(place: Path, target: Path) -> None:
    """In one step: a driver that starts meanwhile finds the old one or the new one."""
    with tempfile.TemporaryDirectory(dir=place.parent, prefix="linking-") as work:
        made = Path(work) / place.name
        os.symlink(target, made)
        made.replace(place)
