"""A database that none of our clients speaks to: H2 for the run, which is its JDBC driver too, fetched once by PySpark's Ivy."""

import json
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from jobs.nodes.connections.reach import is_silent
from scripts.fetch_jars import expected_jars, jars_fetch
from scripts.ports import free_port
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

HERE = Path(__file__).resolve().parent
JARS = HERE.parent.parent / ".venv" / "h2-jars"
LOCK = HERE / "h2_jars.lock"
USER = "pipeline"


def h2_jars_fetch() -> None:
    """The server is its own driver, 2.6 MB, and is fetched once."""
    jars_fetch(JARS, ivy_file=HERE / "h2_ivy.xml", lock=LOCK)


class H2Server:
    """A context: inside it USER signs in with `password` at `port`. It keeps what it holds over a `kill` and a `start`.

    `drivers` is a list of JDBC drivers with that of H2 alone, called "h2".
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-h2-"))
        self.port = free_port()
        self.password = secrets.token_hex(12)
        self.drivers = self.folder / "drivers.json"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "H2Server":
        h2_jars_fetch()
        driver = {"title": "H2", "jars": [str(self._jar)], "class": "org.h2.Driver", "url": "jdbc:h2:tcp://{host}:{port}/./{database}"}
        self.drivers.write_text(json.dumps({"h2": {**driver, "port": 9092}}))
        with or_ended(self.kill):
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def config(self) -> dict[str, Any]:
        """Of a connection, but for its database."""
        return {"driver": "h2", "host": "127.0.0.1", "port": self.port, "user": USER}

    def start(self) -> None:
        """Returns when it takes connections."""
        command = [*self._java, "org.h2.tools.Server", "-tcp", "-tcpPort", str(self.port), "-baseDir", str(self.folder), "-ifNotExists"]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(lambda: not is_silent("127.0.0.1", self.port), seconds=60, what=f"H2 on port {self.port}")

    def kill(self) -> None:
        """As a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=20)

    def run(self, database: str, sql: str) -> None:
        """Statements with ; behind each. A database is made by the first, and USER's password with it."""
        given = ["-user", USER, "-password", self.password]
        address = f"jdbc:h2:tcp://127.0.0.1:{self.port}/./{database}"
        done = subprocess.run(
            [*self._java, "org.h2.tools.RunScript", "-url", address, *given, "-script", "/dev/stdin"],
            input=sql.encode(),
            check=False,
            capture_output=True,
        )
        assert done.returncode == 0, done.stderr.decode()[:2000]

    @property
    def _java(self) -> list[str]:
        return ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", str(self._jar)]

    @property
    def _jar(self) -> Path:
        (name,) = expected_jars(LOCK)
        return JARS / name
