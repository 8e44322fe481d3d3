"""Rows of a plan counted where they come, go or are rejected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.engine.counts import SAMPLE_ROWS, Counter, Marks, Seen, rejection_told, row_text
from jobs.nodes.base import REJECTED
from jobs.nodes.columns import column
from jobs.nodes.misfits import empty_columns, reasons_told
from jobs.nodes.row_counts import RowCounts

#: Of the reason as it stands in the row, which may hold all that came.
_REASON_CHARACTERS = 200_000
#: Stands between the places of empty columns and the text of a row.
_BEHIND = ":"
_ROWS, _REJECTED, _TIMELESS, _TALLY = "rows", "rejected", "timeless", "tally "


@dataclass(frozen=True)
class _Counted:
    """Where the rows of a node are counted, and what is counted there."""

    counts: RowCounts
    frame: DataFrame

    def sample(self) -> tuple[tuple[str, str], ...]:
        kept = [(reason, *beside.split(_BEHIND, 1)) for reason, beside in self.counts.texts()]
        told = reasons_told(self.frame.sparkSession, self.frame.schema, [(reason, empty) for reason, empty, _ in kept])
        return tuple(rejection_told(reason, row) for reason, (_, _, row) in zip(told, kept, strict=True))


@dataclass
class RowCounter(Counter):
    """Counts in the frames of a streaming plan or of a batch, each node once. A batch's numbers stand as soon as Spark has computed it.

    `beside`: nodes of which Spark wants no row to differ when it reads them (`Steps.read_within`).
    """

    beside: frozenset[str] = frozenset()
    _nodes: dict[str, _Counted] = field(default_factory=dict)
    _routed: set[str] = field(default_factory=set)
    _timeless: dict[str, dict[str, RowCounts]] = field(default_factory=dict)  # node → input port → those of its rows

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        if node_id in self._nodes:  # a second occurrence of the same node in a streaming plan
            return frame
        if ports is not None:
            self._routed.add(node_id)
        measures = dict(ports) if ports is not None else _measures(frame, tallies or {})
        counts = RowCounts(frame.sparkSession, node_id, measures, SAMPLE_ROWS if sample else 0)
        self._nodes[node_id] = _Counted(counts, frame)
        kept = _kept(frame) if sample else None
        return counts.beside(frame, kept) if node_id in self.beside else counts.within(frame, kept)

    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        counted = self._timeless.setdefault(node_id, {})
        if port in counted:
            return frame
        counted[port] = RowCounts(frame.sparkSession, f"{node_id} without a time", {_TIMELESS: column(time).isNull()})
        return counted[port].within(frame)

    def forget(self, node_ids: Iterable[str]) -> None:
        for node_id in node_ids:
            self._nodes.pop(node_id, None)
            self._timeless.pop(node_id, None)

    def begin(self) -> None:
        """Another batch of the stream begins."""
        for counts in (
            *(counted.counts for counted in self._nodes.values()),
            *(counts for ports in self._timeless.values() for counts in ports.values()),
        ):
            counts.begin()

    def seen(self, *, so_far: bool = False) -> dict[str, Seen]:
        return {node_id: self._seen(node_id, counted, so_far) for node_id, counted in list(self._nodes.items())}

    def _seen(self, node_id: str, counted: _Counted, so_far: bool) -> Seen:
        rows = counted.counts.rows(so_far=so_far)
        if node_id in self._routed:
            return Seen(sum(rows.values()), ports=rows)
        rejected = rows.get(_REJECTED, 0)
        return Seen(
            rows[_ROWS],
            rejected,
            sample=counted.sample() if rejected and not so_far else (),
            tallies={name.removeprefix(_TALLY): number for name, number in rows.items() if name.startswith(_TALLY)},
            timeless=sum(one.rows(so_far=so_far)[_TIMELESS] for one in list(self._timeless.get(node_id, {}).values())),
        )


def _kept(frame: DataFrame) -> tuple[Column, Column, Column]:
    """Which rows are kept, and what of them. What is said of a misfit is worked out later: those functions Spark cannot compile."""
    reason = F.substring(F.col(REJECTED), 1, _REASON_CHARACTERS)
    return F.col(REJECTED).isNotNull(), reason, F.concat(empty_columns(frame), F.lit(_BEHIND), row_text(frame))


def _measures(frame: DataFrame, tallies: Marks) -> dict[str, Column | None]:
    told: dict[str, Column | None] = {_TALLY + name: counts for name, counts in tallies.items()}
    if REJECTED not in frame.columns:
        return {_ROWS: None, **told}
    return {_ROWS: F.col(REJECTED).isNull(), _REJECTED: F.col(REJECTED).isNotNull(), **told}
