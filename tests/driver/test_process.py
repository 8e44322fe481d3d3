"""A driver process in itself: what it holds, and how it lets go."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from jobs.driver.attempt import FORCED_SECONDS, Attempt
from jobs.driver.exits import HANGING
from jobs.driver.logs import attempt_logger, attempt_logger_close
from jobs.driver.process import DriverProcess
from jobs.models import Execution
from tests.checkpoints.kept import execution_row
from tests.services.job_rows import driver_row, job_row

pytestmark = pytest.mark.django_db


class Held:
    """An attempt that ends, by force only, when it is told to."""

    def __init__(self, process: DriverProcess, execution_id: str) -> None:
        self.execution_id = execution_id
        self._process = process
        self.told: list[str] = []

    def start(self) -> None:
        self.told.append("started")

    def hand_over(self, reason: str) -> None:
        self.told.append(reason)

    def force(self) -> None:
        self.told.append("forced")
        self._process.attempt_ended(self)  # type: ignore[arg-type]


@pytest.fixture
def process() -> Iterator[DriverProcess]:
    made = DriverProcess(driver_row())
    yield made
    made.writer.close()


def begun(process: DriverProcess, execution_id: str = "e") -> Any:
    held: Any = Held(process, execution_id)
    process._begin(held)
    return held


def test_the_end_of_an_attempt_leaves_the_next_one_of_its_execution_alone(process: DriverProcess) -> None:
    first = begun(process)
    second = begun(process)
    process.attempt_ended(first)
    assert process._held() == {"e": second}
    process.attempt_ended(second)
    assert process._held() == {}


def test_an_attempt_that_cannot_begin_is_not_held(process: DriverProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: Held) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(Held, "start", refused)
    with pytest.raises(RuntimeError):
        begun(process)
    assert process._held() == {}


@pytest.mark.django_db(transaction=True)
def test_what_does_not_end_in_time_is_forced_before_the_process_gives_itself_up(process: DriverProcess, settings: Any) -> None:
    settings.STOP_GRACE_SECONDS = 2
    process.exit_code = HANGING
    held = begun(process)
    process._reason = "cannot be interrupted"
    process.close()
    assert held.told == ["started", "cannot be interrupted", "forced"]
    assert process._held() == {}


def test_a_stop_ends_what_hangs_before_anything_runs(process: DriverProcess, tmp_path: Path, settings: Any) -> None:
    """As a disk that does not answer while a checkpoint is put in place."""
    settings.LOG_DIR = tmp_path
    attempt = Attempt(execution_row(job_row()), process)
    process.spark_died = lambda: False  # type: ignore[method-assign]
    attempt.press()
    attempt.stop()
    attempt.press()
    assert (attempt._forced, process.is_stopping()) == (None, False)
    attempt._stop_asked -= settings.STOP_GRACE_SECONDS + 1
    attempt.press()
    assert attempt._forced is not None
    attempt._forced -= FORCED_SECONDS + 1
    attempt.press()
    assert (process.exit_code, process.is_stopping()) == (HANGING, True)
    attempt_logger_close(attempt._log)


def test_who_hands_over_waits_for_a_checkpoint_less_long_than_its_driver_has_left(
    process: DriverProcess, tmp_path: Path, settings: Any
) -> None:
    settings.LOG_DIR = tmp_path
    attempt = Attempt(execution_row(job_row()), process)
    stopped = attempt._checkpoint_patience()
    attempt.hand_over("the driver ends")
    assert attempt._checkpoint_patience() < settings.STOP_GRACE_SECONDS / 2 < stopped
    attempt_logger_close(attempt._log)


def interrupted(fails: int, act: Callable[[], Any]) -> Callable[[], Any]:
    """`act`, at whose first calls the line to the database breaks."""
    left = [OperationalError("server closed the connection unexpectedly")] * fails

    def tried() -> Any:
        if left:
            raise left.pop()
        return act()

    return tried


def test_a_database_that_is_away_for_a_moment_costs_no_attempt(process: DriverProcess, tmp_path: Path, settings: Any) -> None:
    settings.LOG_DIR = tmp_path
    attempt = Attempt(execution_row(job_row()), process)
    assert attempt._prepared(interrupted(1, lambda: "there")) == "there"
    attempt.claimed_at -= settings.LEASE_SECONDS
    with pytest.raises(OperationalError):
        attempt._prepared(interrupted(2, lambda: "there"))
    attempt_logger_close(attempt._log)


@pytest.mark.django_db(transaction=True)
def test_a_change_whose_answer_was_lost_is_no_lost_lease(process: DriverProcess, tmp_path: Path, settings: Any) -> None:
    settings.LOG_DIR = tmp_path
    attempt = Attempt(execution_row(job_row(), status="INITIALIZING"), process)
    attempt._settle(attempt._is_running)
    attempt._settle(attempt._is_running)
    assert not attempt.is_lost()
    assert Execution.objects.get().status == "RUNNING"
    Execution.objects.update(attempt=2)
    attempt._settle(attempt._is_running)
    assert attempt.is_lost()
    attempt_logger_close(attempt._log)


def test_an_execution_whose_log_has_no_room_runs_all_the_same(tmp_path: Path, settings: Any, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").write_text("a file where the folder should be")
    settings.LOG_DIR = tmp_path / "logs"
    log = attempt_logger("00000000-0000-4000-8000-000000000000", 1)
    log.info("the attempt begins")
    attempt_logger_close(log)
    assert "the attempt begins" in capfd.readouterr().err
