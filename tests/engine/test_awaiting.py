"""An attempt waits for the database it writes to before it begins: a stop ends that wait, a bounded run gives up after some minutes."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from jobs.engine import awaiting, receiving
from jobs.engine.events import QueryStarted, Waiting
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan
from jobs.engine.runner import Run
from jobs.nodes.base import ConnectionSettings, Limits
from scripts.ports import free_ports
from tests.engine.graphs import COLLECT, Bench, Heard, document, numbers

pytestmark = pytest.mark.spark


def writing_to_nobody(bench: Bench, job_type: str) -> Plan:
    drawn = document({"numbers": numbers(), "out": ("sink.jdbc", {"connection": "away", "table": "numbers"})}, "numbers>out", type=job_type)
    nobody = {"host": "127.0.0.1", "port": free_ports(1)[0], "database": "x", "user": "x", "tls": "disable"}
    return replace(bench.plan(drawn), connections={"away": ConnectionSettings("away", "postgresql", nobody)})


def test_a_stream_stopped_while_it_waits_has_begun_nothing(bench: Bench) -> None:
    run, heard = bench.run(writing_to_nobody(bench, "STREAMING"))
    assert heard.wait_for(Waiting)[0].node_id == "out"
    run.stop()
    assert run.wait(30) == "stopped"
    assert heard.of(QueryStarted) == []


def test_a_bounded_run_that_has_waited_long_enough_says_who_is_silent(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaiting, "BOUNDED_WAIT_SECONDS", 1)
    run, heard = bench.run(writing_to_nobody(bench, "BATCH_ROLLER"))
    with pytest.raises(ExecutionFailure, match="does not answer"):
        run.wait(60)
    assert all(event.what for event in heard.of(Waiting)), "nobody answered"


def test_a_connection_that_is_corrected_while_it_is_waited_for_is_taken(bench: Bench, tmp_path: Path) -> None:
    plan = writing_to_nobody(bench, "BATCH_ROLLER")
    file = ConnectionSettings("away", "sqlite", {"path": str(tmp_path / "here.sqlite3")})
    heard = Heard()

    def renewed(plan: Plan) -> Plan:
        return replace(plan, connections={"away": file}) if heard.of(Waiting) else plan

    run = Run(bench.spark, replace(plan, limits=Limits(file_roots=(tmp_path,))), heard.report, renewed=renewed)
    run.start()
    assert run.wait(60) == "completed"
    assert [bool(event.what) for event in heard.of(Waiting)] == [True, False]
    with closing(sqlite3.connect(tmp_path / "here.sqlite3")) as database:
        assert database.execute("SELECT count(*) FROM numbers").fetchone() != (0,)


def test_a_bounded_run_whose_receiver_finds_nobody_waits_for_a_while_only_and_says_for_whom(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "BOUNDED_WAIT_SECONDS", 8)
    monkeypatch.setattr(awaiting, "_LOOK_SECONDS", 0.2)
    queue = ("source.rabbitmq", {"connection": "away", "queue": "numbers", "columns": [{"name": "id", "type": "long"}]})
    drawn = document({"queue": queue, "out": COLLECT}, "queue>out", type="BATCH_ROLLER")
    nobody = {"host": "127.0.0.1", "port": free_ports(1)[0], "user": "x"}
    run, heard = bench.run(
        replace(bench.plan(drawn), connections={"away": ConnectionSettings("away", "rabbitmq", nobody, {"password": "x"})})
    )
    with pytest.raises(ExecutionFailure, match="does not answer"):
        run.wait(60)
    assert [event.what for event in heard.of(Waiting)] == ["rabbitmq away"]


@pytest.mark.parametrize("job_type", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_bounded_run_whose_files_are_not_there_ends_at_once(bench: Bench, job_type: str) -> None:
    """Those of a store, and those that are copied for the sake of their order."""
    files = ("source.file", {"path": "nothing", "format": "json", "order": "name", "columns": [{"name": "id", "type": "long"}]})
    run, _ = bench.run(bench.plan(document({"files": files, "out": COLLECT}, "files>out", type=job_type)))
    with pytest.raises(ExecutionFailure, match="nothing"):
        run.wait(60)
