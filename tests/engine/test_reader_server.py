"""Pythons that read streams are forked from one that has imported what they need, and begin without it where they must."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition

from jobs.engine import session
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forked on Linux only")

LAUNCHER = Path(session.__file__).with_name("python.sh")
RUNNER = "pyspark.sql.streaming.python_streaming_source_runner"


class Parents(DataSource):
    """Each batch is one row: the command of the process that its stream's reader was forked from."""

    @classmethod
    def name(cls) -> str:
        return "parents"

    def schema(self) -> str:
        return "command string"

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: N802
        return ParentsReader()


class ParentsReader(DataSourceStreamReader):
    def initialOffset(self) -> dict[str, str]:  # noqa: N802
        return {"command": ""}

    def latestOffset(self, start: Any = None, limit: Any = None) -> dict[str, str]:  # noqa: N802
        return {"command": Path(f"/proc/{os.getppid()}/cmdline").read_text().replace("\0", " ")}

    def partitions(self, start: dict[str, str], end: dict[str, str]) -> list[InputPartition]:
        return [InputPartition(end["command"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[str]]:
        yield (partition.value,)


@pytest.mark.spark
def test_readers_of_a_drivers_streams_are_forked_from_one_process(spark: SparkSession, tmp_path: Path) -> None:
    spark.dataSource.register(Parents)
    found: list[str] = []
    for number in range(2):
        query = (
            spark.readStream.format("parents")
            .name("parents")
            .load()
            .writeStream.foreachBatch(lambda frame, _: found.extend(row.command for row in frame.collect()))
            .option("checkpointLocation", str(tmp_path / str(number)))
            .start()
        )
        wait_until(lambda wanted=number: len(found) > wanted, seconds=60, what="a batch")  # type: ignore[misc]
        query.stop()
    assert [f"jobs.engine.reader_server {os.environ['PIPELINE_WEB_READERS']} {os.getpid()}" in command for command in found[:2]] == [
        True
    ] * 2


class Planners(DataSource):
    """One row: the command of the process in which it was planned what is read."""

    @classmethod
    def name(cls) -> str:
        return "planners"

    def schema(self) -> str:
        return "command string"

    def reader(self, schema: Any) -> DataSourceReader:
        return PlannersReader()


class PlannersReader(DataSourceReader):
    def partitions(self) -> list[InputPartition]:
        return [InputPartition(Path("/proc/self/cmdline").read_text().replace("\0", " "))]

    def read(self, partition: InputPartition) -> Iterator[tuple[str]]:
        yield (partition.value,)


@pytest.mark.spark
def test_what_is_read_is_planned_in_forks_of_the_same_process(spark: SparkSession) -> None:
    spark.dataSource.register(Planners)
    (row,) = spark.read.format("planners").load().collect()
    assert f"jobs.engine.reader_server {os.environ['PIPELINE_WEB_READERS']}" in row.command


@pytest.mark.slow
@pytest.mark.parametrize("ended", ["its pipe closes", "Spark destroys it"])
def test_a_daemon_of_planners_tells_its_port_and_ends_as_spark_ends_it(tmp_path: Path, ended: str) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    driver = subprocess.Popen(["sleep", "600"])
    given = {"PIPELINE_WEB_PYTHON": sys.executable, "PIPELINE_WEB_READERS": str(folder / "readers"), "PIPELINE_WEB_DRIVER": str(driver.pid)}
    command = [str(LAUNCHER), "-m", "pyspark.daemon", "pyspark.sql.worker.create_data_source"]
    try:
        with subprocess.Popen(command, env=os.environ | given, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as daemon:
            assert daemon.stdin is not None
            assert daemon.stdout is not None
            port = int.from_bytes(daemon.stdout.read(4), "big")
            with socket.create_connection(("127.0.0.1", port)) as line:
                assert Path(f"/proc/{int.from_bytes(line.recv(4), 'big')}").exists(), "a worker was forked, and tells its number"
            if ended == "Spark destroys it":
                daemon.terminate()  # of no use while PySpark's daemon forks a worker: what its handler raises there is lost
            daemon.stdin.close()
            assert daemon.wait(20) in ((0,) if ended == "its pipe closes" else (0, -signal.SIGTERM))
        wait_until(lambda: len(servers(folder)) == 1, seconds=20, what="the end of daemon and worker")
    finally:
        driver.kill()
        driver.wait()
    wait_until(lambda: not servers(folder), seconds=20, what="the end of the server")


def asked(folder: Path, driver: int) -> subprocess.Popen[str]:
    """A reader whose Spark does not exist: it ends at once, and says so."""
    given = {"PIPELINE_WEB_PYTHON": sys.executable, "PIPELINE_WEB_READERS": str(folder / "readers"), "PIPELINE_WEB_DRIVER": str(driver)}
    environment = os.environ | given | {"PYTHON_WORKER_FACTORY_PORT": "1", "PYTHON_WORKER_FACTORY_SECRET": "x"}
    environment.pop("PYTHON_WORKER_FACTORY_SOCK_PATH", None)
    command = [str(LAUNCHER), "-m", RUNNER]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _begun(error: str) -> str:
    """How the reader came about that ended with this, for want of its Spark."""
    assert "Warning" not in error, error
    assert "open socket" in error, error
    return "forked" if "_become" in error else "started"


def servers(folder: Path) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_text() if entry.name.isdecimal() else ""
        except OSError:
            continue
        if "jobs.engine.reader_server" in command and str(folder) in command:
            found.append(int(entry.name))
    return found


@pytest.mark.slow
def test_the_server_serves_many_at_once_and_ends_with_its_driver(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    driver = subprocess.Popen(["sleep", "600"])
    try:
        several = [asked(folder, driver.pid) for _ in range(3)]
        told = [one.communicate(timeout=60) for one in several]
        assert [_begun(error) for _, error in told] == ["forked"] * 3
        wait_until(lambda: len(servers(folder)) == 1, seconds=90, what="one server")
        assert _begun(asked(folder, driver.pid).communicate(timeout=60)[1]) == "forked"
    finally:
        driver.kill()
        driver.wait()
    wait_until(lambda: not servers(folder), seconds=20, what="the end of the server")
    assert not folder.exists()


@pytest.mark.slow
def test_a_reader_is_ended_by_who_started_it(tmp_path: Path) -> None:
    """As Spark does with one that hangs: here it waits for a port that takes a line and says nothing."""
    folder = tmp_path / "own"
    folder.mkdir()
    driver = subprocess.Popen(["sleep", "600"])
    try:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            given = {"PIPELINE_WEB_PYTHON": sys.executable, "PIPELINE_WEB_READERS": str(folder / "readers")}
            given |= {"PIPELINE_WEB_DRIVER": str(driver.pid), "PYTHON_WORKER_FACTORY_SECRET": "x"}
            environment = os.environ | given | {"PYTHON_WORKER_FACTORY_PORT": str(silent.getsockname()[1])}
            reader = subprocess.Popen([str(LAUNCHER), "-m", RUNNER], env=environment, stderr=subprocess.DEVNULL)
            line, _ = silent.accept()
            with line:
                reader.send_signal(signal.SIGTERM)
                assert reader.wait(20) == 0
                line.settimeout(20)
                while line.recv(1000):
                    pass
    finally:
        driver.kill()
        driver.wait()
    wait_until(lambda: not servers(folder), seconds=20, what="the end of the server")


@pytest.mark.slow
def test_where_nothing_can_be_forked_it_is_begun_as_spark_would(tmp_path: Path) -> None:
    """There is no such folder."""
    _, error = asked(tmp_path / "gone", os.getpid()).communicate(timeout=60)
    assert _begun(error) == "started"
    assert not servers(tmp_path)


def test_what_else_spark_starts_is_this_python() -> None:
    environment = os.environ | {"PIPELINE_WEB_PYTHON": sys.executable, "PIPELINE_WEB_READERS": ""}
    done = subprocess.run(
        [LAUNCHER, "-c", "import sys; print(sys.executable, sys.argv[1:])", "a b"], env=environment, capture_output=True, text=True
    )
    assert done.stdout == f"{sys.executable} ['a b']\n"


@pytest.mark.parametrize(
    ("master", "python"), [("local[2]", str(LAUNCHER)), ("spark://cluster:7077", sys.executable), ("yarn", sys.executable)]
)
def test_executors_of_a_cluster_start_the_python_itself(monkeypatch: pytest.MonkeyPatch, master: str, python: str) -> None:
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON", "PYTHONPATH", "SPARK_LOCAL_IP"):
        monkeypatch.setenv(name, os.environ.get(name, ""))
    session._environment_set(session.SessionOptions(master=master))
    assert os.environ["PYSPARK_PYTHON"] == python
