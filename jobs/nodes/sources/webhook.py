"""Reads messages that other systems post to this product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import ColumnField
from jobs.nodes.form import connection_field, hints
from jobs.nodes.payload import (
    MessageColumns,
    payload_columns_field,
    payload_complete,
    payload_delimiter_field,
    payload_empty,
    payload_format_field,
    payload_read,
    payload_schema,
)
from jobs.nodes.spool import Spool, spool_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: By what the spool calls them.
_METADATA: MessageColumns = {
    "webhook_position": ("bigint", "position"),
    "webhook_received": ("timestamp", "received"),
    "webhook_headers": ("map<string, string>", "headers"),
}
_SAMPLED = 200


class WebhookConfig(base.Config):
    connection: str = connection_field("webhook")
    format: Literal["json", "csv", "text", "binary"] = payload_format_field()
    columns: tuple[ColumnField, ...] = payload_columns_field()
    delimiter: str = payload_delimiter_field()
    start: Literal["earliest", "latest"] = Field(
        "earliest",
        description="Where a start from the beginning begins: at the oldest message that is kept, or behind the newest.",
        examples=["earliest"],
    )
    max_kept: int = Field(
        1_000_000,
        ge=1,
        le=100_000_000,
        description="Most messages that wait to be read or may be read again from a checkpoint; further ones are asked to come later.",
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
        description="Add position, time and headers of each message as columns that begin with webhook_.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )

    @property
    def avro_schema(self) -> str:
        return ""

    @model_validator(mode="after")
    def _is_complete(self) -> WebhookConfig:
        payload_complete(self)
        return self


class WebhookSource(Source[WebhookConfig]):
    """Reads messages that other systems post to /hooks/ of this product.

    Unbounded; in an import or a query bounded by the newest message at the start. Exactly once: a message is answered when it is
    on disk, and read once in a generation; one that is sent again with its id is kept once.
    """

    type = "source.webhook"
    title = "Webhook"
    icon = "webhook"
    Config = WebhookConfig
    connection_kinds = ("webhook",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    summary_template = "{connection} · {format}"
    address_template = "/hooks/{job_uid}/{node_id}"

    def resumes(self, config: WebhookConfig) -> bool:
        return True

    def read(self, spark: SparkSession, context: NodeContext[WebhookConfig]) -> DataFrame:
        from jobs.nodes.readers.spool_rows import SpoolRows

        config = context.config
        spool = Spool(spool_path(context.limits.data_dir, context.job_uid, context.node_id))
        kept = context.work_dir / "sampled_schema.json" if context.mode == "stream" and not context.schema_only else None
        schema = payload_schema(spark, config, lambda: _newest(spool), kept)
        metadata = _METADATA if config.metadata else {}
        if context.schema_only:
            return payload_empty(spark, schema, metadata, config)
        context.log(f"messages are taken at /hooks/{context.job_uid}/{context.node_id}")
        spark.dataSource.register(SpoolRows)
        slots = str(spark.sparkContext.defaultParallelism)
        options = {"path": str(spool.path), "rows": str(config.max_records_per_trigger), "start": config.start, "slots": slots}
        reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.node_id)
        messages = reader.format(SpoolRows.name()).options(**options).load()
        return payload_read(messages, schema, metadata, config)

    def trim(self, positions: Callable[[], Sequence[Any]], context: NodeContext[WebhookConfig]) -> None:
        """Messages before all of `positions` are read and can be restored to by nobody."""
        lowest = min((int(position["position"]) for position in positions()), default=0)
        Spool(spool_path(context.limits.data_dir, context.job_uid, context.node_id)).trim(lowest + 1)


def _newest(spool: Spool) -> list[str]:
    if not spool.path.exists():  # nobody has posted yet, and looking leaves nothing behind
        return []
    newest = spool.newest()
    try:
        found = list(spool.read(max(spool.oldest() - 1, newest - _SAMPLED), newest))
    except LookupError as error:
        raise NodeError(f"reading the messages that wait: {error}") from error
    return [message.value.decode("utf-8", "replace") for message in found if message.value is not None]
