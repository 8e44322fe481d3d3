"""Reads messages from Kafka topics."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jobs.nodes.avro import AvroSchemas
from jobs.nodes.backlog import Backlog, Place, ReadsLog
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.connections.kafka_reach import kafka_failure, kafka_silent, topics_named
from jobs.nodes.connections.kafka_settings import kafka_spark_options
from jobs.nodes.formats import format_hinders_real_time
from jobs.nodes.hand_positions import HandPositions
from jobs.nodes.json_schema import json_schema_columns
from jobs.nodes.node_error import reworded
from jobs.nodes.payload import PAYLOAD_FIELDS, MessageColumns, payload_empty, payload_read, payload_schema
from jobs.nodes.plainly import sign_in_fault
from jobs.nodes.schema_registry import registry_json_schema, registry_schemas
from jobs.nodes.sources.kafka_bounds import bounds_check, form_check, whole_ends
from jobs.nodes.sources.kafka_config import KafkaSourceConfig
from jobs.nodes.sources.kafka_places import places_options
from jobs.nodes.sources.kafka_positions import KafkaPositions
from jobs.nodes.sources.kafka_topics import KnownTopics, offsets_check
from jobs.nodes.unread_columns import TellsUnreadFields

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: By what Spark calls them.
_METADATA: MessageColumns = {
    "kafka_key": ("string", "CAST(key AS string)"),
    "kafka_topic": ("string", "topic"),
    "kafka_partition": ("int", "partition"),
    "kafka_offset": ("bigint", "offset"),
    "kafka_time": ("timestamp", "timestamp"),
    "kafka_headers": (
        "array<struct<key: string, value: string>>",
        "transform(headers, header -> struct(header.key AS key, CAST(header.value AS string) AS value))",
    ),
}
_NAMED = 20
#: What a stream keeps of a registry.
_REGISTERED_JSON = "registered_schema.json"
_REST = 2**31 - 1


class KafkaSource(ReadsLog, TellsUnreadFields, Source[KafkaSourceConfig]):
    """Reads messages from Kafka topics, as JSON, CSV, Avro, text or bytes.

    Unbounded; in an import or a query bounded by the newest message at the start, by a time or by offsets. Exactly once: each
    message is read once in a generation, but for those that DROP or LATEST skips.
    """

    type = "source.kafka"
    title = "Kafka"
    icon = "topology-star-3"
    Config = KafkaSourceConfig
    connection_kinds = ("kafka",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    real_time: ClassVar[bool] = True
    summary_template = "{topic} · {format}"
    pace_fields: ClassVar[frozenset[str]] = frozenset(
        {
            "start",
            "start_time",
            "start_offsets",
            "end",
            "end_time",
            "end_offsets",
            "max_records_per_trigger",
            "backpressure",
            "max_backlog",
            "group_id",
            "lost_messages",
        }
    )
    row_fields: ClassVar[frozenset[str]] = PAYLOAD_FIELDS | {"registry_connection", "subject"}
    hand_positions: ClassVar[HandPositions | None] = KafkaPositions()

    def __init__(self) -> None:
        #: Topic → partition → offset.
        self._whole_ends: dict[str, dict[str, int]] = {}

    def plain_fault(self, context: NodeContext[KafkaSourceConfig]) -> str:
        return sign_in_fault(context)

    def waits_for(self, context: NodeContext[KafkaSourceConfig]) -> str:
        return kafka_silent(context.connection(context.config.connection))

    def needs_to_begin(self, context: NodeContext[KafkaSourceConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_silent

        config = context.config
        if (silent := self.waits_for(context)) or not config.asks_registry or (context.work_dir / _REGISTERED_JSON).is_file():
            return silent
        return api_silent(context.connection(config.registry_connection), context.limits)

    def hinders_real_time(self, config: KafkaSourceConfig) -> str:
        if config.backpressure != "BUFFER":
            return f"its backpressure is {config.backpressure}, which looks at what waits between batches; only BUFFER goes"
        return format_hinders_real_time(config.format) or super().hinders_real_time(config)

    def real_time_tasks(self, context: NodeContext[KafkaSourceConfig]) -> int:
        """One for each partition."""
        admin = KafkaAdmin(context.connection(context.config.connection))
        return context.config.places().number(admin.partitions())

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        return kafka_failure(text, f'reading kafka "{connection}"', "reading")

    @classmethod
    def failure_names(cls, text: str, config: KafkaSourceConfig) -> bool:
        return bool(config.places().among(topics_named(text)))

    def begin(self, context: NodeContext[KafkaSourceConfig]) -> None:
        config = context.config
        if config.topic_is == "pattern" and not config.places().among(KafkaAdmin(context.connection(config.connection)).partitions()):
            context.notice(f"no topic matches the pattern {config.topic}: there is nothing to read yet; correct it if there should be")

    def resumes(self, config: KafkaSourceConfig) -> bool:
        return not self.goes_whole(config)

    def goes_whole(self, config: KafkaSourceConfig) -> bool:
        """Spark reads up to a given end only in one piece."""
        return config.end != "newest"

    def read(self, spark: SparkSession, context: NodeContext[KafkaSourceConfig]) -> DataFrame:
        config = context.config
        if not context.schema_only or not config.columns:
            _check_topics(context)
        if context.schema_only:
            form_check(context)
        elif not context.for_script:
            _check_places(context)
        if context.is_run and context.mode == "batch" and config.group_id:
            self._whole_ends = whole_ends(context)
        metadata = _METADATA if config.metadata else {}
        avro = _avro_registered(context) if config.format == "avro" and config.registry_connection else None
        schema = self._schema(spark, context, avro)
        if context.schema_only:
            return payload_empty(spark, schema, metadata, config)
        self.taken = () if config.asks_registry else schema.names
        return payload_read(_messages(spark, context), schema, metadata, config, avro, plainly=context.for_script)

    def _schema(self, spark: SparkSession, context: NodeContext[KafkaSourceConfig], avro: AvroSchemas | None) -> StructType:
        config = context.config
        registered = (lambda: _json_registered(context)) if config.format == "json" and config.registry_connection else None
        try:
            return payload_schema(spark, config, lambda: _newest(context), _kept(context, "sampled_schema.json"), avro, registered)
        except NodeError as error:
            raise reworded(error, f"reading {config.topic}: {error.message}") from error

    def newest_texts(self, context: NodeContext[KafkaSourceConfig]) -> Sequence[str]:
        return _newest(context)

    def backlog(self, context: NodeContext[KafkaSourceConfig]) -> Backlog:
        config, known = context.config, _known_topics(context)

        def fault(positions: Sequence[Any]) -> NodeError | None:
            if config.lost_messages != "fail":
                return None
            known.keep({topic for position in positions for topic in position}, anew=False)
            return known.remade()

        return Backlog(partial(_ends, known.admin), Backpressure(config.backpressure, config.max_backlog), fault)

    def check_input(self, position: Any, context: NodeContext[KafkaSourceConfig]) -> None:
        if context.config.lost_messages == "fail":
            offsets_check(KafkaAdmin(context.connection(context.config.connection)), position)

    def checkpointed(self, position: Any, context: NodeContext[KafkaSourceConfig]) -> None:
        """Moves the consumer group to the checkpoint's offsets."""
        if context.config.group_id:
            KafkaAdmin(context.connection(context.config.connection)).group_move(context.config.group_id, position)

    def read_to(self, position: Any, context: NodeContext[KafkaSourceConfig]) -> None:
        """Moves the consumer group there; of what was read whole, to what was there when that began."""
        self.checkpointed(position or self._whole_ends, context)


