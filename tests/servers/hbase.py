"""HBase for the run: a master with its region server and a Thrift server in a temporary folder, their jars fetched once by Ivy."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any
from xml.sax.saxutils import escape

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.hbase_client import HbaseLine
from scripts.fetch_jars import jars_fetch
from scripts.ports import free_ports
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

HERE = Path(__file__).resolve().parent
JARS = HERE.parent.parent / ".venv" / "hbase-jars"
_OPENED = ("lang", "lang.reflect", "io", "net", "nio", "util", "util.concurrent")


def hbase_jars_fetch() -> None:
    """The servers' own jars, 111 MB, are fetched once."""
    jars_fetch(JARS, ivy_file=HERE / "hbase_ivy.xml", lock=HERE / "hbase_jars.lock")


class HbaseServer:
    """A context: inside it HBase answers on loopback by Thrift. What it holds outlives a `kill` and a `start`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-hbase-"))
        self.port, self._keeper = free_ports(2)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "HbaseServer":
        hbase_jars_fetch()
        conf = self.folder / "conf"
        conf.mkdir()
        (conf / "hbase-site.xml").write_text(_site(self.folder, self._keeper))
        with or_ended(self.kill):
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def settings(self) -> ConnectionSettings:
        """A connection called "main"."""
        return self.settings_with()

    def settings_with(self, **config: Any) -> ConnectionSettings:
        return ConnectionSettings("main", "hbase", {"host": "127.0.0.1", "port": self.port, "timeout_seconds": 10, **config})

    def start(self) -> None:
        """Returns when tables can be made and written."""
        self._launch("master", "org.apache.hadoop.hbase.master.HMaster", 384, "start")
        self._launch_gateway("thrift", self.port)
        self._await_answer(self.settings)

    def kill(self) -> None:
        """Master, region server and Thrift server, as a crash would."""
        for name in list(self._processes):
            self._end(name)

    def kill_master(self) -> None:
        """The Thrift server stays, and takes connections."""
        self._end("master")

    @contextmanager
    def gateway(self, *options: str, **config: Any) -> Iterator[ConnectionSettings]:
        """One more Thrift server with these options, such as "-f"; what it takes to reach it, `config` among it."""
        (port,) = free_ports(1)
        self._launch_gateway("other", port, *options)
        try:
            self._await_answer(self.settings_with(port=port, **config))
            yield self.settings_with(port=port, **config)
        finally:
            self._end("other")

    def _launch_gateway(self, name: str, port: int, *options: str) -> None:
        told = ["-p", str(port), "-b", "127.0.0.1", "--infoport", "-1", *options, "start"]
        self._launch(name, "org.apache.hadoop.hbase.thrift.ThriftServer", 192, *told)

    def _launch(self, name: str, main: str, megabytes: int, *arguments: str) -> None:
        opens = [f"java.base/java.{package}" for package in _OPENED] + ["java.base/sun.nio.ch", "java.base/jdk.internal.ref"]
        memory = [f"-Xmx{megabytes}m", f"-XX:MaxDirectMemorySize={megabytes}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        places = [f"-Djava.io.tmpdir={self.folder}", f"-Dlog4j.configuration=file:{HERE / 'hbase_log4j.properties'}"]
        command = ["java", *memory, *places, *(f"--add-opens={package}=ALL-UNNAMED" for package in opens)]
        command += ["-cp", f"{self.folder / 'conf'}:{JARS}/*", main, *arguments]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def _end(self, name: str) -> None:
        process = self._processes.pop(name, None)
        if process is not None:
            process.kill()
            process.wait(timeout=20)

    def _await_answer(self, settings: ConnectionSettings) -> None:
        wait_until(lambda: self._answers(settings), seconds=120, what="HBase", every=0.5)

    def _answers(self, settings: ConnectionSettings) -> bool:
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise RuntimeError(f"the {name} of HBase ended: {(self.folder / f'{name}.log').read_text()[-2000:]}")
        try:
            with HbaseLine(settings, "asking", seconds=5) as line:
                return bool(line.call("isTableEnabled", b"hbase:namespace"))  # made last of all
        except NodeError:
            return False


def _site(folder: Path, keeper: int) -> str:
    """Everything on loopback, on ports that are free, in files of this folder that are synced before a write is answered."""
    given = {
        "hbase.rootdir": f"file://{folder}/hbase",
        "hbase.tmp.dir": f"{folder}/tmp",
        "hbase.zookeeper.property.dataDir": f"{folder}/zookeeper",
        "hbase.zookeeper.property.clientPort": keeper,
        "hbase.zookeeper.quorum": "127.0.0.1",
        "hbase.master.hostname": "127.0.0.1",
        "hbase.regionserver.hostname": "127.0.0.1",
        "hbase.master.ipc.address": "127.0.0.1",
        "hbase.regionserver.ipc.address": "127.0.0.1",
        "hbase.master.port": 0,
        "hbase.regionserver.port": 0,
        "hbase.master.info.port": -1,
        "hbase.regionserver.info.port": -1,
        "hbase.unsafe.stream.capability.enforce": "false",
        "hbase.wal.provider": "filesystem",
        "hbase.regionserver.handler.count": 8,
        "hbase.client.pause": 50,
    }
    lines = (f"<property><name>{name}</name><value>{escape(str(value))}</value></property>" for name, value in given.items())
    return "<configuration>\n" + "\n".join(lines) + "\n</configuration>\n"
