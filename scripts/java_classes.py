"""Compiles our classes for Spark (`jobs/engine/*.java`) into a jar beside Spark's jars, once, by the compiler of the JDK."""

import os
import subprocess
import tempfile
import zipfile
from pathlib import Path

import pyspark

from jobs.engine.prepared import JAVA_SOURCES, java_classes_in, java_classes_made_of, java_classes_place
from scripts.fetch_jars import JarsUnavailable

_SECONDS = 120
#: As a module, so that it is of the same Java that runs Spark.
_COMPILER = ["java", "-XX:TieredStopAtLevel=1", "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17", "-proc:none"]


def java_classes_make(folder: Path) -> None:
    """Make the jar of `folder`, which holds Spark's jars, unless it is there and up to date. Raises JarsUnavailable."""
    if java_classes_in(folder):
        return
    place = java_classes_place(folder)
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
            for name, source in java_classes_made_of().items():
                jar.writestr(name, source)
        place.parent.mkdir(exist_ok=True)
        part.replace(place)
