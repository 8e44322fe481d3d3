"""Rows per node and batch, read from what Spark observed while it wrote; a sample of rejected rows comes the same way."""

from __future__ import annotations

import csv
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

from jobs.engine.events import NodeCounts
from jobs.engine.steps import Steps
from jobs.nodes.base import AS_IT_CAME, LINE_MISFIT, REJECTED
from jobs.nodes.columns import column
from jobs.nodes.executions import observed_row
from jobs.nodes.misfits import reason_told

#: How many rejected rows of one node and batch are kept to look at, and how much of each.
SAMPLE_ROWS = 100
_DELIMITERS = (",", ";", "\t", "|")
_SAMPLE_CHARACTERS = 10_000
PREFIX = "rows_"
_PORT = "port "
_PATIENCE_SECONDS = 5.0
_TALLY = "tally "
#: Stands before a node's id and one of its inputs in the name under which rows without a time are counted.
_TIMELESS = "timeless_"
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

    def good(self, frame: DataFrame, node_id: str) -> DataFrame:
        """The rows of a counted `frame` that are not rejected."""
        return frame.filter(F.col(REJECTED).isNull())


class NoCounter(Counter):
    """Counts nothing: for schemas and previews."""

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        return frame

    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        return frame


@dataclass
class StreamCounter(Counter):
    """Counts inside a streaming plan; each batch is read from the query's last execution before Spark commits the batch."""

    node_ids: set[str] = field(default_factory=set)
    timed: dict[str, str] = field(default_factory=dict)  # name of an observation → its node

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        if node_id in self.node_ids:  # a second occurrence of the same node
            return frame
        self.node_ids.add(node_id)
        return frame.observe(PREFIX + node_id, *_measures(frame, sample, ports, tallies or {}))

    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        name = f"{_TIMELESS}{node_id}.{port}"
        if name in self.timed:
            return frame
        self.timed[name] = node_id
        return frame.observe(name, _without(time))

    def seen(self, spark: SparkSession, execution: Any) -> dict[str, Seen]:
        """What the batch that is being written has seen so far; nodes that Spark did not reach are missing."""
        seen = self.rows_seen(spark, execution)
        for name, node_id in self.timed.items():
            if (metrics := execution.observedMetrics()).contains(name):
                _add_timeless(seen, node_id, metrics.apply(name).getLong(0))
        return seen

    def rows_seen(self, spark: SparkSession, execution: Any) -> dict[str, Seen]:
        return {node_id: seen_of(row) for node_id, row in observed_rows(spark, execution, self.node_ids).items()}


def last_execution(query: StreamingQuery) -> Any:
    """Spark's execution of the batch that is being written, or was written last."""
    java_query: Any = query._jsq
    return java_query.streamingQuery().lastExecution()


def observed_rows(spark: SparkSession, execution: Any, node_ids: set[str]) -> dict[str, dict[str, Any]]:
    """What an execution of Spark observed, by node."""
    found = {node_id: observed_row(spark, execution, PREFIX + node_id) for node_id in node_ids}
    return {node_id: row for node_id, row in found.items() if row is not None}


@dataclass
class BatchCounter(Counter):
    """Counts inside one batch's own frames; the first action that computes a frame completely decides."""

    observations: dict[str, Observation] = field(default_factory=dict)
    timed: dict[str, dict[str, Observation]] = field(default_factory=dict)  # node → input port → observation

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        if node_id in self.observations:
            return frame
        observation = self.observations[node_id] = Observation(PREFIX + node_id)
        return frame.observe(observation, *_measures(frame, sample, ports, tallies or {}))

    def timeless(self, frame: DataFrame, node_id: str, port: str, time: str) -> DataFrame:
        observations = self.timed.setdefault(node_id, {})
        if port in observations:
            return frame
        observation = observations[port] = Observation(f"{_TIMELESS}{node_id}.{port}")
        return frame.observe(observation, _without(time))

    def forget(self, node_ids: Iterable[str]) -> None:
        for node_id in node_ids:
            self.observations.pop(node_id, None)
            self.timed.pop(node_id, None)

    def seen(self) -> dict[str, Seen]:
        """Spark tells what it observed a moment after the action: wait for it, but not for ever."""
        deadline = time.monotonic() + _PATIENCE_SECONDS
        arrived = [node_id for node_id, observation in self.observations.items() if _arrived(observation, deadline)]
        seen = {node_id: seen_of(row) for node_id in arrived if (row := _observed(self.observations[node_id])) is not None}
        for node_id in seen.keys() & self.timed.keys():
            for observation in self.timed[node_id].values():
                row = _observed(observation) if _arrived(observation, deadline) else None
                _add_timeless(seen, node_id, row["rows"] if row else 0)
        return seen


