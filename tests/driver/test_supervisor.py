"""What a worker does where no driver can begin; without Spark."""

import logging
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jobs.driver import supervisor
from jobs.driver.supervisor import Supervisor
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.one_database


@pytest.mark.slow
def test_where_no_driver_can_begin_it_is_tried_ever_less_often_and_all_else_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = settings.LOG_DIR = tmp_path
    looked: list[str] = []

    def refused(*_: Any, **__: Any) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    def frozen(**_: Any) -> list[Any]:
        looked.append("frozen")
        return []

    monkeypatch.setattr(subprocess, "Popen", refused)
    monkeypatch.setattr(supervisor, "close_old_connections", lambda: None)
    monkeypatch.setattr(supervisor, "drivers_claimed_alive", lambda **_: [])
    monkeypatch.setattr(supervisor, "scratch_unneeded", lambda _: set())
    monkeypatch.setattr(supervisor, "dedicated_waiting", lambda **_: ["an execution"])
    monkeypatch.setattr(supervisor, "drivers_frozen", frozen)
    caplog.set_level(logging.ERROR)
    watched = Supervisor(worker="w")
    watched.start()
    try:
        wait_until(lambda: len(looked) > 3, seconds=30, what="a look at silent drivers")
    finally:
        watched.stop()
    told = [record.getMessage() for record in caplog.records]
    assert set(told) == {f"a {kind} driver cannot begin: [Errno 11] Resource temporarily unavailable" for kind in ("SHARED", "DEDICATED")}
    assert 2 <= sum("SHARED" in words for words in told) <= 5
    assert not any(record.exc_info for record in caplog.records)
    assert list((tmp_path / "spark").iterdir()) == []
