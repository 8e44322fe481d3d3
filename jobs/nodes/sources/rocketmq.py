"""Reads messages from a RocketMQ topic."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jobs.nodes.backlog import Backlog, Place, ReadsLog
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import REJECTED, NodeContext, NodeError, Source
from jobs.nodes.connections.rocketmq_reach import rocketmq_away, rocketmq_silent
from jobs.nodes.hand_positions import HandPositions, NumberEach
from jobs.nodes.known_messages import NOTE, KnownMessages, Mark, RemembersMessages
from jobs.nodes.misfits import rejected_again
from jobs.nodes.node_error import reworded
from jobs.nodes.patience import SETTLING_SECONDS, Patience
from jobs.nodes.payload import PAYLOAD_FIELDS, MessageColumns, payload_empty, payload_read, payload_schema
from jobs.nodes.plainly import sign_in_fault
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.rocketmq.marks import queue_marks
from jobs.nodes.rocketmq.positions import QueueRange, newest, offsets_json, offsets_of, oldest
from jobs.nodes.rocketmq.pulling import Wanted
from jobs.nodes.rocketmq.reading import QueueReading, lost_words
from jobs.nodes.rocketmq.route import Queue
from jobs.nodes.sources.rocketmq_config import RocketmqSourceConfig
from jobs.nodes.unread_columns import TellsUnreadFields

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: By what the reader calls them.
_METADATA: MessageColumns = {
    "rocketmq_topic": ("string", "topic"),
    "rocketmq_broker": ("string", "broker"),
    "rocketmq_queue": ("int", "queue"),
    "rocketmq_offset": ("bigint", "offset"),
    "rocketmq_tags": ("string", "tags"),
    "rocketmq_keys": ("string", "keys"),
    "rocketmq_time": ("timestamp", "born"),
    "rocketmq_properties": ("map<string, string>", "properties"),
}
_DAMAGE = "__damage"
_SAMPLED = 200


class RocketmqSource(ReadsLog, RemembersMessages, TellsUnreadFields, Source[RocketmqSourceConfig]):
    """Reads messages from a RocketMQ topic, as JSON, CSV, Avro, text or bytes.

    Unbounded; in an import or a query bounded by the newest message at the start. Exactly once: each message is read by its queue
    and offset, once in a generation, but for those that DROP or LATEST skips.
    """

    type = "source.rocketmq"
    title = "RocketMQ"
    icon = "rocket"
    Config = RocketmqSourceConfig
    connection_kinds = ("rocketmq",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    summary_template = "{topic} · {format}"
    pace_fields: ClassVar[frozenset[str]] = frozenset(
        {"start", "start_time", "start_offsets", "max_records_per_trigger", "backpressure", "max_backlog", "group_id", "lost_messages"}
    )
    row_fields: ClassVar[frozenset[str]] = PAYLOAD_FIELDS | {"tags"}
    hand_positions: ClassVar[HandPositions | None] = NumberEach()

    def __init__(self) -> None:
        self._whole_ends: dict[Queue, int] = {}

    def plain_fault(self, context: NodeContext[RocketmqSourceConfig]) -> str:
        return sign_in_fault(context)

    def waits_for(self, context: NodeContext[RocketmqSourceConfig]) -> str:
        return rocketmq_silent(context.connection(context.config.connection), context.config.topic)

    def needs_to_begin(self, context: NodeContext[RocketmqSourceConfig]) -> str:
        return rocketmq_away(context.connection(context.config.connection), context.config.topic)

    def resumes(self, config: RocketmqSourceConfig) -> bool:
        return True

    def read(self, spark: SparkSession, context: NodeContext[RocketmqSourceConfig]) -> DataFrame:
        config = context.config
        if not context.schema_only or not config.columns:
            with RocketMq(context.connection(config.connection)) as client:
                client.route(config.topic)
                if context.is_run and context.mode == "batch" and config.group_id:
                    self._whole_ends = newest(client, config.topic)
        if context.mode == "stream" and not context.schema_only:
            self.log_check(context)
        kept = context.work_dir / "sampled_schema.json" if context.mode == "stream" and not context.schema_only else None
        schema = payload_schema(spark, config, lambda: _newest(context), kept)
        metadata = {**(_METADATA if config.metadata else {}), _DAMAGE: ("string", "damage")}
        if context.schema_only:
            return _judged(payload_empty(spark, schema, metadata, config))
        self.taken = schema.names
        return _judged(payload_read(_messages(spark, context), schema, metadata, config, plainly=context.for_script))

    def check_input(self, position: Any, context: NodeContext[RocketmqSourceConfig]) -> None:
        config, here = context.config, offsets_of(position)
        if config.lost_messages == "go_on":
            return
        with RocketMq(context.connection(config.connection)) as client:
            begins, ends = oldest(client, config.topic, list(here)), newest(client, config.topic)
            if any(end < here.get(queue, 0) for queue, end in ends.items()):  # as a broker may say that just began
                time.sleep(SETTLING_SECONDS)
                ends = newest(client, config.topic)
            for queue, at in sorted(here.items()):
                begin, end = begins.get(queue, at), ends.get(queue, at)
                if not begin <= at <= end:
                    following = begin if begin > at else end
                    raise lost_words(client.name, QueueRange(queue, at, following), at, following)
        self.known_messages(context).check()

    def known_messages(self, context: NodeContext[RocketmqSourceConfig]) -> KnownMessages:
        config, connection = context.config, context.connection(context.config.connection)

        def look(offsets: Mapping[str, int]) -> dict[str, Mark | None]:
            with RocketMq(connection) as client:
                found = queue_marks(client, Wanted(config.topic, config.group), offsets_of(offsets))
            return {str(queue): mark for queue, mark in found.items()}

        return KnownMessages(context.work_dir / NOTE, "topic", config.topic, look)

    def newest_texts(self, context: NodeContext[RocketmqSourceConfig]) -> list[str]:
        return _newest(context)

    def backlog(self, context: NodeContext[RocketmqSourceConfig]) -> Backlog | None:
        config, connection = context.config, context.connection(context.config.connection)

        def ends(places: Collection[Place]) -> dict[Place, int]:
            with RocketMq(connection) as client:
                return {(place,): end for place, end in offsets_json(newest(client, config.topic, of_some=True)).items()}

        return Backlog(ends, Backpressure(config.backpressure, config.max_backlog)) if config.backpressure != "BUFFER" else None

    def checkpointed(self, position: Any, context: NodeContext[RocketmqSourceConfig]) -> None:
        """Also moves the consumer group to the checkpoint's offsets, at the brokers that are there."""
        super().checkpointed(position, context)
        self._group_move(offsets_of(position), context)

    def read_to(self, position: Any, context: NodeContext[RocketmqSourceConfig]) -> None:
        """Moves the consumer group there; of what was read whole, to what was there when that began."""
        self._group_move(offsets_of(position) if position else self._whole_ends, context)

    def _group_move(self, offsets: Mapping[Queue, int], context: NodeContext[RocketmqSourceConfig]) -> None:
        config = context.config
        if not config.group_id or not offsets:
            return
        with RocketMq(context.connection(config.connection)) as client:
            addresses = client.route(config.topic).addresses
            for broker, queues in groupby(sorted(offsets), key=lambda queue: queue.broker):
                if broker in addresses:
                    moved = {queue: offsets[queue] for queue in queues}
                    client.group_move(addresses[broker], config.group_id, config.topic, moved)


