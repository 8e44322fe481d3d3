"""Reads messages that other systems post to this product."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from jobs.nodes import base
from jobs.nodes.base import NodeContext
from jobs.nodes.form import connection_field
from jobs.nodes.payload import MessageColumns
from jobs.nodes.spool_source import SpoolConfig, SpoolSource

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class WebhookPlace(base.Config):
    connection: str = connection_field("webhook")


class WebhookConfig(SpoolConfig, WebhookPlace):
    pass


class WebhookSource(SpoolSource[WebhookConfig]):
    """Reads messages that other systems post to /hooks/ of this product.

    Unbounded; in an import or a query bounded by the newest message at the start. Exactly once: a message is answered when it is
    on disk, and read once in a generation; one that is sent again with its id is kept once.
    """

    type = "source.webhook"
    title = "Webhook"
    icon = "webhook"
    Config = WebhookConfig
    connection_kinds = ("webhook",)
    summary_template = "{connection} · {format}"
    address_template = "/hooks/{job_uid}/{node_id}"
    message_columns: ClassVar[MessageColumns] = {
        "webhook_position": ("bigint", "position"),
        "webhook_received": ("timestamp", "received"),
        "webhook_headers": ("map<string, string>", "headers"),
    }

    def read(self, spark: SparkSession, context: NodeContext[WebhookConfig]) -> DataFrame:
        if not context.schema_only:
            context.log(f"messages are taken at /hooks/{context.job_uid}/{context.node_id}")
        return super().read(spark, context)
