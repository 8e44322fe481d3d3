"""Spark frames of a plan's steps, with counting behind the nodes where rows come, go or are rejected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.clock import clock_set
from jobs.engine.counts import Counter, NoCounter
from jobs.engine.endless import refuse_endless_table
from jobs.engine.failure import REJECTED_MARK, AtNode
from jobs.engine.late_rows import marked
from jobs.engine.references import References, UnkeptReferences
from jobs.engine.steps import LATE, Arrow, Steps, occurrence_above
from jobs.nodes.base import REJECTED, Flow, Routed, Sink, Source
from jobs.nodes.expressions import drawn_expressions
from jobs.nodes.misfits import SHOWN_TEXT, reason_told
from jobs.nodes.rejected_rows import rejected_none, with_reason

#: The frames of a node by port, each made when it is read: Spark analyses a frame as it is made, for every batch anew.
_Ports = Mapping[str, Callable[[], DataFrame]]


class Frames:
    """Builds the frame of any port once, from the sources or from `given` frames on.

    `given`: node id → its frames by port, already counted, rejected rows still inside "out". `within`: the nodes of the query;
    a streaming frame that several of them read is not shared, because Spark refuses one source twice in a query: each edge out
    of it gets an occurrence of its own, named by the edge. `keep` may persist a node's frame. `references` are kept from one batch
    to the next; `beside` is `given` for what they are made of, `static` are the frames themselves where they were built already.
    `clock_ms`: the time, to all that asks for it in a batch of a stream, or while a test's clock shows it; each sink is an action of
    its own, and Spark would tell each another time. `query_dir`: Spark's folder of a streaming query.
    """

    def __init__(
        self,
        steps: Steps,
        spark: SparkSession,
        counter: Counter,
        *,
        mode: Literal["stream", "batch"],
        given: Mapping[str, dict[str, DataFrame]] | None = None,
        counted: frozenset[str] = frozenset(),
        within: tuple[str, ...] | None = None,
        schema_only: bool = False,
        keep: Callable[[str, DataFrame], DataFrame] = lambda node_id, frame: frame,
        references: References | None = None,
        beside: Mapping[str, dict[str, DataFrame]] | None = None,
        static: Frames | None = None,
        clock_ms: int | None = None,
        query_dir: Path | None = None,
    ) -> None:
        self._steps = steps
        self._keep = keep
        self._kept_references = references
        unkept = None if schema_only or steps.plan.for_script else UnkeptReferences(steps)
        self._held_references = references or unkept
        self._spark = spark
        self._counter = counter
        self._mode: Literal["stream", "batch"] = mode
        self._schema_only = schema_only
        self._given = dict(given or {})
        self._beside = beside
        self._counted = counted
        self._raw: dict[tuple[str, str], DataFrame | dict[str, DataFrame] | Routed] = {}
        self._ports: dict[tuple[str, str], _Ports] = {}
        self._forks = steps.forks(within or ()) if mode == "stream" else frozenset()
        self._static = static
        self._clock_ms = clock_ms
        self._query_dir = query_dir
        self._goes_by_clock = clock_ms is not None or (mode == "stream" and bool(steps.plan.clock))
        #: Name of each streaming source in the query → node id.
        self.source_names: dict[str, str] = {}

    def of(self, node_id: str, port: str, occurrence: str = "") -> DataFrame:
        """The good rows of an output port; of a port of kind errors, the rejected ones with their reason."""
        return self._all_of(node_id, occurrence)[port]()

    def ports_of(self, node_id: str) -> tuple[str, ...]:
        """The output ports that the node's frames really have."""
        return tuple(self._all_of(node_id, ""))

    def _all_of(self, node_id: str, occurrence: str) -> _Ports:
        key = (node_id, occurrence)
        if key not in self._ports:
            self._ports[key] = self._split(node_id, occurrence, self._produced(node_id, occurrence))
        return self._ports[key]

    def frontier(self, node_id: str, port: str | None) -> DataFrame:
        """What the streaming query hands to each batch: one port, or with None all rows with the column REJECTED."""
        if port is not None:
            return self.of(node_id, port)
        raw = self._produced(node_id, "")
        assert not isinstance(raw, Routed)
        frame = raw["out"] if isinstance(raw, dict) else raw
        return self._with_counts(node_id, frame)

    def into(self, node_id: str) -> DataFrame:
        """The rows that arrive at a sink."""
        (arrow,) = self._steps.arriving(node_id)
        return self.of(arrow.source, arrow.port)

    def give(self, node_id: str, ports: dict[str, DataFrame]) -> None:
        """The frames of a node, now that they are known; what was made of others before is forgotten."""
        self._given[node_id] = ports
        behind = {other for other in self._steps.by_id if node_id in self._steps.upstream((other,))}
        self._counter.forget(behind)
        for known in (self._raw, self._ports):
            for key in [key for key in known if key[0] in behind]:
                del known[key]

    def _produced(self, node_id: str, occurrence: str) -> DataFrame | dict[str, DataFrame] | Routed:
        key = (node_id, occurrence)
        if key not in self._raw:
            try:
                self._raw[key] = self._given[node_id] if node_id in self._given else self._verb(node_id, occurrence)
            except AtNode:
                raise
            except Exception as error:
                raise AtNode(node_id, error) from error
        return self._raw[key]

    def _verb(self, node_id: str, occurrence: str) -> DataFrame | dict[str, DataFrame] | Routed:
        node_type = self._steps.types[node_id]
        context = self._steps.context(node_id, self._mode, schema_only=self._schema_only)
        if isinstance(node_type, Source):
            if context.is_drawn:
                refuse_endless_table(self._steps, node_id)
            if self._mode == "stream":
                context = replace(context, occurrence=occurrence, query_dir=self._query_dir or context.query_dir)
                self.source_names[context.stream_name] = node_id
            return node_type.read(self._spark, context)
        if isinstance(node_type, Sink):  # until a batch is written, which tells what its target refuses
            return {"errors": rejected_none(self._spark, self.into(node_id).schema)}
        assert isinstance(node_type, Flow)
        frames: dict[str, list[DataFrame]] = {}
        times = node_type.times(context)
        marks = self._mode == "stream" and not self._schema_only and self._steps.leads_late_on(node_id)
        for arrow in self._steps.arriving(node_id, references=True):
            frame = self.arriving(arrow, occurrence)
            frame = marked(frame, node_id) if marks else frame
            if arrow.input in times:
                frame = self._counter.timeless(frame, node_id, arrow.input, times[arrow.input])
            frames.setdefault(arrow.input, []).append(frame)
        if self._held_references is not None:
            context = replace(context, config=self._held_references.config_for(node_id, context.config))
        with drawn_expressions(context.is_drawn):
            made = node_type.apply(frames, context)
        return clock_set(made, self._clock_ms, context.time_zone) if self._goes_by_clock else made

    def arriving(self, arrow: Arrow, occurrence: str = "") -> DataFrame:
        """The rows that come over an edge; of a reference all there are."""

        def read() -> DataFrame:
            if arrow.reference and (self._mode == "stream" or self._kept_references is not None):
                return self._references().of(arrow.source, arrow.port)
            return self.of(arrow.source, arrow.port, occurrence_above(arrow, self._forks, occurrence))

        return self._held_references.frame(arrow, read) if arrow.reference and self._held_references is not None else read()

    def _references(self) -> Frames:
        """References are plain frames, read whole whenever they are read."""
        if self._static is None:
            made_of: dict[str, Any] = {
                "given": self._beside,
                "schema_only": self._schema_only,
                "clock_ms": self._clock_ms or self._steps.plan.time_of(0),
            }
            self._static = Frames(self._steps, self._spark, NoCounter(), mode="batch", **made_of)
        return self._static

    def _split(self, node_id: str, occurrence: str, produced: DataFrame | dict[str, DataFrame] | Routed) -> _Ports:
        if isinstance(produced, Routed):
            return self._routed(node_id, produced)
        frames = dict(produced) if isinstance(produced, dict) else {"out": produced}
        frame = frames.get("out")
        if frame is None:
            return _ready(frames)
        if node_id not in self._given:
            if self._steps.has_late_port(node_id):  # nothing comes too late where all rows are there
                (arrow,) = self._steps.arriving(node_id)
                frames[LATE] = self.arriving(arrow, occurrence).filter(F.lit(False))
            frame = self._keep(node_id, self._with_counts(node_id, frame))
            frames["out"] = frame
        if REJECTED not in frame.columns:
            return {**_ready(frames), **self._without_rejected(node_id, frame)}
        # Not both filters: of a frame that is kept, Spark passes over parts in which no row is good, and would not find the refused ones.
        is_good = F.col(REJECTED).isNull()
        if self._fails(node_id):
            is_good = _refused(frame, node_id, is_fence=node_id not in self._steps.read_within)
        good = frame.filter(is_good)
        frames["out"] = good.drop(REJECTED)
        return {**_ready(frames), "errors": cache(lambda: _bad(frame))}

    def _without_rejected(self, node_id: str, frame: DataFrame) -> _Ports:
        """The port of a node that could refuse rows and, as it is set up, refuses none: such as a source of Parquet files."""
        if not self._steps.leads_errors_on(node_id):
            return {}
        none = frame.filter(F.lit(False)).withColumn(REJECTED, F.lit(None).cast("string"))
        return _ready({"errors": with_reason(none, REJECTED)})

    def _routed(self, node_id: str, routed: Routed) -> _Ports:
        frame = routed.frame
        if node_id in self._counted:
            frame = self._counter.count(frame, node_id, sample=False, ports=routed.ports)
        frame = self._keep(node_id, frame)
        return _ready({port: frame.filter(is_its).drop(*routed.helpers) for port, is_its in routed.ports.items()})

    def _with_counts(self, node_id: str, frame: DataFrame) -> DataFrame:
        rejects = REJECTED in frame.columns
        node_type = self._steps.types[node_id]
        tallies = node_type.tallies(self._steps.by_id[node_id].config) if isinstance(node_type, Flow) else {}
        if node_id not in self._counted or not (rejects or tallies or node_type.changes_row_count):
            return frame
        keeps = self._steps.plan.settings.rejected_rows == "dead_letter" and not self._steps.leads_errors_on(node_id)
        return self._counter.count(frame, node_id, sample=rejects and keeps, tallies=tallies)

    def _fails(self, node_id: str) -> bool:
        return self._steps.plan.settings.rejected_rows == "fail" and not self._steps.leads_errors_on(node_id) and not self._schema_only


def _ready(frames: Mapping[str, DataFrame]) -> _Ports:
    return {port: partial(lambda frame: frame, frame) for port, frame in frames.items()}


def _bad(frame: DataFrame) -> DataFrame:
    """The rejected rows, with the reason in full."""
    bad = frame.filter(F.col(REJECTED).isNotNull())
    return with_reason(bad.withColumn(REJECTED, reason_told(frame)), REJECTED)


def _refused(frame: DataFrame, node_id: str, *, is_fence: bool) -> Column:
    """True for good rows; the first rejected one ends the batch with its reason.

    `is_fence`: also where a filter behind would not let it through. Spark asks that one first, or passes over parts of a kept frame in
    which it finds nothing, unless what is asked here might differ from time to time. A good row has no part in what makes it seem so.
    """
    reason = F.concat(F.lit(f"{REJECTED_MARK}{node_id} "), F.regexp_replace(F.substring(reason_told(frame), 1, SHOWN_TEXT), r"\s+", " "))
    if is_fence:
        reason = F.concat(reason, F.substring(F.rand(0).cast("string"), 1, 0))
    return F.when(F.col(REJECTED).isNotNull(), F.raise_error(reason).cast("boolean")).otherwise(F.lit(True))
