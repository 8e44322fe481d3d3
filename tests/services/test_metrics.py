"""Counts, samples and rejected rows as they are kept."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobs.models import Execution, MetricSample, QueryProgress, RejectedRow
from jobs.services.executions import execution_claim, execution_start
from jobs.services.metrics import (
    QueryCounts,
    Rejected,
    Reported,
    counts_read,
    metrics_prune,
    metrics_roll_up,
    rejected_rows_prune,
    reported_write,
)
from jobs.tasks import prune_task
from tests.services.job_rows import driver_row, job_row, operator

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)


def claimed(job_name: str = "numbers") -> Execution:
    execution_start(job=job_row(job_name), user=operator(), triggered_by="API")
    execution = execution_claim(driver=driver_row())
    assert execution is not None
    return execution


def reported(execution: Execution, **fields: object) -> Reported:
    return Reported(execution.execution_id, execution.attempt, str(execution.generation), **fields)  # type: ignore[arg-type]


def sample(execution: Execution, at: datetime, rows: int, rate: float, batch_ms: int = 5) -> MetricSample:
    return MetricSample(
        execution_id=execution.execution_id, resolution=1, time=at, rows_in=rows, in_per_second=rate, batch_ms=batch_ms, detail={}
    )


def test_totals_and_counts_are_overwritten_not_added() -> None:
    execution = claimed()
    for rows in (10, 12):
        row = QueryCounts("out", 0, {}, {"in": rows})
        reported_write(batch=[reported(execution, totals={"processed_records": rows}, queries={"out": row})])
    execution.refresh_from_db()
    assert execution.processed_records == 12
    assert [found.latest for found in counts_read(execution_id=execution.execution_id)] == [{"in": 12}]


def test_an_old_attempt_writes_nothing() -> None:
    execution = claimed()
    old = reported(execution, totals={"processed_records": 99}, queries={"out": QueryCounts("out", 9, {}, {})})
    Execution.objects.update(attempt=execution.attempt + 1)
    assert reported_write(batch=[old]) == {}
    assert not QueryProgress.objects.exists()
    assert Execution.objects.get().processed_records == 0


def test_only_a_healthy_attempt_forgets_earlier_retries() -> None:
    execution = claimed()
    Execution.objects.update(retry_count=2)
    reported_write(batch=[reported(execution, totals={"processed_records": 10})])
    assert Execution.objects.get().retry_count == 2
    assert reported_write(batch=[reported(execution, healthy=True)]) == {execution.execution_id: execution.seq}
    assert Execution.objects.get().retry_count == 0


def test_rejected_rows_of_a_repeated_batch_replace_the_first() -> None:
    execution = claimed()
    for rows in ((("bad", "1"), ("bad", "2")), (("bad", "3"),)):
        reported_write(batch=[reported(execution, rejected=[Rejected("out", "src", 0, rows)])])
    assert list(RejectedRow.objects.values_list("row", flat=True)) == ["3"]


def rejecting(execution: Execution, *nodes: str, batches: int = 6) -> None:
    """In each batch each of `nodes` rejects one row, called by the number of the batch."""
    for batch in range(batches):
        rows = [Rejected("out", node, batch, (("bad", str(batch)),)) for node in nodes]
        reported_write(batch=[reported(execution, totals={"failed_records": (batch + 1) * len(nodes)}, rejected=rows)])


def rejected_of(execution: Execution, node: str) -> list[str]:
    return list(RejectedRow.objects.filter(execution=execution, node_id=node).order_by("pk").values_list("row", flat=True))


def test_of_each_node_of_an_execution_the_newest_rejected_rows_stay(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.REJECTED_ROWS_KEPT = 4
    monkeypatch.setattr("jobs.services.metrics._PIECE", 3)
    first, other = claimed(), claimed("letters")
    rejecting(first, "seldom", batches=2)
    rejecting(first, "often", "too")
    rejecting(other, "often", batches=4)
    prune_task()
    assert [rejected_of(first, node) for node in ("often", "too", "seldom")] == [["2", "3", "4", "5"], ["2", "3", "4", "5"], ["0", "1"]]
    assert rejected_of(other, "often") == ["0", "1", "2", "3"]
    first.refresh_from_db()
    assert first.failed_records == 12


def test_rejected_rows_are_looked_at_where_some_may_have_come_and_while_there_is_time(settings: Any) -> None:
    settings.REJECTED_ROWS_KEPT = 4
    execution = claimed()
    rejecting(execution, "often")
    assert rejected_rows_prune(seconds=0) == 0
    Execution.objects.update(status="COMPLETED", end_time=NOON)
    assert rejected_rows_prune(now=NOON + timedelta(days=2)) == 0
    settings.REJECTED_ROWS_KEPT = 0
    assert rejected_rows_prune(now=NOON) == 0
    settings.REJECTED_ROWS_KEPT = 4
    assert rejected_rows_prune(now=NOON + timedelta(minutes=5)) == 2


def test_samples_are_rolled_up_once_and_pruned_by_age() -> None:
    execution = claimed()
    rows = [sample(execution, NOON + timedelta(seconds=second), second, float(second), batch_ms=second) for second in range(60)]
    MetricSample.objects.bulk_create(rows)
    later = NOON + timedelta(seconds=70)
    assert metrics_roll_up(now=later) == 6 + 1
    assert metrics_roll_up(now=later) == 0
    ten = MetricSample.objects.filter(resolution=10).order_by("time").first()
    assert ten is not None
    assert (ten.time, ten.rows_in, ten.in_per_second, ten.batch_ms) == (NOON, 9, 4.5, 9)
    minute = MetricSample.objects.get(resolution=60)
    assert (minute.rows_in, minute.in_per_second) == (59, 29.5)
    assert metrics_prune(now=NOON + timedelta(hours=2)) == 60
    assert set(MetricSample.objects.values_list("resolution", flat=True)) == {10, 60}


def test_after_an_outage_roll_ups_go_on_where_they_stopped() -> None:
    execution = claimed()
    MetricSample.objects.bulk_create(sample(execution, NOON + timedelta(seconds=second), second, 1.0) for second in range(0, 2400, 5))
    metrics_roll_up(now=NOON + timedelta(seconds=60))
    metrics_roll_up(now=NOON + timedelta(seconds=2400))
    assert MetricSample.objects.filter(resolution=10).count() == 240
    assert MetricSample.objects.filter(resolution=60).count() == 40


def test_a_late_sample_counts() -> None:
    execution = claimed()
    sample(execution, NOON, 1, 2.0).save()
    assert metrics_roll_up(now=NOON + timedelta(seconds=60)) == 2
    sample(execution, NOON + timedelta(seconds=9), 7, 4.0).save()
    assert metrics_roll_up(now=NOON + timedelta(seconds=70)) == 2
    assert metrics_roll_up(now=NOON + timedelta(seconds=80)) == 0
    rolled = list(MetricSample.objects.exclude(resolution=1).order_by("resolution"))
    assert [row.rows_in for row in rolled] == [7, 7]
    assert [row.in_per_second for row in rolled] == pytest.approx([2.2, 2.2 / 6])


def bursts(execution: Execution, every: int, until: int) -> list[MetricSample]:
    """As a reporter keeps them where 300 rows come every so many seconds: where something changes, else every ten seconds."""
    found = []
    for second in range(0, until, every):
        rows = 300 * (second // every + 1)
        found.append(sample(execution, NOON + timedelta(seconds=second), rows, 100.0))
        quiet = range(second + 3, second + every, 10)
        found += [sample(execution, NOON + timedelta(seconds=at), rows, 0.0) for at in quiet]
    return found


@pytest.mark.parametrize("every", [5, 10, 30, 60])
def test_what_lies_below_the_curve_of_a_stream_that_rests_is_what_it_read(every: int) -> None:
    MetricSample.objects.bulk_create(bursts(claimed(), every, until=600))
    metrics_roll_up(now=NOON + timedelta(seconds=620))
    rolled = MetricSample.objects.order_by("time")
    rates = {seconds: list(rolled.filter(resolution=seconds).values_list("in_per_second", flat=True)) for seconds in (10, 60)}
    read = 600 / every * 300
    assert [sum(rates[seconds]) * seconds for seconds in (10, 60)] == pytest.approx([read, read])
    assert rates[60] == pytest.approx([300 / every] * 10)


def test_a_rate_that_holds_longer_than_a_window_is_in_each_of_them() -> None:
    execution = claimed()
    seconds = (0, 9, 20, 31, 40)  # a trigger of ten seconds is not to the second
    MetricSample.objects.bulk_create(sample(execution, NOON + timedelta(seconds=at), 300 + at, 30.0) for at in seconds)
    metrics_roll_up(now=NOON + timedelta(minutes=2))
    rows = list(MetricSample.objects.filter(resolution=10).order_by("time"))
    assert [row.rows_in for row in rows] == [309, 309, 320, 331, 340]
    assert [row.in_per_second for row in rows] == pytest.approx([30.0, 30.0, 30.0, 30.0, 3.0]), "nothing was heard of it after 40 s"


def test_what_is_half_pruned_is_not_rolled_up_anew() -> None:
    execution = claimed()
    MetricSample.objects.bulk_create(sample(execution, NOON + timedelta(seconds=second), second, 1.0) for second in range(20))
    metrics_roll_up(now=NOON + timedelta(seconds=20))
    before = list(MetricSample.objects.filter(resolution=10).values_list("rows_in", "in_per_second"))
    later = NOON + timedelta(hours=1, seconds=5)
    metrics_prune(now=later)
    assert metrics_roll_up(now=later) == 1  # the first of a minute
    assert list(MetricSample.objects.filter(resolution=10).values_list("rows_in", "in_per_second")) == before


def test_all_samples_that_are_due_are_pruned_within_the_time_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.services.metrics._PIECE", 2)
    execution = claimed()
    MetricSample.objects.bulk_create(sample(execution, NOON + timedelta(seconds=second), second, 1.0) for second in range(100))
    assert metrics_prune(now=NOON + timedelta(hours=2), seconds=0) == 0
    assert metrics_prune(now=NOON + timedelta(hours=2)) == 100


def test_text_that_no_database_stores_is_kept_without_what_breaks_it() -> None:
    """A message of another system may be anything: what is told of it must not end the writing of all counts."""
    execution = claimed()
    rows = ((f"no JSON: a\x00b{chr(0xD83D)}", f"a\x00b{chr(0xD83D)}"),)
    reported_write(batch=[reported(execution, totals={"processed_records": 1}, rejected=[Rejected("out", "out", 0, rows)])])
    (row,) = RejectedRow.objects.all()
    assert (row.reason, row.row) == ("no JSON: a\ufffdb?", "a\ufffdb?")
