"""A batch that is being written is told with the figures until it is written, and its execution does not look idle meanwhile."""

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs import broadcast
from jobs.engine.events import BatchUnderWay, BatchWritten, NodeCounts
from jobs.live.snapshots import execution_snapshot
from jobs.models import Execution
from jobs.reporting import Reporter, Writer
from jobs.reporting.counts import Counts, Rates
from jobs.services.executions import execution_claim, execution_start
from tests.services.job_rows import driver_row, job_row, operator


def written(batch_id: int, rows: int) -> BatchWritten:
    return BatchWritten("out", batch_id, rows_in=rows, rows_out=rows, rejected=0, nodes={"src": NodeCounts(None, rows)})


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[broadcast.MetricsMessage]:
    messages: list[broadcast.MetricsMessage] = []

    def heard(execution_id: str, message: object, *, project: str) -> None:
        if isinstance(message, broadcast.MetricsMessage):
            messages.append(message)

    monkeypatch.setattr(broadcast, "execution_message", heard)
    return messages


@pytest.fixture
def execution(transactional_db: None) -> Execution:
    execution_start(job=job_row(), user=operator(), triggered_by="API")
    claimed = execution_claim(driver=driver_row())
    assert claimed is not None
    return claimed


@pytest.fixture
def writer(transactional_db: None) -> Iterator[Writer]:
    writer = Writer()
    yield writer
    writer.close()


def reporter(execution: Execution, writer: Writer) -> Reporter:
    return Reporter(execution, writer, project="default", trigger_seconds=1.0, log=logging.getLogger("test"))


def test_a_batch_is_under_way_until_it_is_written(execution: Execution, writer: Writer, sent: list[broadcast.MetricsMessage]) -> None:
    ear = reporter(execution, writer)
    for event in (BatchUnderWay("out", 0, 2.0, 1, 8), BatchUnderWay("out", 0, 3.0, 5, 8), written(0, 10)):
        ear(event)
        ear.tick(None)
    ear(BatchUnderWay("out", 0, 3.1, 8, 8))  # on its way while the batch was written
    ear.tick(None)
    ear.close()
    told = [message.under_way and (message.under_way.batch_id, message.under_way.tasks_done, message.under_way.tasks) for message in sent]
    assert told[:3] == [(0, 1, 8), (0, 5, 8), None]
    assert set(told[3:]) <= {None}
    assert len({message.under_way.since for message in sent if message.under_way}) == 1


def test_who_comes_later_sees_it_and_it_ends_with_the_attempt(
    execution: Execution, writer: Writer, sent: list[broadcast.MetricsMessage]
) -> None:
    ear = reporter(execution, writer)
    ear(BatchUnderWay("out", 4, 2.0, 0, 0))
    ear._keep(ear._figures(), True)
    writer.flush()
    user = operator()
    seen = execution_snapshot(user, execution.execution_id).metrics
    assert seen is not None
    assert seen.under_way is not None
    assert seen.under_way.batch_id == 4
    ear.close()
    assert sent[-1].under_way is None


def test_what_has_passed_of_it_is_shown_and_never_kept_before_it_is_written(
    execution: Execution, writer: Writer, sent: list[broadcast.MetricsMessage]
) -> None:
    ear = reporter(execution, writer)
    ear(written(0, 10))
    ear(BatchUnderWay("out", 0, 2.0, 1, 8, 4, {"src": NodeCounts(None, 4)}))  # it was written before: an attempt repeats it
    ear.tick(None)
    ear(BatchUnderWay("out", 1, 2.0, 1, 8, 5, {"src": NodeCounts(None, 5), "out": NodeCounts(5, None)}))
    ear.tick(None)
    ear._keep(ear._figures(), True)
    writer.flush()
    told = [(message.rows_in, message.nodes["src"].rows_out, message.under_way and message.under_way.rows_in) for message in sent]
    assert told == [(10, 10, None), (10, 15, 5)]
    assert [message.nodes_written and message.nodes_written["src"].rows_out for message in sent] == [{}, 10], "what stays if it dies now"
    assert sent[-1].in_per_second > 0
    seen = execution_snapshot(operator(), execution.execution_id).metrics
    assert seen is not None
    assert (seen.rows_in, seen.nodes["src"].rows_out) == (10, 10)
    assert seen.nodes_written == seen.nodes
    ear.close()
    assert (sent[-1].rows_in, sent[-1].nodes["src"].rows_out) == (10, 10)


