"""The log of a driver that lives long is cut while it appends, and its end is read without the rest."""

import os
import shutil
import subprocess
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from jobs.driver import driver_log as module
from jobs.driver.child import Child
from jobs.driver.driver_log import last_words, log_cut, old_logs_remove
from jobs.driver.supervisor import Supervisor
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.one_database

APPENDS = "import sys\nfor line in sys.stdin: print(line, end='', flush=True)"


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def test_the_newest_half_stays_and_the_process_goes_on_at_the_new_end(tmp_path: Path) -> None:
    log, older = tmp_path / "driver-1.log", tmp_path / "driver-1.log.1"
    with log.open("ab") as output:
        process = subprocess.Popen([sys.executable, "-c", APPENDS], stdin=subprocess.PIPE, stdout=output, text=True)
    assert process.stdin is not None

    def written(first: int, last: int) -> None:
        assert process.stdin is not None
        process.stdin.writelines(f"line {number:05}\n" for number in range(first, last))
        process.stdin.flush()
        wait_until(lambda: last_words(log).endswith(f"line {last - 1:05}"), seconds=20, what="all lines")

    try:
        written(0, 100)
        log_cut(log, most=1_100)
        assert len(lines(log)) == 100  # 1,100 bytes are not too many
        written(100, 101)
        log_cut(log, most=1_100)
        assert (log.stat().st_size, lines(older)) == (0, [f"line {number:05}" for number in range(52, 101)])
        assert last_words(log).splitlines() == lines(older)[-15:]
        written(101, 103)
        assert lines(log) == ["line 00101", "line 00102"]
        assert last_words(log).splitlines() == [f"line {number:05}" for number in range(88, 103)]
    finally:
        process.stdin.close()
        process.wait(20)


def test_where_there_is_no_room_for_the_half_the_log_is_cut_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfileobj", full)
    log = tmp_path / "driver-1.log"
    log.write_text("a line\n" * 100)
    log_cut(log, most=100)
    assert log.stat().st_size == 0
    assert [path.name for path in tmp_path.iterdir()] == [log.name]
    log.unlink()
    log_cut(log, most=100)
    assert last_words(log) == ""


def test_of_a_large_log_only_the_end_is_read(tmp_path: Path) -> None:
    log = tmp_path / "driver-1.log"
    with log.open("wb") as sparse:
        sparse.truncate(1 << 40)
    with log.open("ab") as output:
        output.write(b"\nthe end\n")
    assert last_words(log).endswith("\nthe end")


def test_the_older_half_goes_with_its_log(tmp_path: Path) -> None:
    for number in range(22):
        log = tmp_path / f"driver-{number}.log"
        for path in (log, tmp_path / f"{log.name}.1"):
            path.write_text("a line\n")
            os.utime(path, (number, number))
    old_logs_remove(tmp_path)
    assert {path.name.split(".")[0] for path in tmp_path.iterdir()} == {f"driver-{number}" for number in range(2, 22)}
    assert len(list(tmp_path.iterdir())) == 40


def test_the_log_of_a_quiet_driver_that_lives_stays(tmp_path: Path, settings: Any) -> None:
    settings.LOG_DIR = tmp_path
    watched, child = Supervisor(worker="w"), object.__new__(Child)
    child._log = module.driver_log(uuid.uuid4())
    watched._children.append(child)
    folder = child._log.parent
    ended = [folder / f"driver-{number}.log" for number in range(22)]
    for age, log in enumerate([*ended, child._log]):
        log.write_text("a line\n")
        os.utime(log, times=(time.time() - 4_000 - age,) * 2)
    watched._look_after_logs()
    old_logs_remove(folder)
    assert {*folder.iterdir()} == {*ended[:19], child._log}


def test_of_many_drivers_that_live_every_log_stays(tmp_path: Path) -> None:
    logs = {tmp_path / f"driver-{number}.log" for number in range(22)}
    for log in logs:
        log.touch()
    old_logs_remove(tmp_path)
    assert {*tmp_path.iterdir()} == logs


def test_a_worker_cuts_the_logs_of_its_drivers(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.LOG_DIR = tmp_path
    monkeypatch.setattr(module, "MOST_BYTES", 1_000)
    watched, child = Supervisor(worker="w"), object.__new__(Child)
    child._log = module.driver_log(uuid.uuid4())
    child._log.write_text("a line\n" * 200)
    watched._children.append(child)
    watched._look_after_logs()
    assert child._log.stat().st_size == 0
    assert child.last_words() == "\n".join(["a line"] * 15)
