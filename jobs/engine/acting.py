"""Nodes that act on other systems: what they do for each row of a batch is done once, before any sink gets a row."""

from __future__ import annotations

from dataclasses import dataclass, field

from pyspark import StorageLevel
from pyspark.sql import DataFrame

from jobs.engine.frames import Frames
from jobs.engine.grouping import is_whole, query_plans, ways_to
from jobs.engine.steps import Steps
from jobs.nodes.base import Flow, NodeError


def kept(frame: DataFrame) -> DataFrame:
    """`frame` computed once, however often it is read; on disk where memory does not do."""
    return frame.persist(StorageLevel.MEMORY_AND_DISK)


@dataclass
class Acting:
    """Of one batch: keeps the rows of each node that acts, since Spark computes anew what is read again, and nothing of what is not read.

    A task that Spark tries again, and a batch that is begun again, act again.
    """

    steps: Steps
    _kept: list[DataFrame] = field(default_factory=list)

    def keep(self, node_id: str, frame: DataFrame) -> DataFrame:
        """`frame` of the node, kept if it acts."""
        return self.keep_whole(frame) if self.steps.plan.is_run and self.steps.acts(node_id) else frame

    def keep_whole(self, frame: DataFrame) -> DataFrame:
        """`frame` with all that acts above it."""
        self._kept.append(kept(frame))
        return self._kept[-1]

    def carry_out(self, frames: Frames, sinks: tuple[str, ...]) -> None:
        """Act for all rows, in the order of the nodes. None of those that act stands behind a sink."""
        for sink in sinks:
            if self.steps.sinks_above(sink):
                continue
            frames.into(sink)  # every frame that has to be kept is known then
        for frame in self._kept:
            frame.count()

    def let_go(self) -> None:
        for frame in self._kept:
            frame.unpersist()
        self._kept.clear()


def refuse_repeats(steps: Steps, node_id: str) -> None:
    """NodeError where the rows of a node that must be computed once a batch would be computed more often.

    Spark computes anew what a reference gives each time it is read, and what several queries read in each of them.
    """
    node_type = steps.types[node_id]
    if not isinstance(node_type, Flow) or not node_type.computes_once:
        return
    if any(arrow.reference for arrow in steps.arrows if node_id in steps.upstream((arrow.source,))):
        raise _too_often("a node behind it reads its rows as a table beside the stream, again and again", "put it on the other input")
    if not is_whole(steps) and _times_in_stream(steps, node_id) > 1:
        raise _too_often("what stands behind it needs queries of its own, each of which reads it", "put it behind where the ways part")


def _times_in_stream(steps: Steps, node_id: str) -> int:
    """How often the streaming queries compute it in each batch; once a query where it stands behind the frontier."""
    reading = [plan for plan in query_plans(steps) if node_id in plan.nodes]
    return sum(ways_to(steps, plan.frontier)[node_id] if node_id in plan.streaming else 1 for plan in reading)


def _too_often(why: str, remedy: str) -> NodeError:
    return NodeError(f"it would do its work several times for each row: {why}; {remedy}", permanent=True, kind="user")
