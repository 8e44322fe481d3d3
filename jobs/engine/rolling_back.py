"""Sinks going back to the checkpoint that a generation begins with, before its first batch, where a person asked for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jobs.engine.events import Noticed, Report
from jobs.engine.failure import AtNode
from jobs.engine.offset_log import named_offsets
from jobs.engine.plan import RollBackPlan
from jobs.engine.progress import last_committed
from jobs.engine.query import StreamQuery
from jobs.engine.steps import Steps
from jobs.nodes.roll_back import Hindrance, RollBack, RollBackPoint

_WHY: Mapping[Hindrance, str] = {
    "kept": "what it wrote cannot be taken back",
    "sent": "messages that were sent cannot be taken back; readers tell repeats by the message id, where there is one",
    "nothing": "it keeps no rows",
    "columns": "the table has no columns _generation and _batch, which would tell the rows of later batches",
    "shared": "another node of the job writes to the same table, in batches of its own",
    "delta": "rows of a Delta table do not tell their batch",
    "silent": "its target cannot be asked now",
}


def roll_back_points(steps: Steps, wanted: RollBackPlan) -> dict[str, RollBackPoint]:
    """Sink → where its target goes back to."""
    targets = {sink: steps.sink(sink).target_of(steps.by_id[sink].config) for sink in steps.sinks}

    def is_shared(sink: str) -> bool:
        beside = [other for other, target in targets.items() if target and other != sink and target == targets[sink]]
        return any(wanted.batches.get(other) != wanted.batches.get(sink) for other in beside)

    return {sink: RollBackPoint(wanted.generation, wanted.batches.get(sink), wanted.later, shared=is_shared(sink)) for sink in steps.sinks}


def sinks_roll_back(steps: Steps, queries: Sequence[StreamQuery], report: Report) -> None:
    """Every sink of a query that has written nothing in this generation; none where a source no longer has what is to be read again.
    Repeatable, so that a crash in it does no harm.

    Call it when all sinks have raised their fences: nobody else writes then.
    """
    if (wanted := steps.plan.roll_back) is None:
        return
    points = roll_back_points(steps, wanted)
    begin_at = {query.key: max((wanted.batches.get(sink, -1) for sink in query.plan.sinks), default=-1) for query in queries}
    going_back = [query for query in queries if last_committed(query.folder) <= begin_at[query.key]]
    if going_back:
        _inputs_check(steps, queries)
    for query in going_back:
        for sink in query.plan.sinks:
            _roll_back(steps, sink, points[sink], report)


def _inputs_check(steps: Steps, queries: Sequence[StreamQuery]) -> None:
    """AtNode where a source cannot read on: rows that were taken back would come no more."""
    for query in queries:
        batch = last_committed(query.folder)
        for name, position in named_offsets(query.folder, batch).items() if batch >= 0 else ():
            if (node_id := query.source_names.get(name)) is None:  # of a source that was taken out
                continue
            try:
                steps.source(node_id).check_input(position, steps.context(node_id, "stream"))
            except Exception as error:
                raise AtNode(node_id, error) from error


def _roll_back(steps: Steps, sink: str, point: RollBackPoint, report: Report) -> None:
    try:
        done = steps.sink(sink).roll_back(steps.context(sink, "batch"), point)
    except Exception as error:
        raise AtNode(sink, error) from error
    detail = {"roll_back": done.way, "unit": done.unit, "count": done.count, "hindrance": done.hindrance}
    severity = "warning" if done.way == "repeated" and done.hindrance != "nothing" else "info"
    report(Noticed(roll_back_done_words(steps.by_id[sink].name, done), sink, severity, detail))


def roll_back_done_words(name: str, done: RollBack) -> str:
    """What became of rows behind the checkpoint, in a sentence."""
    if done.way == "removed":
        return f'"{name}" was rolled back: {done.count or 0:,} {done.unit} written behind the checkpoint were removed'
    return roll_back_words(name, done)


def roll_back_words(name: str, view: RollBack) -> str:
    """What would become of rows behind the checkpoint, in a sentence."""
    if view.way == "removed" and view.count is not None:
        return f'"{name}": {view.count:,} {view.unit} written since this checkpoint are removed'
    if view.way == "removed":
        return f'"{name}": the {view.unit} of batches since this checkpoint are deleted, in one transaction'
    if view.way == "replaced":
        return f'"{name}": rows that come again replace those with the same keys; nothing has to be removed'
    again = "" if view.hindrance == "nothing" else ". Rows since this checkpoint come again"
    return f'"{name}" cannot be rolled back: {_WHY[view.hindrance]}{again}'
