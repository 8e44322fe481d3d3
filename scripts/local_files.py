"""Compiles Spark's own local file system (`jobs/engine/LocalFiles.java`) into a jar beside Spark's jars: a batch then costs a third less.

Made once by the compiler of the JDK. Without it, as where there is only a JRE, Spark works as ever.
"""

import subprocess
import tempfile
import zipfile
from pathlib import Path

import pyspark

from jobs.engine.prepared import LOCAL_FILES_SOURCE, local_files_in, local_files_place

_SECONDS = 120
#: As a module, so that it is of the same Java that runs Spark.
_COMPILER = ["java", "-XX:TieredStopAtLevel=1", "-m", "jdk.compiler/com.sun.tools.javac.Main", "--release", "17", "-proc:none"]


def local_files_make(folder: Path) -> bool:
    """Make the jar of `folder`, which holds Spark's jars, unless it is there and up to date. Whether it is there then."""
    place, source = local_files_place(folder), LOCAL_FILES_SOURCE.read_bytes()
    if local_files_in(folder) and _source_of(place) == source:
        return True
    (hadoop,) = Path(pyspark.__file__).parent.glob("jars/hadoop-client-api-*.jar")
    with tempfile.TemporaryDirectory(dir=folder, prefix="compiling-") as work:
        classes, part = Path(work) / "classes", Path(work) / place.name
        command = [*_COMPILER, "-cp", str(hadoop), "-d", str(classes), str(LOCAL_FILES_SOURCE)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
        if done.returncode:
            print(f"Spark will ask programs about its local files, a batch then costs more; is this Java a JDK?\n{done.stderr[-500:]}")
            return local_files_in(folder) is not None
        with zipfile.ZipFile(part, "w") as jar:
            for compiled in sorted(classes.rglob("*.class")):
                jar.write(compiled, compiled.relative_to(classes))
            jar.writestr(LOCAL_FILES_SOURCE.name, source)
        place.parent.mkdir(exist_ok=True)
        part.replace(place)
    return True


def _source_of(jar: Path) -> bytes:
    """What it was made from; nothing where it is no jar."""
    try:
        with zipfile.ZipFile(jar) as archive:
            return archive.read(LOCAL_FILES_SOURCE.name)
    except (zipfile.BadZipFile, KeyError):
        return b""
