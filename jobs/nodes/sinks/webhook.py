"""Posts rows as signed messages, at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, Sink, Written
from jobs.nodes.connections.webhook_receiver import WebhookReceiverSettings, as_http_api, proving_of
from jobs.nodes.form import connection_field, hints
from jobs.nodes.places import JsonTemplate
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.http_delivery import Delivery, RowBody, columns_check

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from jobs.nodes.sinks.http_api import HttpApiSinkConfig


class WebhookReceiverPlace(base.Config):
    connection: str = connection_field("webhook_receiver")


class WebhookSinkConfig(Delivery, RowBody, WebhookReceiverPlace):
    many_rows_as: Literal["array", "lines"] = Field(
        "lines",
        description="Several rows in a request stand one on each line, which a webhook source takes apart again, or in a JSON array.",
        examples=["lines"],
        json_schema_extra=hints(advanced=True),
    )

    def columns_used(self) -> dict[str, str]:
        """Each column that the body and the keys name, and the field that names it."""
        return dict.fromkeys(self.keys, "keys") | dict.fromkeys(JsonTemplate(self.body).names, "body")

    def as_http_api(self, id_header: str) -> HttpApiSinkConfig:
        """The same as a sink that posts to an API's base address."""
        from jobs.nodes.sinks.http_api import HttpApiSinkConfig

        return HttpApiSinkConfig(**self.model_dump(), method="POST", path="", idempotency_header=id_header)


class WebhookSink(Sink[WebhookSinkConfig]):
    """Posts rows as signed messages, such as to a webhook source of another installation.

    Bounded and unbounded input. At least once: what was posted before a failure is posted again, with the same id `job/node/` and the
    key columns' values, by which a webhook source keeps it once; without key columns the id holds generation, batch and the row's place
    instead, so that a repeat is recognised only while the batch keeps its rows and their order, and never after a restore. Rows that go
    together are recognised only when the same ones go together again, as they do when a batch is tried again, but not after a restore.
    """

    type = "sink.webhook"
    title = "Webhook"
    icon = "webhook"
    Config = WebhookSinkConfig
    connection_kinds = ("webhook_receiver",)
    summary_template = "{connection}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"concurrency", "requests_per_second", "timeout_seconds", "attempts"})
    guarantee: ClassVar[str] = "at least once"
    rejects_rows: ClassVar[bool] = True
    stays: ClassVar[Hindrance] = "sent"
    own_places = {"body": None}

    def waits_for(self, context: NodeContext[WebhookSinkConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_awaited

        receiver = as_http_api(context.connection(context.config.connection))
        return api_awaited(receiver, context.limits, context.work_dir).replace("HTTP API", "webhook", 1)

    def needs_to_begin(self, context: NodeContext[WebhookSinkConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_silent

        return api_silent(as_http_api(context.connection(context.config.connection)), context.limits).replace("HTTP API", "webhook", 1)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[WebhookSinkConfig]) -> None:
        self.check(spark, schema, context)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[WebhookSinkConfig]) -> None:
        """Nothing is asked of the receiver: it would take it for a message."""
        columns_check(schema.names, context.config.columns_used())
        proving_of(context.connection(context.config.connection))

    def write_plainly(self, frame: DataFrame, context: NodeContext[WebhookSinkConfig]) -> tuple[DataFrame, str]:
        from jobs.nodes.sinks.http_plain import Signature
        from jobs.nodes.sinks.http_sending import rows_sent_plainly

        receiver = context.connection(context.config.connection)
        typed = WebhookReceiverSettings.model_validate(receiver.config)
        signature = Signature(typed.proof_header, proving_of(receiver).secret, typed.proof == "signature")
        rows_sent_plainly(frame, context, context.config.as_http_api(typed.id_header), as_http_api(receiver), signature)
        return frame, ""

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[WebhookSinkConfig]) -> Written:
        """Every task posts its own rows and hands back counts, and some of what was rejected."""
        from jobs.nodes.sinks.http_sending import rows_sent

        receiver = context.connection(context.config.connection)
        id_header = WebhookReceiverSettings.model_validate(receiver.config).id_header
        return rows_sent(frame, batch, context, context.config.as_http_api(id_header), as_http_api(receiver), proving_of(receiver))