def _without(time: str) -> Column:
    return F.count_if(column(time).isNull()).alias("rows")


def _add_timeless(seen: dict[str, Seen], node_id: str, rows: int) -> None:
    if node_id in seen:
        seen[node_id] = replace(seen[node_id], timeless=seen[node_id].timeless + rows)


def _observed(observation: Observation) -> dict[str, Any] | None:
    """None where Spark left out of its plan what was to be observed; PySpark fails on such an answer."""
    java_observation: Any = observation._jo
    return observation.get if java_observation.getRow().length() else None


def _arrived(observation: Observation, deadline: float) -> bool:
    java_observation: Any = observation._jo
    arrival = java_observation.future()
    while not arrival.isCompleted():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return bool(arrival.value().get().isSuccess())


def _measures(frame: DataFrame, sample: bool, ports: Marks | None, tallies: Marks) -> list[Column]:
    if ports is not None:
        return [F.count_if(is_its).alias(_PORT + port) for port, is_its in ports.items()]
    told = [F.count_if(counts).alias(_TALLY + words) for words, counts in tallies.items()]
    if REJECTED not in frame.columns:
        return [F.count(F.lit(1)).alias("rows"), *told]
    return [F.count_if(F.col(REJECTED).isNull()).alias("rows"), *rejection_measures(frame, sample), *told]


def rejection_measures(frame: DataFrame, sample: bool) -> list[Column]:
    """How many rows of `frame` are rejected, and some of them."""
    rejected = F.col(REJECTED).isNotNull()
    measures = [F.count_if(rejected).alias("rejected")]
    if sample:
        row = F.when(rejected, rejected_row(frame))
        order = F.when(rejected, F.xxhash64(F.col(REJECTED)))
        measures.append(F.call_function("max_by", row, order, F.lit(SAMPLE_ROWS)).alias("sample"))
    return measures


def rejected_row(frame: DataFrame) -> Column:
    """What is kept of a rejected row: a struct of "reason" and "row", its JSON text cut to a bearable length."""
    columns = [column(name) for name in frame.columns if name != REJECTED]
    text = F.to_json(F.struct(*columns), {"ignoreNullFields": "false"}) if columns else F.lit("{}")
    return F.struct(reason_told(frame).alias("reason"), F.substring(text, 1, _SAMPLE_CHARACTERS).alias("row"))


def rejection_told(reason: str, row: str) -> tuple[str, str]:
    """Reason and row of a rejected row for people: the row as it came where the reason holds it, and which columns were lost on it,
    where the reason does not name one itself.
    """
    why, found, came = reason.partition(AS_IT_CAME)
    if not found:
        return reason, row
    lost = "" if ": " in why else _lost(came, row, is_line=why == LINE_MISFIT)
    return f"{why}: {lost}" if lost else why, came


def _lost(came: str, row: str, *, is_line: bool) -> str:
    """The columns that the text had a value for and the row has none, or how many values it has; "" where that cannot be told."""
    try:
        kept = json.loads(row)
        given = _delimited(came, list(kept)) if is_line else json.loads(came)
    except (ValueError, csv.Error):  # another format, or cut off
        return ""
    if isinstance(given, int):
        return f"{given} value{'s' if given != 1 else ''} for {len(kept)} columns"
    if not isinstance(given, dict):
        return ""
    return ", ".join(name for name, value in kept.items() if value is None and given.get(name) not in (None, ""))


def _delimited(came: str, names: list[str]) -> dict[str, str] | int:
    """The values of a line by name, or their number when it is another one: with the delimiter that parts it best."""
    ways = [next(csv.reader([came], delimiter=delimiter), []) for delimiter in _DELIMITERS]
    fitting = next((values for values in ways if len(values) == len(names)), None)
    return dict(zip(names, fitting, strict=True)) if fitting else max(len(values) for values in ways)


def seen_of(row: Mapping[str, Any]) -> Seen:
    """What an observation of a node says: `row` by the names of its measures."""
    if ports := {name.removeprefix(_PORT): int(rows) for name, rows in row.items() if name.startswith(_PORT)}:
        return Seen(rows=sum(ports.values()), ports=ports)
    sample = tuple(rejection_told(item["reason"], item["row"]) for item in row.get("sample") or () if item is not None)
    tallies = {name.removeprefix(_TALLY): int(rows) for name, rows in row.items() if name.startswith(_TALLY)}
    return Seen(rows=int(row["rows"]), rejected=int(row.get("rejected") or 0), sample=sample, tallies=tallies)


def node_counts(steps: Steps, node_ids: Iterable[str], seen: Mapping[str, Seen], written: Mapping[str, Any]) -> dict[str, NodeCounts]:
    """Counts of `node_ids` (in topological order): a node that was not observed passes on what came in.

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