def _ends(admin: KafkaAdmin, places: Collection[Place]) -> dict[Place, int]:
    found = admin.ends((topic, int(partition)) for topic, partition in places)
    return {(topic, str(partition)): end for (topic, partition), end in found.items()}


def _known_topics(context: NodeContext[KafkaSourceConfig]) -> KnownTopics:
    return KnownTopics(context.work_dir / "topic_ids.json", KafkaAdmin(context.connection(context.config.connection)))


def _check_places(context: NodeContext[KafkaSourceConfig]) -> None:
    if context.mode == "stream":
        _check_same_topics(context)
    try:
        bounds_check(context)
    except NodeError as error:
        raise reworded(error, f"reading {context.config.topic}: {error.message}") from error


def _check_same_topics(context: NodeContext[KafkaSourceConfig]) -> None:
    """Spark goes by names and offsets alone: in a topic that was made anew it would read on in the middle."""
    known, may_change = _known_topics(context), context.config.lost_messages == "go_on"
    if not may_change and (fault := known.remade()):
        raise fault
    known.keep(context.config.places().among(known.admin.partitions()), anew=may_change)


def _kept(context: NodeContext[KafkaSourceConfig], name: str) -> Path | None:
    return context.work_dir / name if context.mode == "stream" and not context.schema_only else None


def _avro_registered(context: NodeContext[KafkaSourceConfig]) -> AvroSchemas:
    registry = context.connection(context.config.registry_connection)
    return registry_schemas(registry, context.limits, context.config.subject_there, _kept(context, "schema.avsc"))


def _json_registered(context: NodeContext[KafkaSourceConfig]) -> StructType:
    registry = context.connection(context.config.registry_connection)
    kept = _kept(context, _REGISTERED_JSON)
    return json_schema_columns(registry_json_schema(registry, context.limits, context.config.subject_there, kept))


def _messages(spark: SparkSession, context: NodeContext[KafkaSourceConfig]) -> DataFrame:
    """As Spark's Kafka reader gives them, with the columns key, value, topic, partition, offset, timestamp and headers.

    Of JSON that a registry knows, `value` begins behind the schema's number, which Confluent's clients put in front of it.
    """
    from pyspark.sql import functions as F

    reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.stream_name)
    options = kafka_spark_options(context.connection(context.config.connection)) | places_options(context)
    messages: DataFrame = reader.format("kafka").options(**options).load()
    if context.config.format == "json" and context.config.registry_connection:
        is_framed = F.substring("value", 1, 1) == F.lit(b"\x00")
        return messages.withColumn("value", F.when(is_framed, F.substring("value", 6, _REST)).otherwise(F.col("value")))
    return messages


def _newest(context: NodeContext[KafkaSourceConfig]) -> list[str]:
    admin = KafkaAdmin(context.connection(context.config.connection))
    there = admin.partitions()
    return admin.newest({topic: there[topic] for topic in context.config.places().among(there)})


def _check_topics(context: NodeContext[KafkaSourceConfig]) -> None:
    connection = context.connection(context.config.connection)
    there = KafkaAdmin(connection).partitions()
    missing = context.config.places().missing(there)
    if missing:
        seen = sorted(name for name in there if not name.startswith("__"))
        names = ", ".join(seen[:_NAMED]) + (", …" if len(seen) > _NAMED else "") if seen else "there is none"
        raise NodeError(f'reading kafka "{connection.name}": {missing}; topics: {names}', kind="user", field="topic")
