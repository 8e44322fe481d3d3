"""What stands beside a stream and is kept between its batches: read once, read again from time to time; and what is not kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from jobs.engine.events import OUTDATED, Noticed, Report
from jobs.engine.failure import AtNode, failure_of
from jobs.engine.steps import Arrow, Steps
from jobs.nodes.base import NodeError
from jobs.nodes.columns import column
from jobs.nodes.going_on import without_start
from jobs.nodes.kept_references import Keeping, KeepsReferences
from jobs.nodes.worker_errors import node_error_raised

#: Makes each reading another plan: Spark would answer one that it has kept from what it has kept.
_READING = "__reading"
_PART, _ROWS = "__part", "__rows"
_readings = count()
#: So many times what a failed reading took, until the next one: the batches wait for it.
_SPARING = 10


@dataclass
class _Kept:
    held: DataFrame
    #: When it is read again, by the monotonic clock.
    due: float
    read_at: datetime
    rows: int
    stale: bool = False

    @property
    def frame(self) -> DataFrame:
        return self.held.drop(_READING)


class References:
    """The kept frames of one query's reference inputs, by the edges they come over.

    `prepares`: they are kept as their flow needs them for each batch; else as they came, to be looked at.
    """

    def __init__(self, steps: Steps, report: Report, *, prepares: bool = True) -> None:
        self._steps, self._report, self._prepares = steps, report, prepares
        self._kept: dict[str, _Kept] = {}

    def frame(self, arrow: Arrow, read: Callable[[], DataFrame]) -> DataFrame:
        """The rows of `arrow`: kept ones where its flow keeps them, else what `read` makes, which is read by whoever reads it."""
        flow = self._steps.types[arrow.target]
        if not isinstance(flow, KeepsReferences):
            return read()
        config = self._steps.by_id[arrow.target].config
        keeping = flow.keeping(config)

        def make() -> DataFrame:
            return flow.prepared(read(), config) if self._prepares else read()

        kept = self._kept.get(arrow.edge_id)
        if kept is not None and time.monotonic() < kept.due:
            return kept.frame
        rows_before = kept.rows if kept else None
        kept = self._kept[arrow.edge_id] = self._again(arrow, kept, make, keeping) if kept else _read(make, keeping, arrow.source)
        if kept.rows != rows_before:
            told = f"its table was read: {kept.rows:,} rows are kept, of at most {keeping.most_rows:,}"
            self._steps.logger.info(told, extra={"node_id": arrow.target})
        return kept.frame

    def config_for(self, node_id: str, config: Any) -> Any:
        """The config of a flow, for the frames that it gets from here."""
        flow = self._steps.types[node_id]
        return flow.config_of_prepared(config) if self._prepares and isinstance(flow, KeepsReferences) else config

    def close(self) -> None:
        for kept in self._kept.values():
            kept.held.unpersist()
        self._kept.clear()

    def _again(self, arrow: Arrow, kept: _Kept, read: Callable[[], DataFrame], keeping: Keeping) -> _Kept:
        """What is there now; where it cannot be read, what was there before."""
        begun = time.monotonic()
        try:
            fresh = _read(lambda: _as_before(read(), kept.frame.schema), keeping, arrow.source)
        except Exception as error:
            if not kept.stale:
                told = without_start(failure_of(error, self._steps.plan).message.partition("\n")[0])
                since = f"{kept.read_at:%Y-%m-%d %H:%M:%S} UTC"
                message = f"its table is as it was at {since}: reading it again failed, and is tried again by itself ({told})"
                self._report(Noticed(message, arrow.target, "warning", {OUTDATED: kept.read_at.isoformat()}))
            now = time.monotonic()
            return replace(kept, due=now + max(keeping.seconds, _SPARING * (now - begun)), stale=True)
        kept.held.unpersist()
        if kept.stale:
            self._report(Noticed("its table is up to date again", arrow.target, detail={OUTDATED: ""}))
        return fresh


class UnkeptReferences:
    """Reference inputs that are read together with what reads them, once or for each batch. They may be as large as kept ones."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps

    def frame(self, arrow: Arrow, read: Callable[[], DataFrame]) -> DataFrame:
        """As that of `References`; whoever reads more rows than it may have ends with a NodeError of its flow."""
        flow, config = self._steps.types[arrow.target], self._steps.by_id[arrow.target].config
        if not isinstance(flow, KeepsReferences):
            return read()
        return _limited(flow.prepared(read(), config), flow.keeping(config), arrow.target)

    def config_for(self, node_id: str, config: Any) -> Any:
        flow = self._steps.types[node_id]
        return flow.config_of_prepared(config) if isinstance(flow, KeepsReferences) else config


def _limited(frame: DataFrame, keeping: Keeping, node_id: str) -> DataFrame:
    """Its rows in one part, each beside how many there are. By a column that says so, as Spark warns of a window over all rows."""
    whole = frame.limit(keeping.most_rows + 1).coalesce(1).withColumn(_PART, F.spark_partition_id())
    counted = whole.withColumn(_ROWS, F.count(F.lit(1)).over(Window.partitionBy(_PART)))
    refused = node_error_raised(F.lit(_too_many(keeping).message), node_id).cast("boolean")
    return counted.filter(F.when(F.col(_ROWS) <= keeping.most_rows, F.lit(True)).otherwise(refused)).drop(_PART, _ROWS)


def _too_many(keeping: Keeping) -> NodeError:
    return NodeError(f"its table has more than {keeping.most_rows:,} rows; raise the limit, or join it", permanent=True, kind="user")


def _as_before(found: DataFrame, before: StructType) -> DataFrame:
    """The columns that were there `before`: no others have a place behind. NodeError where one is missing or of another kind."""
    now = {field.name.lower(): field.dataType.simpleString() for field in found.schema.fields}
    for field in before.fields:
        name, was = field.name, field.dataType.simpleString()
        if (kind := now.get(name.lower())) is None:
            raise NodeError(f"the column {name} is not in its table any more; set it back, or start the job again", kind="user")
        if kind != was:
            raise NodeError(f"the column {name} of its table was {was} and is {kind}; set it back, or start the job again", kind="user")
    return found.select(*(column(name) for name in before.names))


def _read(read: Callable[[], DataFrame], keeping: Keeping, node_id: str) -> _Kept:
    """The rows that come from `node_id`, which is told where they cannot be worked out: the flow that keeps them has no part in that."""
    found = read().limit(keeping.most_rows + 1).withColumn(_READING, F.lit(next(_readings))).persist()
    try:
        if (rows := _count(found, node_id)) > keeping.most_rows:
            raise _too_many(keeping)
    except BaseException:
        found.unpersist()
        raise
    return _Kept(found, time.monotonic() + keeping.seconds, datetime.now(UTC), rows)


def _count(frame: DataFrame, node_id: str) -> int:
    try:
        return frame.count()
    except Exception as error:
        raise AtNode(node_id, error) from error
