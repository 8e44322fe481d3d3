"""The first message of a socket: everything up to a number, behind which the numbered messages follow."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Max

from jobs.broadcast import BatchUnderWay, MetricsMessage, NodeMetrics, OverviewSnapshot, SnapshotMessage
from jobs.models import UNFINISHED, Event, Execution, MetricSample
from jobs.selectors.checkpoints import checkpoints_out, checkpoints_visible
from jobs.selectors.events import events_out
from jobs.selectors.executions import execution_out, executions_for_lists, executions_out, executions_visible, executions_with_facts
from jobs.selectors.jobs import jobs_visible, latest_ids

if TYPE_CHECKING:
    from django.contrib.auth.models import User

EVENTS = 100
CHECKPOINTS = 50
#: Jobs whose latest execution the overview carries; lists page through the rest.
LATEST = 500


@transaction.atomic
def execution_snapshot(user: "User", execution_id: str) -> SnapshotMessage:
    """One execution as `user` sees it; Execution.DoesNotExist where they do not.

    `seq` is that of the execution row, which is read first: an event that comes between is told again, never left out.
    """
    row = executions_with_facts(executions_visible(user)).get(execution_id=execution_id)
    checkpoints = checkpoints_visible(user).filter(execution_id=execution_id).order_by("-checkpoint_id")[:CHECKPOINTS]
    sample = MetricSample.objects.filter(execution_id=execution_id, resolution=1).order_by("-time").first()
    return SnapshotMessage(
        seq=row.seq,
        execution=execution_out(row, detailed=True),
        events=[event for event in events_out(row, limit=EVENTS) if event.seq <= row.seq],
        checkpoints=checkpoints_out(checkpoints),
        metrics=_metrics(sample, row.seq) if sample else None,
    )


def overview_snapshot(user: "User") -> OverviewSnapshot:
    """Every unfinished execution the user sees, and the latest one of their most recently changed jobs."""
    number = newest_event_number()
    unfinished = executions_visible(user).filter(status__in=UNFINISHED)
    recent = list(jobs_visible(user).order_by("-update_time", "-id").values_list("pk", flat=True)[:LATEST])
    rows = {row.execution_id: row for row in executions_for_lists(unfinished)}
    rows |= {row.execution_id: row for row in executions_for_lists(executions_visible(user).filter(pk__in=latest_ids(recent)))}
    return OverviewSnapshot(number=number, executions=executions_out(rows.values()))


def execution_newest_seq(execution_id: str) -> int:
    """The number of its newest event; Execution.DoesNotExist where there is none such."""
    return int(Execution.objects.values_list("seq", flat=True).get(execution_id=execution_id))


def newest_event_number() -> int:
    """The id of the newest event of all, 0 before the first."""
    return int(Event.objects.aggregate(newest=Max("id"))["newest"] or 0)


def _metrics(sample: MetricSample, seq: int) -> MetricsMessage:
    """A sample keeps of nodes what was written."""
    detail: Mapping[str, Any] = sample.detail
    nodes = {node_id: _node(counts) for node_id, counts in detail.get("nodes", {}).items()}
    under_way = BatchUnderWay(**batch) if (batch := detail.get("under_way")) else None
    return MetricsMessage(
        as_of_seq=seq,
        time=sample.time,
        rows_in=sample.rows_in,
        rows_out=sample.rows_out,
        rows_rejected=sample.rows_rejected,
        in_per_second=sample.in_per_second,
        out_per_second=sample.out_per_second,
        processed_per_second=detail.get("processed_per_second", 0.0),
        rejected_per_second=detail.get("rejected_per_second", 0.0),
        batch_id=sample.batch_id,
        batch_ms=sample.batch_ms,
        durations_ms=detail.get("durations_ms", {}),
        under_way=under_way,
        backlog=sample.backlog,
        buffer_size=detail.get("buffer_size"),
        backpressure_status=detail.get("backpressure_status", ""),
        dropped=detail.get("dropped", 0),
        watermark=detail.get("watermark", ""),
        state_rows=detail.get("state_rows", 0),
        state_bytes=detail.get("state_bytes", 0),
        nodes=nodes,
        nodes_written=nodes if under_way else {},
    )


def _node(counts: Mapping[str, Any]) -> NodeMetrics:
    return NodeMetrics(
        rows_in=counts.get("in"),
        rows_out=counts.get("out"),
        rejected=counts.get("rejected") or 0,
        late=counts.get("late") or 0,
        timeless=counts.get("timeless") or 0,
        in_per_second=counts.get("in_per_second"),
        out_per_second=counts.get("out_per_second"),
        outdated_since=counts.get("outdated_since", ""),
    )
