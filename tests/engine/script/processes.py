"""An exported script in a process of its own, which sees nothing of the product."""

import os
import subprocess
import sys
from pathlib import Path

import pyspark
from django.conf import settings

from jobs.engine.prepared import jars_in

#: A script's JVM lives for seconds; as it comes, it compiles for longer than it computes.
SHORT_LIVED_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


def script_run(text: str, folder: Path, **secrets: str) -> str:
    """Runs it to the end of what there is to read; what it printed."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / "script.py"
    place.write_text(text, encoding="utf-8")
    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    jars = ",".join(map(str, jars_in(settings.SPARK_JARS_DIR)))
    command = [str(submit), "--master", "local[2]", "--driver-memory", "1g", "--jars", jars, str(place), "--until-drained"]
    own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DJANGO_SETTINGS_MODULE")}
    environment = {**own, **SHORT_LIVED_JAVA, **secrets, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=200, check=False)
    said = [line for line in done.stderr.splitlines() if " INFO " not in line]
    assert done.returncode == 0, "\n".join(said)[-6000:]
    return done.stdout
