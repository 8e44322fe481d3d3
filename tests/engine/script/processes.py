"""Exported scripts in a process that `spark-submit` began, which sees nothing of the product."""

import os
import subprocess
import sys
from multiprocessing.connection import Client
from pathlib import Path
from types import TracebackType
from typing import Self

import pyspark
from django.conf import settings

from jobs.engine.prepared import jars_in
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

SPARK_SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
#: A script's JVM lives for seconds; as it comes, it compiles for longer than it computes.
SHORT_LIVED_JAVA = {"JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}


class Scripts:
    """A process that runs scripts one after the other; entered, it is there."""

    def __init__(self, folder: Path) -> None:
        self._place = folder / "line"
        self._said = folder / "said"

    def __enter__(self) -> Self:
        jars = ",".join(map(str, jars_in(settings.SPARK_JARS_DIR)))
        program = Path(__file__).with_name("submitted.py")
        command = [str(SPARK_SUBMIT), "--master", "local[2]", "--driver-memory", "1g", "--jars", jars, str(program), str(self._place)]
        own = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DJANGO_SETTINGS_MODULE")}
        environment = {**own, **SHORT_LIVED_JAVA, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
        with self._said.open("w") as said:
            self._process = subprocess.Popen(command, env=environment, stdout=said, stderr=said)
        with or_ended(self._process.kill):
            wait_until(self._answers, seconds=60, what="spark-submit")
        return self

    def _answers(self) -> bool:
        assert self._process.poll() is None, self._said.read_text(encoding="utf-8")[-3000:]
        try:
            self._line = Client(str(self._place), "AF_UNIX")
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._line.close()
        self._process.wait(timeout=60)

    def run(self, text: str, folder: Path, **secrets: str) -> None:
        """To the end of what there is to read."""
        folder.mkdir(parents=True, exist_ok=True)
        place = folder / "script.py"
        place.write_text(text, encoding="utf-8")
        self._line.send((str(folder), str(place), {**secrets, "CHECKPOINTS": str(folder / "checkpoints")}))
        failure = self._line.recv()
        warnings = [line for line in self._said.read_text(encoding="utf-8").splitlines() if " INFO " not in line]
        assert not failure, "\n".join([failure, *warnings])[-6000:]
