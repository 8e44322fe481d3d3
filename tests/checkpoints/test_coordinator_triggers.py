"""Which checkpoints a running job takes by itself, and when it has had too many that failed, on a real Spark."""

from itertools import pairwise
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from checkpoints.coordinator import CheckpointFailed
from checkpoints.triggers import Triggers
from jobs.engine.plan import Plan
from tests.checkpoints.test_coordinator import Book, coordinator, running, stream
from tests.engine.graphs import COLLECT, Bench, document, numbers
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)


def imported(bench: Bench, rows: int) -> Plan:
    return bench.plan(document({"gen": numbers(rows, 10), "out": COLLECT}, "gen>out"))


def origins(book: Book) -> list[str]:
    return [asked["origin"] for _, asked in book.tickets]


def test_so_many_rows_are_read_between_two_checkpoints(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    made = coordinator(bench, plan, book, triggers=Triggers(rows=30))
    run, _ = running(bench, plan, made)
    book.wait_for(3)
    run.stop()
    run.wait(30)
    made.close()
    positions = [result.state_data["sources"]["gen"]["next"] for _, result in book.completed]
    assert set(origins(book)) == {"ROWS"}
    assert positions[0] >= 30
    assert all(later - earlier >= 20 for earlier, later in pairwise(positions)), "a batch may end while one is cut"


def test_an_import_takes_one_behind_its_pages_and_behind_the_last(bench: Bench, tmp_path: Path) -> None:
    plan, book = imported(bench, 60), Book(tmp_path)
    made = coordinator(bench, plan, book, triggers=Triggers(each_page=True))
    run, _ = running(bench, plan, made, batches=6)
    assert run.wait(60) == "completed"
    made.close(outcome="completed")
    assert set(origins(book)) == {"PAGE"}
    positions = [result.state_data["sources"]["gen"]["next"] for _, result in book.completed]
    assert positions == sorted(set(positions))
    assert positions[-1] == 60, "the last page has no checkpoint"
    assert [result.rows for _, result in book.completed][-1] == 60


def test_a_completed_run_without_the_page_trigger_takes_none_at_its_end(bench: Bench, tmp_path: Path) -> None:
    plan, book = imported(bench, 30), Book(tmp_path)
    made = coordinator(bench, plan, book, triggers=Triggers(interval=3600))
    run, _ = running(bench, plan, made, batches=3)
    assert run.wait(60) == "completed"
    made.close(outcome="completed")
    assert not book.tickets


def test_the_pause_holds_the_triggers_back_but_no_person(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    made = coordinator(bench, plan, book, triggers=Triggers(rows=1, min_pause=3600))
    run, _ = running(bench, plan, made, batches=1)
    book.wait_for(1)
    running_on(made)
    assert made.request().result(60).number == 2
    run.stop()
    run.wait(30)
    made.close()
    assert origins(book) == ["ROWS", "MANUAL"]


def running_on(made: object) -> None:
    """Until more than a row was read since the latest checkpoint."""
    wait_until(lambda: made._written.rows >= 50, seconds=60, what="fifty rows more")  # type: ignore[attr-defined]


def test_past_what_the_job_tolerates_it_cannot_go_on_and_the_triggers_rest(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    (tmp_path / "5d0f6c3e-0000-4000-8000-000000000001").write_text("no folder can be made where a file stands")
    made = coordinator(bench, plan, book, triggers=Triggers(rows=10), tolerable_failures=2)
    run, _ = running(bench, plan, made)
    wait_until(lambda: bool(made.intolerable), seconds=60, what="one failure too many")
    running_on(made)
    with pytest.raises(CheckpointFailed):
        made.request().result(60)
    run.stop()
    run.wait(30)
    made.close()
    assert origins(book) == ["ROWS", "ROWS", "ROWS", "MANUAL"]
    assert made.intolerable.startswith("3 checkpoints in a row failed, the last one while copying: not a directory"), made.intolerable
    assert made.intolerable.endswith("and the job tolerates 2")


def test_one_that_succeeds_forgives_those_before_and_a_persons_do_not_count(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench, rows=30), Book(tmp_path)
    bench.drained(plan, 30)
    made = coordinator(bench, plan, book, triggers=Triggers(), tolerable_failures=0)
    blocked = tmp_path / "5d0f6c3e-0000-4000-8000-000000000001"
    blocked.write_text("")
    with pytest.raises(CheckpointFailed):
        made.request().result(60)
    assert made.intolerable == ""
    made._failed_in_a_row = 1
    blocked.unlink()
    made.request().result(60)
    assert made._failed_in_a_row == 0
    made.close()
