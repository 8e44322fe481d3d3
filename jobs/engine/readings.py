"""How often sources are read at the same time, where that is more than once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from jobs.engine.events import Noticed, Report
from jobs.engine.grouping import QueryPlan
from jobs.engine.steps import Steps


def readings_told(steps: Steps, plans: Sequence[QueryPlan], report: Report) -> None:
    """Of a run that begins, which streaming queries read a source for themselves, and which read it several times."""
    for plan in plans:
        for node_id in sorted(plan.repeated):
            report(Noticed(f'"{steps.by_id[node_id].name}" is read once per way to "{plan.frontier}"', node_id))
    reading = Counter(node_id for plan in plans for node_id in plan.streaming if node_id in steps.sources)
    for node_id, queries in sorted(reading.items()):
        if queries > 1:
            report(Noticed(f'"{steps.by_id[node_id].name}" is read by {queries} queries, each for itself and in its own time', node_id))
