"""Compiles our classes for Spark (`jobs/engine/*.java`) into a jar beside Spark's jars, once, by the compiler of the JDK."""

import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pyspark

from jobs.engine.prepared import JAVA_SOURCES, java_classes_place
from scripts.fetch_jars import JarsUnavailable

_SECONDS = 120
#: As a module, so that it is of the same Java that runs Spark.
_COMPILER = ["java", "-XX:TieredStopAtLevel=1", "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17", "-proc:none"]


def java_classes_make(folder: Path) -> None:
    """Make the jar of `folder`, which holds Spark's jars, unless it is there and up to date. Raises JarsUnavailable."""
    place = java_classes_place(folder)
    made_from = {source.name: source.read_bytes() for source in JAVA_SOURCES} | {"pyspark": pyspark.__version__.encode()}
    if place.is_file() and _made_from(place, list(made_from)) == made_from:
        return
    jars = os.pathsep.join(str(jar) for jar in (Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    with tempfile.TemporaryDirectory(dir=folder, prefix="compiling-") as work:
        classes, part = Path(work) / "classes", Path(work) / place.name
        command = [*_COMPILER, "-cp", jars, "-d", str(classes), *map(str, JAVA_SOURCES)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode:
            raise JarsUnavailable(f"our classes for Spark cannot be compiled; is this Java a JDK?\n{done.stderr[-500:]}")
        with zipfile.ZipFile(part, "w") as jar:
            for compiled in sorted(classes.rglob("*.class")):
                jar.write(compiled, compiled.relative_to(classes))
            for name, source in made_from.items():
                jar.writestr(name, source)
        place.parent.mkdir(exist_ok=True)
        part.replace(place)


def _made_from(jar: Path, names: list[str]) -> dict[str, bytes]:
    """What it was made from; nothing where it is no jar, or of other sources."""
    try:
        with zipfile.ZipFile(jar) as archive:
            return {name: archive.read(name) for name in names}
    except (zipfile.BadZipFile, KeyError):
        return {}
