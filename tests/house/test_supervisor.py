"""The terminal that `make run` shows: one stop for all, and nothing left behind."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from scripts.supervisor import process_parents
from tests.servers.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import asyncio, fcntl, json, os, sys
from pathlib import Path
from scripts import supervisor
from scripts.supervisor import Service, Supervisor
supervisor.REAP_SECONDS = 0.1
services = [Service(**{**service, "log": Path(service["log"]) if "log" in service else None}) for service in json.loads(sys.argv[1])]
handed_on = [open(path, "w") for path in sys.argv[2:]]
for lock in handed_on:
    fcntl.flock(lock, fcntl.LOCK_EX)
descriptors = [lock.fileno() for lock in handed_on]
sys.exit(asyncio.run(Supervisor(services, cwd=Path.cwd(), environment=dict(os.environ), handed_on=descriptors).run()))
"""
#: Says its name when it is asked to end.
POLITE = "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done"


def shell(name: str, script: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "command": ["sh", "-c", script], **more}


@contextmanager
def supervised(tmp_path: Path, *services: dict[str, Any], locks: tuple[Path, ...] = ()) -> Iterator[tuple["subprocess.Popen[bytes]", Path]]:
    log = tmp_path / "log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, json.dumps(services), *map(str, locks)], cwd=ROOT, stdout=out, stderr=out
        )
        try:
            yield process, log
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
            process.wait(timeout=30)


def says(log: Path, words: str) -> None:
    wait_until(lambda: words in log.read_text(), seconds=15, what=f"{words!r} in {log.read_text()!r}")


def pid_in(path: Path) -> int:
    wait_until(lambda: path.is_file() and path.read_text().strip().isdigit(), seconds=10, what=str(path))
    return int(path.read_text())


def is_free(lock: Path) -> bool:
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


def test_every_line_carries_the_name_of_its_service(tmp_path: Path) -> None:
    with supervised(tmp_path, shell("one", POLITE), shell("longer", POLITE)) as (_, log):
        says(log, "one    │ up")
        says(log, "longer │ up")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_services_are_asked_to_end_in_reverse_order(tmp_path: Path, number: signal.Signals) -> None:
    with supervised(tmp_path, shell("first", POLITE), shell("last", POLITE)) as (process, log):
        says(log, "first │ up")
        says(log, "last  │ up")
        process.send_signal(number)
        assert process.wait(timeout=20) == 0
    farewells = [line for line in log.read_text().splitlines() if line.endswith("bye")]
    assert ["last" in line for line in farewells] == [True, False]


def test_a_service_that_will_not_end_is_killed(tmp_path: Path) -> None:
    deaf = "trap '' TERM; echo up; while :; do sleep 0.05; done"
    with supervised(tmp_path, shell("deaf", deaf, stop_seconds=0.3)) as (process, log):
        says(log, "up")
        process.terminate()
        assert process.wait(timeout=20) == 0
    assert "deaf did not end within 0.3 s: killed" in log.read_text()


def test_a_grandchild_in_a_group_of_its_own_ends_too(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    script = f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 300' & echo up; wait"
    with supervised(tmp_path, shell("parent", script)) as (process, _):
        grandchild = pid_in(pid_file)
        assert grandchild in process_parents()
        process.terminate()
        assert process.wait(timeout=20) == 0
    assert grandchild not in process_parents()


@pytest.mark.skipif(sys.platform != "linux", reason="no signal at the death of a parent")
def test_services_do_not_outlive_one_that_is_killed(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    deaf = f"trap '' TERM HUP; echo $$ > {pid_file}; while :; do sleep 0.05; done"
    with supervised(tmp_path, shell("deaf", deaf)) as (process, _):
        service = pid_in(pid_file)
        process.kill()
        wait_until(lambda: service not in process_parents(), seconds=10, what="the end of the service")


def test_a_lock_that_is_handed_on_is_held_while_anything_a_service_left_behind_lives(tmp_path: Path) -> None:
    pid_file, path = tmp_path / "pid", tmp_path / "lock"
    with supervised(tmp_path, shell("web", f"setsid sh -c 'echo $$ > {pid_file}; exec sleep 300' & wait"), locks=(path,)) as (process, _):
        left_behind = pid_in(pid_file)
        process.kill()
        process.wait(timeout=10)
        assert not is_free(path)
        os.kill(left_behind, signal.SIGKILL)
        wait_until(lambda: is_free(path), seconds=10, what="a lock that nobody holds")


@pytest.mark.slow
def test_a_service_that_dies_is_started_again(tmp_path: Path) -> None:
    pid_file = tmp_path / "pid"
    with supervised(tmp_path, shell("web", f"echo $$ > {pid_file}; {POLITE}")) as (_, log):
        first = pid_in(pid_file)
        os.kill(first, signal.SIGKILL)
        says(log, "ended with exit code -9: starting it again")
        wait_until(lambda: pid_in(pid_file) != first, seconds=10, what="another process")


@pytest.mark.slow
def test_one_that_dies_again_and_again_stops_everything_with_an_error(tmp_path: Path) -> None:
    with supervised(tmp_path, shell("good", POLITE), shell("bad", "echo no database >&2; exit 3")) as (process, log):
        assert process.wait(timeout=40) == 1
    assert "no database" in log.read_text()
    assert "good │ bye" in log.read_text()


@pytest.mark.slow
def test_one_that_the_others_can_do_without_is_left_when_it_dies_again_and_again(tmp_path: Path) -> None:
    extra = shell("feeder", "echo no flights >&2; exit 3", may_finish=True)
    with supervised(tmp_path, shell("good", POLITE), extra) as (process, log):
        wait_until(lambda: "the rest goes on without it" in log.read_text(), seconds=40, what="patience at its end")
        assert process.poll() is None
        process.terminate()
        assert process.wait(timeout=20) == 0
    assert "no flights" in log.read_text()
    assert "good   │ bye" in log.read_text()


@pytest.mark.slow
def test_the_reason_is_shown_of_one_that_writes_it_elsewhere(tmp_path: Path) -> None:
    own = tmp_path / "own.log"
    with supervised(tmp_path, shell("bad", f"echo port taken >> {own}; exit 3", log=str(own))) as (process, log):
        assert process.wait(timeout=40) == 1
    assert log.read_text().index("bad │ port taken") < log.read_text().index("the reason stands above")


def test_one_whose_work_is_done_is_left_alone(tmp_path: Path) -> None:
    with supervised(tmp_path, shell("once", "echo done", may_finish=True), shell("good", POLITE)) as (process, log):
        says(log, "once │ done")
        says(log, "good │ up")
        process.terminate()
        assert process.wait(timeout=20) == 0
    assert log.read_text().count("once │ done") == 1


def test_a_line_too_long_for_the_terminal_does_not_stop_the_log(tmp_path: Path) -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' 'x'; echo; echo after; " + POLITE
    with supervised(tmp_path, shell("loud", script)) as (_, log):
        says(log, "loud │ after")


@pytest.mark.skipif(sys.platform != "linux", reason="orphans go to the first process of the system")
def test_an_orphan_that_ended_does_not_stay_in_the_process_table(tmp_path: Path) -> None:
    orphan = tmp_path / "orphan"
    with supervised(tmp_path, shell("one", f"(sleep 0.3 & echo $! > {orphan}); {POLITE}")) as (process, log):
        says(log, "up")
        pid = pid_in(orphan)
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), seconds=15, what=f"the end of {pid}")
        assert process.poll() is None
