"""What can stand behind the errors port of a sink: its rows are known only once a batch is written there, and belong to that batch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.engine.grouping import is_whole, splits
from jobs.engine.steps import Steps
from jobs.nodes.base import Flow, NodeError
from jobs.nodes.rejected_rows import unkept_column

if TYPE_CHECKING:
    from pyspark.sql.types import StructType


def refuse_behind_sinks(steps: Steps, node_id: str) -> None:
    """NodeError where rows that a sink rejects come to a node which cannot take them."""
    if beside := _read_beside(steps, node_id):
        raise _refused(
            f'it reads what "{beside}" rejects as a table beside the stream, which is empty before that is written',
            "read the place where those rows are written",
        )
    above = steps.sinks_above(node_id)
    if not above:
        return
    name = f'"{steps.by_id[above[-1]].name}"'
    if node_id in steps.sinks and not is_whole(steps) and splits(steps, node_id):
        raise _refused(f"what {name} rejects comes together here with rows of another query", "give each of them a sink of its own")
    node_type = steps.types[node_id]
    if isinstance(node_type, Flow) and steps.plan.job_type == "STREAMING" and steps.is_stateful(node_id):
        raise _refused(
            f"it keeps state, and what {name} rejects is known only within a batch", f"put it before {name}, or into another job"
        )
    if isinstance(node_type, Flow) and node_type.computes_once:
        remedy = "send those rows to a sink instead"
        raise _refused(f"it does its work before any sink is written, and what {name} rejects is known only behind that", remedy)


def refuse_led_on(steps: Steps, node_id: str, schema: StructType) -> None:
    """NodeError where rows of `schema`, which a sink rejects, could not come out of its errors port as they came in."""
    if steps.leads_errors_on(node_id) and (name := unkept_column(schema)):
        why = f"its errors port cannot lead on {name}, a mapping whose keys are no texts"
        raise _refused(why, "make its keys texts before, or leave the port alone")


def _read_beside(steps: Steps, node_id: str) -> str:
    """The name of a sink whose rejected rows are read whole beside the stream; "" where there is none."""
    for arrow in steps.arriving(node_id, references=True):
        sinks = [other for other in steps.upstream((arrow.source,)) if other in steps.sinks]
        if arrow.reference and sinks:
            return steps.by_id[sinks[-1]].name
    return ""


def _refused(why: str, remedy: str) -> NodeError:
    return NodeError(f"{why}; {remedy}", permanent=True, kind="user")