def _messages(spark: SparkSession, context: NodeContext[RocketmqSourceConfig]) -> DataFrame:
    """With the columns value and damage, and those that _METADATA names."""
    from jobs.nodes.readers.replayed import messages_of
    from jobs.nodes.readers.rocketmq_queues import RocketmqQueues

    return messages_of(spark, context, RocketmqQueues, context.config.connection)


def _judged(frame: DataFrame) -> DataFrame:
    """A message whose body could not be unpacked is rejected whatever its format."""
    from pyspark.sql import functions as F

    reason: Any = F.col(_DAMAGE)
    if REJECTED in frame.columns:
        reason = rejected_again(frame, F.coalesce(reason, F.col(REJECTED)))
    return frame.withColumn(REJECTED, reason).drop(_DAMAGE)


def _newest(context: NodeContext[RocketmqSourceConfig]) -> list[str]:
    """Values of some of the newest messages as text. No group's offsets move."""
    config = context.config
    with RocketMq(context.connection(config.connection)) as client:
        ends: Mapping[Any, int] = newest(client, config.topic)
        begins = oldest(client, config.topic, list(ends))
        each = max(1, _SAMPLED // max(1, len(ends)))
        reading = QueueReading(client, Wanted(config.topic, config.group, config.tag_names), skips=True, patience=Patience(0))
        found = [QueueRange(queue, max(begins[queue], end - each), end) for queue, end in ends.items()]
        try:
            return [one.value.decode("utf-8", "replace") for place in found for part in reading.messages(place) for one in part]
        except NodeError as error:
            raise reworded(error, f"looking at the newest messages: {error.message}", "") from error
