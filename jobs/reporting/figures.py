"""An execution's figures of one moment, as a live message and as a sample that is kept."""

import json
from typing import Any

from jobs import broadcast
from jobs.models import MetricSample
from jobs.reporting.counts import Tally


def metrics_message(figures: dict[str, Any], *, as_of_seq: int) -> broadcast.MetricsMessage:
    """`figures` as the reporter gathers them: time, totals, what has passed so far, rates, the newest batch and one under way, backlog,
    buffers, watermark, state, what is old. The nodes have what has passed, also of batches that are not written yet."""
    message = _message(figures, figures["so_far"]["nodes"], as_of_seq=as_of_seq)
    if figures["under_way"] is None:
        return message
    return message.model_copy(update={"nodes_written": _nodes(figures, figures["totals"]["nodes"])})


def _message(figures: dict[str, Any], nodes: Tally, *, as_of_seq: int) -> broadcast.MetricsMessage:
    totals, rates = figures["totals"], figures["rates"]
    return broadcast.MetricsMessage(
        as_of_seq=as_of_seq,
        time=figures["time"],
        rows_in=totals["in"],
        rows_out=totals["out"],
        rows_rejected=totals["rejected"],
        in_per_second=rates["in"],
        out_per_second=rates["out"],
        processed_per_second=figures["processed_per_second"],
        rejected_per_second=rates["rejected"],
        batch_id=figures["batch_id"],
        batch_ms=figures["batch_ms"],
        durations_ms=figures["durations_ms"],
        under_way=figures["under_way"],
        backlog=figures["backlog"],
        **figures["buffers"],
        watermark=figures["watermark"],
        state_rows=figures["state_rows"],
        state_bytes=figures["state_bytes"],
        nodes=_nodes(figures, nodes),
    )


def _nodes(figures: dict[str, Any], nodes: Tally) -> dict[str, broadcast.NodeMetrics]:
    rates, outdated = figures["rates"]["nodes"], figures["outdated"]
    return {node_id: _node(counts, rates.get(node_id, {}), outdated.get(node_id, "")) for node_id, counts in nodes.items()}


def _node(counts: Tally, rates: Tally, outdated_since: str) -> broadcast.NodeMetrics:
    return broadcast.NodeMetrics(
        rows_in=counts.get("in"),
        rows_out=counts.get("out"),
        rejected=counts.get("rejected") or 0,
        late=counts.get("late") or 0,
        timeless=counts.get("timeless") or 0,
        in_per_second=rates.get("in"),
        out_per_second=rates.get("out"),
        outdated_since=outdated_since,
    )


def sample_of(execution_id: str, figures: dict[str, Any]) -> MetricSample:
    """`detail` holds what the message has beyond the columns, under the same names; of nodes what is written, as a driver may die."""
    message = _message(figures, figures["totals"]["nodes"], as_of_seq=0)
    columns = {name: getattr(message, name) for name in ("rows_in", "rows_out", "rows_rejected", "in_per_second", "out_per_second")}
    columns |= {name: getattr(message, name) for name in ("batch_id", "batch_ms", "backlog")}
    detail = json.loads(message.model_dump_json(by_alias=True, exclude={"type", "as_of_seq", "time", "nodes_written", *columns}))
    return MetricSample(execution_id=execution_id, resolution=1, time=figures["time"].replace(microsecond=0), detail=detail, **columns)


def columns_of(totals: Tally) -> dict[str, int]:
    """Totals as columns of the execution."""
    return {"processed_records": totals["in"], "written_records": totals["out"], "failed_records": totals["rejected"]}