def test_the_longest_of_several_is_told(execution: Execution, writer: Writer, sent: list[broadcast.MetricsMessage]) -> None:
    ear = reporter(execution, writer)
    ear(BatchUnderWay("a", 7, 2.0, 0, 4))
    ear(BatchUnderWay("b", 3, 50.0, 1, 9))
    ear.tick(None)
    ear.close()
    assert sent[0].under_way is not None
    assert sent[0].under_way.batch_id == 3


def test_rates_hold_for_as_long_as_the_batch_before_took_then_sink() -> None:
    rates, counts = Rates(window=10), Counts([])
    rates.note(counts.totals(), at=0)
    counts.batch(written(0, 6000))
    rates.note(counts.totals(), seconds=60, at=60)
    assert [round(rates.now(at=moment, under_way=True)["in"]) for moment in (60, 90, 120, 180, 240)] == [100, 100, 100, 50, 33]
    assert rates.now(at=180)["in"] == 0


def test_short_batches_before_a_long_one_are_told_together() -> None:
    rates, counts = Rates(window=10), Counts([])
    rates.note(counts.totals(), at=0)
    for second in range(1, 31):
        counts.batch(written(second, 100))
        rates.note(counts.totals(), seconds=1, at=second)
    assert rates.now(at=33)["in"] == pytest.approx(70)  # not known yet that a batch is under way
    assert [rates.now(at=moment, under_way=True)["in"] for moment in (33, 40, 50)] == [pytest.approx(rate) for rate in (100, 100, 50)]


def test_a_pause_before_the_last_batch_does_not_count() -> None:
    rates, counts = Rates(window=10), Counts([])
    rates.note(counts.totals(), at=0)
    counts.batch(written(0, 600))
    rates.note(counts.totals(), seconds=20, at=3600)
    assert rates.now(at=3610, under_way=True)["in"] == pytest.approx(30)


class _NoTicks:
    """A writer that asks for nothing by itself."""

    def add(self, reporter: object) -> None: ...

    def remove(self, reporter: object) -> None: ...

    def flush(self) -> bool:
        return True


def test_a_sample_is_kept_of_each_second_in_which_a_message_was_sent_and_of_the_end(
    execution: Execution, sent: list[broadcast.MetricsMessage], monkeypatch: pytest.MonkeyPatch
) -> None:
    ear = Reporter(execution, _NoTicks(), project="default", trigger_seconds=1.0, log=logging.getLogger("test"))  # type: ignore[arg-type]
    moment, rate = datetime(2024, 5, 1, 12, tzinfo=UTC), 0.0
    figures = ear._figures

    def now() -> dict[str, Any]:
        found = figures()
        return found | {"time": moment, "rates": found["rates"] | {"in": rate}}

    monkeypatch.setattr(ear, "_figures", now)
    for shown in (1, 1, 2, 1, 1, 1, 3, 3, 0, 0, 0, 0):  # second 1 ends as second 0 did, and was told of
        rate = shown
        ear.tick(None)
        moment += timedelta(seconds=0.5)
    ear.close()  # nothing changed since second 4, and a page that listens is told once more
    told = {message.time.replace(microsecond=0): message.in_per_second for message in sent}
    kept = ear.take()
    assert kept is not None
    assert [(sample.time.second, sample.in_per_second) for sample in kept.samples] == [(0, 1), (1, 1), (3, 3), (4, 0), (6, 0)]
    assert {sample.time: sample.in_per_second for sample in kept.samples} == told
