"""What sources have in common whose messages come once: they are kept in a spool, which Spark reads by position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar
from uuid import uuid4

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.avro import avro_check
from jobs.nodes.backpressure import Backpressure, BackpressureStatus, Buffered, Strategy, backpressure_field, buffer_size_field
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import ColumnField
from jobs.nodes.csv_options import null_value_field
from jobs.nodes.form import hints
from jobs.nodes.payload import (
    PAYLOAD_FIELDS,
    MessageColumns,
    PayloadFormat,
    payload_avro_needed_field,
    payload_columns_field,
    payload_complete,
    payload_delimiter_field,
    payload_empty,
    payload_format_field,
    payload_read,
    payload_schema,
)
from jobs.nodes.spool import Spool, Spooled, Standing, spool_path
from jobs.nodes.spool_at_once import read_at_once, taken_at_once
from jobs.nodes.spool_faults import spool_check
from jobs.nodes.unread_columns import TellsUnreadFields
from jobs.nodes.user_python.workers import in_workers_shared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: How many messages are looked at.
SAMPLED = 200


#: Those of `SpoolConfig` that say how much is kept and how much of it is read at once.
PACE_FIELDS = frozenset({"start", "backpressure", "buffer_size", "max_kept", "max_records_per_trigger"})


class SpoolConfig(base.Config):
    """The part of the form that all such sources have. It is named before the part with the place, whose fields come first then."""

    format: PayloadFormat = payload_format_field()
    columns: tuple[ColumnField, ...] = payload_columns_field()
    delimiter: str = payload_delimiter_field()
    null_value: str = null_value_field()
    avro_schema: str = payload_avro_needed_field()
    start: Literal["earliest", "latest"] = Field(
        "earliest",
        description=(
            "Where a start from the beginning begins: at the oldest message that is kept, or behind the newest; "
            "an import then behind what was read before, as what needs all rows at once always does."
        ),
        examples=["earliest"],
        json_schema_extra=hints(advanced=True),
    )
    backpressure: Strategy = backpressure_field()
    buffer_size: int = buffer_size_field()
    max_kept: int = Field(
        1_000_000,
        ge=1,
        le=100_000_000,
        description="Most messages that are kept after they were read, so that a job can go back to a checkpoint.",
        examples=[1_000_000],
        json_schema_extra=hints(advanced=True),
    )
    max_records_per_trigger: int = Field(
        10_000,
        ge=1,
        le=1_000_000,
        description="Most messages of one batch.",
        examples=[10_000],
        json_schema_extra=hints(advanced=True),
    )
    metadata: bool = Field(
        False,
        description="Add position, time and headers of each message as columns that begin with the source's name.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="after")
    def _is_complete(self) -> SpoolConfig:
        payload_complete(self)
        if self.format == "avro":
            if not self.avro_schema.strip():
                raise ValueError("Avro messages need the schema they were written with")
            avro_check(self.avro_schema)
        return self


def _check_reachable(master: str) -> None:
    """A spool lies on the disk of the host that receives: executors elsewhere would find an empty one, and say nothing."""
    if not master.startswith("local"):
        raise NodeError(
            f"what is received is kept on the disk of this host, and Spark's executors run elsewhere ({master}); "
            "run this job on workers whose SPARK_MASTER is local",
            permanent=True,
            kind="user",
        )


SpoolConfigT = TypeVar("SpoolConfigT", bound=SpoolConfig)


class SpoolSource(TellsUnreadFields, Source[SpoolConfigT]):
    """Reads its spool by position. A subclass says how the spool is filled."""

    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    goes_on: ClassVar[bool] = True
    has_own_buffer: ClassVar[bool] = True
    pace_fields: ClassVar[frozenset[str]] = PACE_FIELDS
    row_fields: ClassVar[frozenset[str]] = PAYLOAD_FIELDS
    #: Columns that tell how a message came, made of `position`, `received`, `key` and `headers`.
    message_columns: ClassVar[MessageColumns]

    def place(self, config: SpoolConfigT) -> str:
        """What its messages come from: those that were received from elsewhere under the same node are not read. "": it never changes."""
        return ""

    def spool(self, context: NodeContext[SpoolConfigT]) -> Spool:
        """As its readers see it."""
        return spool_of(context, self.place(context.config))

    def resumes(self, config: SpoolConfigT) -> bool:
        return True

    def plain_fault(self, context: NodeContext[SpoolConfigT]) -> str:
        return "its messages come once, and Pipeline Web itself receives and keeps them"

    def needs_to_begin(self, context: NodeContext[SpoolConfigT]) -> str:
        """Nothing: what was received before is read meanwhile."""
        return ""

    def begin(self, context: NodeContext[SpoolConfigT]) -> None:
        if strange := self.spool(context).begin():
            context.log(f"{strange} messages that were received from another place, and not read, are left out")

    def read(self, spark: SparkSession, context: NodeContext[SpoolConfigT]) -> DataFrame:
        from jobs.nodes.readers.replayed import beginning_option
        from jobs.nodes.readers.spool_rows import SpoolRows

        config, spool = context.config, self.spool(context)
        looked = cache(lambda: self.newest(context))
        kept = context.work_dir / "sampled_schema.json" if context.mode == "stream" and not context.schema_only else None
        schema = payload_schema(spark, config, lambda: _texts(looked()), kept)
        metadata = self.message_columns if config.metadata else {}
        if context.schema_only:
            return payload_empty(spark, schema, metadata, config)
        if not context.generation:
            return payload_read(_frame(spark, looked()), schema, metadata, config)
        self.taken = schema.names
        _check_reachable(str(spark.sparkContext.master))
        in_workers_shared(lambda: spark.dataSource.register(SpoolRows))
        slots = str(spark.sparkContext.defaultParallelism)
        start = "unread" if config.start == "latest" and context.bounded else config.start
        options = {"path": str(spool.path), "place": self.place(config), "rows": str(config.max_records_per_trigger), "slots": slots}
        options |= {"node": context.node_id, "reader": str(uuid4()), "beginning": beginning_option(context, start)}
        if _takes_all(context):
            options["after"], options["upto"] = map(str, taken_at_once(spool, _note_of(context)))
        reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.stream_name)
        return payload_read(reader.format(SpoolRows.name()).options(**options).load(), schema, metadata, config)

    def newest_texts(self, context: NodeContext[SpoolConfigT]) -> list[str]:
        return _texts(self.newest(context))

    def newest(self, context: NodeContext[SpoolConfigT]) -> list[Spooled]:
        """Some of the newest messages, to look at and to take columns from; that changes nothing."""
        spool = self.spool(context)
        if not spool.path.exists():
            return []
        try:
            return spool.newest_own(SAMPLED)
        except LookupError as error:
            raise NodeError(f"reading the messages that wait: {error}") from error

    def buffered(self, context: NodeContext[SpoolConfigT], positions: Sequence[Any] = ()) -> Buffered | None:
        spool = spool_of(context)
        if not spool.path.exists():
            return None
        standing, pressure = spool.standing(), backpressure_of(context.config)
        return Buffered(standing.waiting, standing.dropped, _status(standing, pressure))

    def complete(self, context: NodeContext[SpoolConfigT]) -> None:
        """A run that reads all at once has no checkpoint, behind which its messages would count as read."""
        read_at_once(spool_of(context), _note_of(context), max_kept=context.config.max_kept)

    def check_input(self, position: Any, context: NodeContext[SpoolConfigT]) -> None:
        spool_check(self.spool(context), int(position["position"]))

    def trim(self, positions: Callable[[], Sequence[Any]], context: NodeContext[SpoolConfigT]) -> None:
        """Messages before all of `positions` are read and can be restored to by nobody."""
        spool = spool_of(context)
        spool.trim(min((int(position["position"]) for position in positions()), default=0) + 1)
        spool.trim_read(context.config.max_kept)


def _takes_all(context: NodeContext[Any]) -> bool:
    """Whether a run reads at once all that waits; what stands beside is looked through, and stays."""
    return context.mode == "batch" and context.is_run and not context.beside


def _note_of(context: NodeContext[Any]) -> Path:
    return context.work_dir / "read_at_once.json"


def _status(standing: Standing, pressure: Backpressure) -> BackpressureStatus:
    if standing.overrun:
        return "FAILED"
    if standing.draining and pressure.strategy == "ERROR":
        return "HOLDING"
    return pressure.when_full if standing.waiting >= pressure.buffer_size else "OK"


def _texts(messages: Sequence[Spooled]) -> list[str]:
    return [message.value.decode("utf-8", "replace") for message in messages if message.value is not None]


def _frame(spark: SparkSession, messages: Sequence[Spooled]) -> DataFrame:
    from jobs.nodes.readers.spool_rows import SCHEMA

    rows = [
        (
            one.position,
            datetime.fromtimestamp(one.received, UTC),
            one.key,
            dict(one.headers),
            None if one.value is None else bytearray(one.value),
        )
        for one in messages
    ]
    return spark.createDataFrame(rows, SCHEMA)


def spool_of(context: NodeContext[Any], place: str = "") -> Spool:
    return Spool(spool_path(context.limits.data_dir, context.job_uid, context.node_id), place)


def backpressure_of(config: SpoolConfig) -> Backpressure:
    return Backpressure(config.backpressure, config.buffer_size)
