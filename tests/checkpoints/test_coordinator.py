"""When checkpoints are taken of running jobs, on a real Spark; the rows are kept in a list."""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from checkpoints.coordinator import CheckpointFailed, Coordinator, NothingToCut
from checkpoints.job_cut import JobQuery, job_queries, run_facts
from checkpoints.ledger import CheckpointResult, LedgerRefused, Ticket
from checkpoints.manifest import manifest_read
from checkpoints.spark_folder import last_committed
from checkpoints.storage import checkpoint_folder, checkpoint_restore
from checkpoints.triggers import Triggers
from checkpoints.verification import checkpoint_verify
from jobs.engine.events import BatchCommitted, BatchWritten, EngineEvent, each
from jobs.engine.plan import Plan
from jobs.engine.runner import Run
from tests.engine.graphs import COLLECT, REGISTRY, Bench, Heard, document, numbers, windows
from tests.engine.nodes import CollectSink, HangingSink

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(300)]


@dataclass
class Book:
    """A ledger that remembers."""

    root: Path
    tickets: list[tuple[Ticket, dict[str, Any]]] = field(default_factory=list)
    completed: list[tuple[Ticket, CheckpointResult]] = field(default_factory=list)
    failed: list[tuple[Ticket, str, Mapping[str, int]]] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)
    on_begin: Callable[[], None] = lambda: None

    def begin(self, **asked: Any) -> Ticket:
        self.on_begin()
        number = len(self.tickets) + 1
        ticket = Ticket(number, checkpoint_folder(self.root, "5d0f6c3e-0000-4000-8000-000000000001", "execution", number), number)
        self.tickets.append((ticket, asked))
        return ticket

    def complete(self, ticket: Ticket, result: CheckpointResult) -> None:
        with self.changed:
            self.completed.append((ticket, result))
            self.changed.notify_all()

    def fail(self, ticket: Ticket, reason: str, phases: Mapping[str, int]) -> None:
        with self.changed:
            self.failed.append((ticket, reason, phases))
            self.changed.notify_all()

    def wait_for(self, count: int, timeout: float = 60) -> None:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.completed) >= count, timeout), f"no {count} checkpoints: {self.failed}"


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)


def coordinator(bench: Bench, plan: Plan, book: Book, **given: Any) -> Coordinator:
    facts = run_facts(plan, execution_id="execution", version=1)
    made = Coordinator(book, facts, job_queries(plan, registry=REGISTRY), **({"triggers": Triggers()} | given))
    made.start()
    return made


def running(bench: Bench, plan: Plan, made: Coordinator, batches: int = 2) -> tuple[Run, Heard]:
    """Until every query has committed so many batches."""
    heard = Heard()

    run = Run(bench.spark, plan, each(made.hear, heard.report), registry=REGISTRY)
    run.start()
    queries = set(job_queries(plan, registry=REGISTRY))
    with heard.changed:
        enough = lambda: {one.query for one in heard.committed() if one.batch_id >= batches - 1} == queries  # noqa: E731
        assert heard.changed.wait_for(enough, 90), "the queries did not get on"
    return run, heard


def stream(bench: Bench, rows: int | None = None) -> Plan:
    return bench.plan(document({"gen": numbers(rows, 10), "out": COLLECT}, "gen>out", type="STREAMING"))


