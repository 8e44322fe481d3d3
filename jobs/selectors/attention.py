"""What a person should look at now, the worst first."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from django.conf import settings
from django.db.models import Q, QuerySet

from checkpoints.models import Checkpoint, CheckpointStatus
from jobs.models import LEASED, Execution, ExecutionStatus, JobVersion
from jobs.selectors.executions import execution_out, executions_for_lists, jobs_fetch
from jobs.selectors.overdue import checkpoints_overdue, overdue_since
from jobs.selectors.shapes.overview import AttentionOut

MOST = 20
#: A driver confirms many times within its lease; so long past the end of one, nobody knows what the execution does.
_PATIENCE = timedelta(seconds=5)

Kind = Literal["FAILED", "UNCONFIRMED", "WAITING", "RETRYING", "NO_CHECKPOINT", "DAMAGED"]


class Concern(NamedTuple):
    """`words` are empty where the execution itself has them."""

    row: Execution
    kind: Kind
    since: datetime
    words: str = ""


class FailedNode(NamedTuple):
    name: str
    type: str


def attention_out(visible: QuerySet[Execution], failing: Sequence[int], now: datetime) -> tuple[list[AttentionOut], int]:
    """Failed (row ids, newest first), then unconfirmed, waiting, retrying and unprotected executions, then those of which a checkpoint is
    damaged; at most 20, and of how many."""
    failed = list(executions_for_lists(visible.filter(pk__in=failing[:MOST])).prefetch_related(None).order_by("-end_time", "-id"))
    retrying = Q(status=ExecutionStatus.SCHEDULED, retry_count__gt=0) | Q(status=ExecutionStatus.SCHEDULED, next_attempt_at__gt=now)
    # Not ordered by the database: it would walk along the whole history instead of taking the few unfinished by their status.
    unfinished = visible.filter(status__in=(*LEASED, ExecutionStatus.SCHEDULED)).filter(Q(status__in=LEASED) | retrying).order_by()
    newest = executions_for_lists(unfinished).prefetch_related(None)[:500]
    current = sorted(newest, key=lambda row: (row.create_time, row.pk), reverse=True)
    jobs_fetch([*failed, *current])
    found = [Concern(row, "FAILED", row.end_time or row.create_time) for row in failed]
    for row in current:
        kind, since = _concern(row, now)
        if kind is not None:
            found.append(Concern(row, kind, since))
    found = [*_less_idle(found, now), *_damaged(current)]
    total = len(found) + max(0, len(failing) - MOST)
    shown = _within(found)
    nodes = _failed_nodes(one.row for one in shown)
    return [_out(one, nodes) for one in shown], total


def _less_idle(found: list[Concern], now: datetime) -> list[Concern]:
    """Without the executions that had nothing to protect for long since their last checkpoint."""
    overdue = checkpoints_overdue((one.row for one in found if one.kind == "NO_CHECKPOINT"), now)
    return [one for one in found if one.kind != "NO_CHECKPOINT" or one.row.execution_id in overdue]


def _damaged(current: Sequence[Execution]) -> list[Concern]:
    """One for each of the executions that keeps checkpoints found damaged: the newest of these, until it is deleted or whole again."""
    rows = {row.execution_id: row for row in current}
    kept = Checkpoint.objects.filter(status=CheckpointStatus.COMPLETED, execution__in=list(rows)).exclude(failure_reason="")
    newest = {one.execution_id: one for one in kept.only("execution", "checkpoint_id", "complete_time", "failure_reason").order_by("pk")}
    return [
        Concern(rows[execution_id], "DAMAGED", one.complete_time or rows[execution_id].create_time, _words(one))
        for execution_id, one in newest.items()
    ]


def _words(checkpoint: Checkpoint) -> str:
    return f"checkpoint {checkpoint.checkpoint_id} cannot be restored: {checkpoint.failure_reason}"


def _within(found: list[Concern]) -> list[Concern]:
    """At most MOST, the failed first; but what goes wrong right now keeps half of the places."""
    failed = [one for one in found if one.kind == "FAILED"]
    others = [one for one in found if one.kind != "FAILED"]
    return [*failed[: MOST - min(len(others), MOST // 2)], *others][:MOST]


def _concern(row: Execution, now: datetime) -> tuple[Kind | None, datetime]:
    if row.status == ExecutionStatus.SCHEDULED:
        return "RETRYING", row.confirmed_time or row.create_time
    confirmed, term = row.confirmed_time or row.create_time, timedelta(seconds=settings.LEASE_SECONDS) + _PATIENCE
    if (row.lease_expires_at is not None and row.lease_expires_at < now) or now - confirmed > term:
        return "UNCONFIRMED", confirmed
    if row.waiting_for and row.waiting_since is not None:
        return "WAITING", row.waiting_since
    overdue = overdue_since(row, now)
    return ("NO_CHECKPOINT", overdue) if overdue else (None, now)


def _node_id(row: Execution) -> str:
    return row.error_node_id or row.waiting_node_id


def _failed_nodes(rows: Iterable[Execution]) -> dict[tuple[int, int, str], FailedNode]:
    """(job id, version, node id) → the node, in one query over the versions concerned."""
    wanted = {(row.job_id, row.version) for row in rows if _node_id(row)}
    if not wanted:
        return {}
    condition = Q()
    for job_id, version in wanted:
        condition |= Q(job_id=job_id, version=version)
    nodes = {}
    for job_id, version, text in JobVersion.objects.filter(condition).values_list("job_id", "version", "dag_definition"):
        for node_id, node in json.loads(text).get("nodes", {}).items():
            nodes[job_id, version, node_id] = FailedNode(str(node.get("name") or node_id), str(node.get("type") or ""))
    return nodes


def _out(one: Concern, nodes: dict[tuple[int, int, str], FailedNode]) -> AttentionOut:
    row = one.row
    node_id = _node_id(row)
    node = nodes.get((row.job_id, row.version, node_id), FailedNode(node_id, ""))
    lines = (one.words or row.error_message).strip().splitlines()
    return AttentionOut(
        kind=one.kind,
        execution=execution_out(row),
        node_id=node_id,
        node_name=node.name,
        node_type=node.type,
        first_error_line=lines[0][:300] if lines else "",
        since=one.since,
    )
