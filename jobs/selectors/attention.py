"""What a person should look at now, the worst first."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal

from django.db.models import Q, QuerySet

from jobs.models import LEASED, Execution, ExecutionStatus, JobType, JobVersion, MetricSample
from jobs.selectors.executions import execution_out, executions_for_lists
from jobs.selectors.shapes.overview import AttentionOut

MOST = 20
#: A driver confirms every few seconds; past this nobody knows what the execution does.
CONFIRMED_WITHIN = timedelta(seconds=20)
#: A checkpoint is overdue after this many of its intervals, and never before the term below.
MISSED_INTERVALS = 3
CHECKPOINT_WITHIN = timedelta(minutes=3)

Kind = Literal["FAILED", "UNCONFIRMED", "RETRYING", "NO_CHECKPOINT"]
#: The execution, what is the matter, and since when.
Concern = tuple[Execution, Kind, datetime]


def attention_out(visible: QuerySet[Execution], failing: Sequence[int], now: datetime) -> list[AttentionOut]:
    """Failed (row ids, newest first), then unconfirmed, retrying and unprotected executions; at most 20."""
    failed = executions_for_lists(visible.filter(pk__in=failing[:MOST])).order_by("-end_time", "-id")
    retrying = Q(status=ExecutionStatus.SCHEDULED, retry_count__gt=0) | Q(status=ExecutionStatus.SCHEDULED, next_attempt_at__gt=now)
    # Not ordered by the database: it would walk along the whole history instead of taking the few unfinished by their status.
    unfinished = visible.filter(status__in=(*LEASED, ExecutionStatus.SCHEDULED)).filter(Q(status__in=LEASED) | retrying).order_by()
    current = sorted(executions_for_lists(unfinished)[:500], key=lambda row: (row.create_time, row.pk), reverse=True)
    found: list[Concern] = [(row, "FAILED", row.end_time or row.create_time) for row in failed]
    for row in current:
        kind, since = _concern(row, now)
        if kind is not None:
            found.append((row, kind, since))
    found = _within(_less_idle(found))
    names = _node_names(row for row, _, _ in found)
    return [_out(row, kind, since, names) for row, kind, since in found]


def _less_idle(found: list[Concern]) -> list[Concern]:
    """Without the executions that had nothing to protect since their last checkpoint: no row came in."""
    late = [(row, since) for row, kind, since in found if kind == "NO_CHECKPOINT"]
    if not late:
        return found
    condition = Q()
    for row, since in late:
        condition |= Q(execution=row.execution_id, time__gt=since)
    rows = MetricSample.objects.filter(condition, in_per_second__gt=0).values_list("execution_id", flat=True).distinct()
    moved = {str(execution_id) for execution_id in rows}
    return [one for one in found if one[1] != "NO_CHECKPOINT" or one[0].execution_id in moved]


def _within(found: list[Concern]) -> list[Concern]:
    """At most MOST, the failed first; but what goes wrong right now keeps half of the places."""
    failed = [one for one in found if one[1] == "FAILED"]
    others = [one for one in found if one[1] != "FAILED"]
    return [*failed[: MOST - min(len(others), MOST // 2)], *others][:MOST]


def _concern(row: Execution, now: datetime) -> tuple[Kind | None, datetime]:
    if row.status == ExecutionStatus.SCHEDULED:
        return "RETRYING", row.confirmed_time or row.create_time
    confirmed = row.confirmed_time or row.create_time
    if (row.lease_expires_at is not None and row.lease_expires_at < now) or now - confirmed > CONFIRMED_WITHIN:
        return "UNCONFIRMED", confirmed
    protected = getattr(row, "last_checkpoint", None) or row.start_time
    if row.status == ExecutionStatus.RUNNING and row.job_type == JobType.STREAMING and protected and now - protected > _overdue(row):
        return "NO_CHECKPOINT", protected
    return None, now


def _overdue(row: Execution) -> timedelta:
    seconds = row.resolved.get("checkpoint_interval", 60)
    return max(CHECKPOINT_WITHIN, MISSED_INTERVALS * timedelta(seconds=seconds if isinstance(seconds, int | float) else 60))


def _node_names(rows: Iterable[Execution]) -> dict[tuple[int, int, str], str]:
    """(job id, version, node id) → the node's name, in one query over the versions concerned."""
    wanted = {(row.job_id, row.version) for row in rows if row.error_node_id}
    if not wanted:
        return {}
    condition = Q()
    for job_id, version in wanted:
        condition |= Q(job_id=job_id, version=version)
    names = {}
    for job_id, version, text in JobVersion.objects.filter(condition).values_list("job_id", "version", "dag_definition"):
        for node_id, node in json.loads(text).get("nodes", {}).items():
            names[job_id, version, node_id] = str(node.get("name") or node_id)
    return names


def _out(row: Execution, kind: Kind, since: datetime, names: dict[tuple[int, int, str], str]) -> AttentionOut:
    lines = row.error_message.strip().splitlines()
    return AttentionOut(
        kind=kind,
        execution=execution_out(row),
        node_id=row.error_node_id,
        node_name=names.get((row.job_id, row.version, row.error_node_id), row.error_node_id),
        first_error_line=lines[0][:300] if lines else "",
        since=since,
    )