def test_a_request_takes_a_checkpoint_of_a_running_stream(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    made = coordinator(bench, plan, book)
    run, _ = running(bench, plan, made)
    ticket = made.request(requested_by="olga", label="before the sale").result(60)
    run.stop()
    run.wait(30)
    made.close()
    (_, asked), (_, result) = book.tickets[0], book.completed[0]
    assert asked == {"origin": "MANUAL", "requested_by": "olga", "savepoint": False, "label": "before the sale"}
    batch = result.queries["out"]["batch_id"]
    assert result.queries["out"].keys() == {"batch_id", "sinks", "files", "bytes", "watermark_ms"}
    assert (result.queries["out"]["sinks"], result.queries["out"]["watermark_ms"]) == (["out"], None)
    assert result.queries["out"]["files"] == result.files
    assert result.state_data["sources"]["gen"]["next"] == (batch + 1) * 10
    assert set(result.phases) == {"wait", "copy", "check", "write"}
    assert result.files > 5
    assert checkpoint_verify(ticket.folder) == []
    manifest = manifest_read(ticket.folder)
    assert (manifest["generation"], manifest["number"], manifest["job_type"]) == (plan.generation, 1, "STREAMING")
    assert manifest["queries"]["out"] == {"folder": "out", "batch_id": batch, "sinks": ["out"]}


def test_a_sink_for_which_it_is_too_late_gets_a_newer_batch(bench: Bench, tmp_path: Path) -> None:
    plan, book, marked = stream(bench), Book(tmp_path), list[int]()

    def mark(batches: Mapping[str, int]) -> bool:
        marked.append(batches["out"])
        return batches["out"] >= marked[0] + 2

    made = coordinator(bench, plan, book, mark=mark)
    run, _ = running(bench, plan, made)
    made.request().result(60)
    run.stop()
    run.wait(30)
    made.close()
    assert book.completed[0][1].queries["out"]["batch_id"] == marked[-1] >= marked[0] + 2


def test_the_interval_takes_checkpoints_while_something_is_committed(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench, rows=60), Book(tmp_path)
    made = coordinator(bench, plan, book, triggers=Triggers(interval=0.3))
    run, _ = running(bench, plan, made, batches=6)
    book.wait_for(2)
    deadline = time.monotonic() + 30
    while made._is_unprotected():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    taken = len(book.tickets)
    asked = made.request()
    asked.result(60)
    assert len(book.tickets) == taken + 1, "an idle stream was cut at the interval"
    run.stop()
    run.wait(30)
    made.close(outcome="stopped")
    assert len(book.tickets) == taken + 1, "nothing was committed since: no checkpoint at the stop"
    assert {entry["origin"] for _, entry in book.tickets[:taken]} == {"INTERVAL"}


def test_a_graceful_stop_leaves_a_checkpoint_of_the_last_batch(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    made = coordinator(bench, plan, book, triggers=Triggers(interval=3600))
    run, heard = running(bench, plan, made)
    run.stop()
    assert run.wait(30) == "stopped"
    made.close(outcome="stopped")
    (_, asked), (_, result) = book.tickets[0], book.completed[0]
    assert asked["origin"] == "STOP"
    assert result.queries["out"]["batch_id"] == last_committed(plan.locations.live / "out") == heard.committed()[-1].batch_id


def test_what_spark_has_not_told_of_yet_is_in_the_checkpoint(bench: Bench, tmp_path: Path) -> None:
    plan, book = bench.plan(document({"gen": numbers(100, 10), "out": COLLECT}, "gen>out")), Book(tmp_path)
    made = coordinator(bench, plan, book, triggers=Triggers(interval=3600))

    def not_told(event: EngineEvent) -> None:
        if isinstance(event, BatchWritten):
            made.hear(event)

    run = Run(bench.spark, plan, not_told, registry=REGISTRY)
    run.start()
    assert run.wait(90) == "completed"
    made.request().result(60)
    made.close(outcome="stopped")
    ((_, result),) = book.completed
    assert (result.queries["out"]["batch_id"], result.rows, result.state_data["sources"]["gen"]["next"]) == (9, 100, 100)


def test_what_an_earlier_attempt_committed_beyond_its_checkpoint_is_due(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench, rows=30), Book(tmp_path)
    bench.drained(plan, 30)
    newest = last_committed(plan.locations.live / "out")
    made = coordinator(bench, plan, book, triggers=Triggers(interval=0.1), kept={"out": newest - 1})
    book.wait_for(1)
    made.close(outcome="stopped")
    assert [asked["origin"] for _, asked in book.tickets] == ["INTERVAL"]
    again = coordinator(bench, plan, book, triggers=Triggers(interval=3600), kept={"out": newest})
    again.close(outcome="stopped")
    assert len(book.tickets) == 1, "nothing was committed since"
    last = coordinator(bench, plan, book, triggers=Triggers(interval=3600), kept={"out": newest - 1})
    last.close(outcome="stopped")
    assert [asked["origin"] for _, asked in book.tickets] == ["INTERVAL", "STOP"]


def test_a_checkpoint_of_two_queries_is_whole_and_goes_on_as_both(bench: Bench, tmp_path: Path) -> None:
    nodes = {"gen": numbers(400, 50), "minutes": windows("1 min"), "fives": windows("5 min"), "a": COLLECT, "b": COLLECT}
    drawn = document(nodes, "gen>minutes, gen>fives, minutes>a, fives>b", type="STREAMING")
    plan, book = bench.plan(drawn), Book(tmp_path)
    made = coordinator(bench, plan, book)
    run, heard = running(bench, plan, made)
    ticket = made.request().result(60)
    read_all(heard, 400)
    made.request().result(60)
    run.stop()
    run.wait(30)
    made.close()
    result, last = (result for _, result in book.completed[:2])
    assert set(result.queries) == {"a", "b"}
    assert last.backlog == 0, "nothing waits any more"
    slowest = min(query["batch_id"] for query in result.queries.values())
    assert result.state_data["sources"]["gen"]["next"] == (slowest + 1) * 50
    assert {operator["query"] for operator in result.operators} == {"a", "b"}

    again = bench.plan(drawn)
    batches = checkpoint_restore(ticket.folder, again.locations.live)
    assert batches == {key: query["batch_id"] for key, query in result.queries.items()}
    rerun, heard = bench.run(again)
    read_all(heard, 400)
    rerun.stop()
    rerun.wait(30)
    for sink in ("a", "b"):
        first, second = CollectSink.rows[plan.generation + sink], CollectSink.rows[again.generation + sink]
        assert min(second) == batches[sink] + 1
        kept = {batch: rows for batch, rows in first.items() if batch <= batches[sink]}
        assert latest(kept | second) == latest(first)


def read_all(heard: Heard, rows: int) -> None:
    """Until both queries stand behind the last row."""

    def ends() -> list[int]:
        newest = {one.query: one.sources["gen"]["end"]["next"] for one in heard.committed()}
        return sorted(newest.values())

    with heard.changed:
        assert heard.changed.wait_for(lambda: ends() == [rows, rows], 90), ends()


def latest(batches: dict[int, list[Any]]) -> dict[Any, int]:
    return {(row.window_start, row.window_end): row.n for batch in sorted(batches) for row in batches[batch]}


def test_a_savepoint_shares_no_file(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    made = coordinator(bench, plan, book)
    run, _ = running(bench, plan, made)
    made.request(savepoint=True).result(60)
    made.request().result(60)
    run.stop()
    run.wait(30)
    made.close()
    savepoint, linked = (result for _, result in book.completed)
    assert savepoint.bytes_exclusive == savepoint.bytes_logical
    assert linked.bytes_exclusive < linked.bytes_logical


def test_a_second_request_waits_its_turn(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    inside, most = [], []

    def begun() -> None:
        inside.append(len(book.tickets) - len(book.completed))
        most.append(max(inside))

    book.on_begin = begun
    made = coordinator(bench, plan, book)
    run, _ = running(bench, plan, made)
    asked = [made.request() for _ in range(4)]
    assert [one.result(60).number for one in asked] == [1, 2, 3, 4]
    assert max(most) == 0, "two were taken at once"
    run.stop()
    run.wait(30)
    made.close()


def test_an_idle_query_of_an_earlier_attempt_is_cut_at_once(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench, rows=30), Book(tmp_path)
    bench.drained(plan, 30)
    made = coordinator(bench, plan, book)
    assert made.request().result(60).number == 1
    made.close()
    assert book.completed[0][1].queries["out"]["batch_id"] == last_committed(plan.locations.live / "out")


def test_a_job_that_committed_nothing_has_nothing_to_cut(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench), Book(tmp_path)
    made = coordinator(bench, plan, book)
    with pytest.raises(NothingToCut, match="not committed anything"):
        made.request().result(60)
    made.close(outcome="stopped")
    assert not book.tickets


def test_a_job_read_whole_has_no_checkpoints(bench: Bench, tmp_path: Path) -> None:
    plan = bench.plan(document({"gen": numbers(10), "minutes": windows(), "out": COLLECT}, "gen>minutes, minutes>out"))
    made = coordinator(bench, plan, Book(tmp_path), triggers=Triggers(interval=0.1))
    with pytest.raises(NothingToCut, match="reads everything at once"):
        made.request().result(60)
    made.close()


def test_past_its_time_a_checkpoint_fails_with_the_phase_and_the_job_lives_on(bench: Bench, tmp_path: Path) -> None:
    HangingSink.hanging.clear()
    HangingSink.let_go.clear()
    plan, book = bench.plan(document({"gen": numbers(None, 10), "out": ("sink.hang", {})}, "gen>out", type="STREAMING")), Book(tmp_path)
    made = coordinator(bench, plan, book, timeout=0.5)
    run, heard = bench.run(plan)
    assert HangingSink.hanging.wait(60)
    with pytest.raises(CheckpointFailed, match="waiting for the first batch of every query: it took longer"):
        made.request().result(60)
    assert [reason for _, reason, _ in book.failed] == ["waiting for the first batch of every query: it took longer than 0.5 s"]
    assert book.failed[0][2]["wait"] >= 500
    HangingSink.let_go.set()
    heard.wait_for(BatchCommitted)
    assert not list((tmp_path / "5d0f6c3e-0000-4000-8000-000000000001").rglob("*.partial"))
    run.stop()
    run.wait(30)
    made.close()


def test_a_damaged_live_folder_fails_the_checkpoint_and_names_the_file(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench, rows=30), Book(tmp_path)
    bench.drained(plan, 30)
    newest = last_committed(plan.locations.live / "out")
    (plan.locations.live / "out" / "offsets" / str(newest)).write_text("")
    made = coordinator(bench, plan, book)
    with pytest.raises(CheckpointFailed, match=f"copying: offsets/{newest}"):
        made.request().result(60)
    made.close()
    assert not book.failed[0][0].folder.exists()


def test_a_ledger_that_does_not_answer_for_a_while_is_told_again(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkpoints.coordinator._TELLING_PAUSE_SECONDS", 0.01)
    plan, book = stream(bench, rows=30), Book(tmp_path)
    bench.drained(plan, 30)
    complete = book.complete
    refused: list[Ticket] = []

    def long_away(ticket: Ticket, result: CheckpointResult) -> None:
        if len(refused) < 20:
            refused.append(ticket)
            raise ConnectionError("the database is away")
        complete(ticket, result)

    book.complete = long_away  # type: ignore[method-assign]
    made = coordinator(bench, plan, book)
    assert made.request().result(60).number == 1
    made.close()
    assert len(book.completed) == 1


def test_a_query_that_never_began_gives_an_empty_part(bench: Bench, tmp_path: Path) -> None:
    plan, book = stream(bench, rows=30), Book(tmp_path)
    bench.drained(plan, 30)
    queries = job_queries(plan, registry=REGISTRY) | {"later": JobQuery(plan.locations.live / "later", ("later",))}
    made = Coordinator(book, run_facts(plan, execution_id="execution", version=1), queries, triggers=Triggers())
    made.start()
    ticket = made.request().result(60)
    made.close()
    later = book.completed[0][1].queries["later"]
    assert later == {"batch_id": -1, "sinks": ["later"], "files": 0, "bytes": 0, "watermark_ms": None}
    assert checkpoint_verify(ticket.folder) == []
    assert checkpoint_restore(ticket.folder, tmp_path / "again")["later"] == -1
    assert not (tmp_path / "again" / "later").exists()


def test_an_attempt_that_lost_its_execution_leaves_no_files(bench: Bench, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    plan, book = stream(bench, rows=30), Book(tmp_path)
    bench.drained(plan, 30)

    def taken_over(*given: Any, **asked: Any) -> Any:
        raise LedgerRefused("another attempt took over")

    book.complete = taken_over  # type: ignore[method-assign]
    made = coordinator(bench, plan, book)
    with pytest.raises(CheckpointFailed, match="another attempt took over"):
        made.request().result(60)
    book.begin = taken_over  # type: ignore[method-assign]
    with pytest.raises(CheckpointFailed, match="another attempt took over"):
        made.request().result(60)
    made.close()
    assert not book.tickets[0][0].folder.exists()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
