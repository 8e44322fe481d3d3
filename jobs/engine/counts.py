"""Rows per node and batch, and a sample of the rejected ones."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.engine.events import NodeCounts
from jobs.engine.steps import Steps
from jobs.nodes.base import AS_IT_CAME, REJECTED
from jobs.nodes.columns import column
from jobs.nodes.json_options import JSON_AS_WRITTEN

#: How many rejected rows of one node and batch are kept to look at, and how much of each.
SAMPLE_ROWS = 100
_SAMPLE_CHARACTERS = 10_000
#: Output port, or what is counted besides → a column that is true for the rows that count there.
Marks = Mapping[str, Column]


@dataclass(frozen=True)
class Seen:
    """What passed behind one node in one batch. `sample`: (reason, JSON text) of rejected rows.

    `ports`: rows of each output port, of a node that sends them to several. `tallies`: what else was counted, by its name.
    `late`: what a stream left out as too late; `timeless`: what was left out because it has no time.
    """

    rows: int
    rejected: int = 0
    sample: tuple[tuple[str, str], ...] = ()
    ports: Mapping[str, int] = field(default_factory=dict)
    tallies: Mapping[str, int] = field(default_factory=dict)
    late: int = 0
    timeless: int = 0


class Counter(ABC):
    @abstractmethod
    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        """`frame` with its rows counted for `node_id` whenever it is computed; a column REJECTED tells good from bad.

        `ports`: output port → what is true for its rows, where they go to several; `tallies`: name → what else to count.
        """

    @abstractmethod
    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        """`frame`, which arrives at an input of the node, with those of its rows counted that have no value in the column `time`."""

    def forget(self, node_ids: Iterable[str]) -> None:
        """Frames of these nodes that were counted are not computed: others take their places."""
        return

    def begin(self) -> None:
        """Another batch of a stream begins."""
        return

    def seen(self, *, so_far: bool = False) -> dict[str, Seen]:
        """What was computed of the batch, by node; `so_far`: with what passed in tasks at work, without samples, and from any thread."""
        return {}


class NoCounter(Counter):
    """Counts nothing: for schemas and previews."""

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        return frame

    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        return frame


def row_text(frame: DataFrame) -> Column:
    """What is kept of a rejected row beside its reason: its JSON text, cut to a bearable length."""
    columns = [column(name) for name in frame.columns if name != REJECTED]
    text = F.to_json(F.struct(*columns), JSON_AS_WRITTEN) if columns else F.lit("{}")
    return F.substring(text, 1, _SAMPLE_CHARACTERS)


def rejection_told(reason: str, row: str) -> tuple[str, str]:
    """Reason and row of a rejected row for people: the row as it came where the reason holds it."""
    why, found, came = reason.partition(AS_IT_CAME)
    return (why, came) if found else (reason, row)


def node_counts(steps: Steps, node_ids: Iterable[str], seen: Mapping[str, Seen], written: Mapping[str, Any]) -> dict[str, NodeCounts]:
    """Counts of `node_ids` (in topological order): a node that was not counted passes on what came in.

    `written`: sink id → its `Written`. Where a number cannot be known it is None.
    """
    rows: dict[tuple[str, str], int | None] = {}
    counts: dict[str, NodeCounts] = {}
    for node_id in node_ids:
        incoming = [rows.get((arrow.source, arrow.port)) for arrow in steps.arriving(node_id)]
        rows_in = None if not incoming or None in incoming else sum(filter(None, incoming))
        own = seen.get(node_id)
        rows_out = own.rows if own else (None if steps.types[node_id].changes_row_count else rows_in)
        rejected = own.rejected if own else 0
        if node_id in written:
            result = written[node_id]
            rejected += result.rejected
            rows_out = rows_in - result.rejected if rows_in is not None else result.rows
        own = own or Seen(0)
        counts[node_id] = NodeCounts(rows_in, rows_out, rejected, tallies=own.tallies, late=own.late, timeless=own.timeless)
        for port in steps.by_id[node_id].outputs_used:
            rest = {"errors": rejected, "out": rows_out, "late": own.late}
            rows[(node_id, port)] = own.ports.get(port) if own.ports else rest.get(port)
    return counts
