"""What a person should look at now, the worst first."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from django.db.models import Q, QuerySet

from jobs.models import LEASED, Execution, ExecutionStatus, JobVersion
from jobs.selectors.executions import execution_out, executions_for_lists
from jobs.selectors.overdue import checkpoints_overdue, overdue_since
from jobs.selectors.shapes.overview import AttentionOut

MOST = 20
#: A driver confirms every few seconds; past this nobody knows what the execution does.
CONFIRMED_WITHIN = timedelta(seconds=20)

Kind = Literal["FAILED", "UNCONFIRMED", "WAITING", "RETRYING", "NO_CHECKPOINT"]
#: The execution, what is the matter, and since when.
Concern = tuple[Execution, Kind, datetime]


class FailedNode(NamedTuple):
    name: str
    type: str


def attention_out(visible: QuerySet[Execution], failing: Sequence[int], now: datetime) -> tuple[list[AttentionOut], int]:
    """Failed (row ids, newest first), then unconfirmed, waiting, retrying and unprotected executions; at most 20, and of how many."""
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
    found = _less_idle(found, now)
    total = len(found) + max(0, len(failing) - MOST)
    shown = _within(found)
    nodes = _failed_nodes(row for row, _, _ in shown)
    return [_out(row, kind, since, nodes) for row, kind, since in shown], total


def _less_idle(found: list[Concern], now: datetime) -> list[Concern]:
    """Without the executions that had nothing to protect for long since their last checkpoint."""
    overdue = checkpoints_overdue((row for row, kind, _ in found if kind == "NO_CHECKPOINT"), now)
    return [one for one in found if one[1] != "NO_CHECKPOINT" or one[0].execution_id in overdue]


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


def _out(row: Execution, kind: Kind, since: datetime, nodes: dict[tuple[int, int, str], FailedNode]) -> AttentionOut:
    node_id = _node_id(row)
    node = nodes.get((row.job_id, row.version, node_id), FailedNode(node_id, ""))
    lines = row.error_message.strip().splitlines()
    return AttentionOut(
        kind=kind,
        execution=execution_out(row),
        node_id=node_id,
        node_name=node.name,
        node_type=node.type,
        first_error_line=lines[0][:300] if lines else "",
        since=since,
    )
