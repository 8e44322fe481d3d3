"""What stands ready beside Spark's extra jars, made once by `scripts.class_archive`. Without all but our classes Spark works as ever,
but slower.
"""

from __future__ import annotations

import zipfile
from pathlib import Path

import pyspark

#: What `java_classes_place` holds compiled.
JAVA_SOURCES = tuple(sorted(Path(__file__).parent.glob("*.java")))


def jars_in(folder: Path) -> tuple[Path, ...]:
    """The jars of `folder` in the order of their names; none if it does not exist."""
    return tuple(sorted(folder.glob("*.jar"))) if folder.is_dir() else ()


def class_archive_place(folder: Path) -> Path:
    """Where the archive of the classes that Spark loads stands beside Spark's extra jars in `folder`."""
    return folder / "classes.jsa"


def class_archive_in(folder: Path) -> Path | None:
    """It halves the time in which Spark starts; None where there is none."""
    place = class_archive_place(folder)
    return place if place.is_file() else None


def java_classes_place(folder: Path) -> Path:
    """Where the jar of our own classes for Spark stands, apart from the jars in `folder`: it is needed before those are loaded."""
    return folder / "class-path" / "pipeline-web.jar"


def java_classes_in(folder: Path) -> Path | None:
    """It counts rows, and spares a process for each file that a batch writes; None where there is none, or one of other sources."""
    place = java_classes_place(folder)
    return place if _members(place, list(made := java_classes_made_of())) == made else None


def java_classes_made_of() -> dict[str, bytes]:
    """What the jar of our classes is made of, and holds beside them, by name."""
    return {source.name: source.read_bytes() for source in JAVA_SOURCES} | {"pyspark": pyspark.__version__.encode()}


def _members(jar: Path, names: list[str]) -> dict[str, bytes]:
    """What a jar holds by these names; nothing where it is none, or lacks one."""
    try:
        with zipfile.ZipFile(jar) as archive:
            return {name: archive.read(name) for name in names}
    except (OSError, zipfile.BadZipFile, KeyError):
        return {}


def spark_home_place(folder: Path) -> Path:
    """Where a home of Spark stands that holds its programs and jars, but not the zipped PySpark of the package."""
    return folder / "home"


def spark_home_in(folder: Path) -> Path | None:
    """Python workers that find no zip take PySpark from the package, where it is compiled: each begins half a second earlier.

    None where there is none.
    """
    place = spark_home_place(folder)
    return place if (place / "jars").is_dir() else None
