"""Rows of a query in real time, which Spark observes and tells with its report of a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from jobs.engine.counts import SAMPLE_ROWS, Counter, Marks, Seen, rejection_told, row_text
from jobs.nodes.base import REJECTED
from jobs.nodes.misfits import reason_told

_ROWS_OF = "rows_"
_PORT = "port "
_TALLY = "tally "


@dataclass
class ObservingCounter(Counter):
    """What reads each row as it comes runs on from one batch into the next: only Spark knows which rows belong to which."""

    _nodes: set[str] = field(default_factory=set)

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        if node_id in self._nodes:
            return frame
        self._nodes.add(node_id)
        return frame.observe(_ROWS_OF + node_id, *_measures(frame, sample, ports, tallies or {}))

    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        raise AssertionError("nothing that goes by time runs in real time")


def seen_in_report(progress: Mapping[str, Any]) -> dict[str, Seen]:
    """By node, from Spark's report of a batch."""
    observed = progress.get("observedMetrics") or {}
    return {name.removeprefix(_ROWS_OF): _seen_of(row) for name, row in observed.items() if name.startswith(_ROWS_OF)}


def _measures(frame: DataFrame, sample: bool, ports: Marks | None, tallies: Marks) -> list[Column]:
    if ports is not None:
        return [F.count_if(is_its).alias(_PORT + port) for port, is_its in ports.items()]
    told = [F.count_if(counts).alias(_TALLY + words) for words, counts in tallies.items()]
    if REJECTED not in frame.columns:
        return [F.count(F.lit(1)).alias("rows"), *told]
    rejected = F.col(REJECTED).isNotNull()
    measures = [F.count_if(~rejected).alias("rows"), F.count_if(rejected).alias("rejected"), *told]
    if sample:
        kept = F.when(rejected, F.struct(reason_told(frame).alias("reason"), row_text(frame).alias("row")))
        order = F.when(rejected, F.xxhash64(F.col(REJECTED)))
        measures.append(F.call_function("max_by", kept, order, F.lit(SAMPLE_ROWS)).alias("sample"))
    return measures


def _seen_of(row: Mapping[str, Any]) -> Seen:
    if ports := {name.removeprefix(_PORT): int(rows) for name, rows in row.items() if name.startswith(_PORT)}:
        return Seen(rows=sum(ports.values()), ports=ports)
    sample = tuple(rejection_told(item["reason"], item["row"]) for item in row.get("sample") or () if item is not None)
    tallies = {name.removeprefix(_TALLY): int(rows) for name, rows in row.items() if name.startswith(_TALLY)}
    return Seen(rows=int(row["rows"]), rejected=int(row.get("rejected") or 0), sample=sample, tallies=tallies)
