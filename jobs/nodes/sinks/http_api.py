"""Sends rows to an HTTP API, at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, Sink, Written
from jobs.nodes.connections.http_api import HEADER_NAME, RESERVED_HEADERS
from jobs.nodes.form import connection_field, hints
from jobs.nodes.places import JsonTemplate, TemplateText, place_names
from jobs.nodes.roll_back import Hindrance
from jobs.nodes.sinks.http_delivery import Delivery, RowBody, columns_check

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class RowParameter(base.Config):
    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\s&=?#]*$", description="Name of the parameter.", examples=["id"])
    value: TemplateText = Field("", max_length=2000, description="Its value; ${column} stands for the row's.", examples=["${id}"])


class RowHeader(base.Config):
    name: str = Field(min_length=1, max_length=100, pattern=HEADER_NAME, description="Name of the header.", examples=["X-Tenant"])
    value: TemplateText = Field(
        max_length=2000, description="Its value, no secret; ${column} stands for the row's.", examples=["${tenant}"]
    )


class HttpApiPlace(base.Config):
    connection: str = connection_field("http_api")
    path: TemplateText = Field(
        "",
        max_length=2000,
        pattern=r"^(\$\{[^{}]+\}|[^\s?#\\])*$",
        description="What follows the connection's base address; ${column} stands for the row's value, escaped.",
        examples=["orders", "orders/${id}"],
    )
    method: Literal["POST", "PUT", "PATCH", "DELETE"] = Field(
        "POST", description="DELETE without a body sends nothing of the row.", examples=["POST", "PUT"], json_schema_extra=hints(half=True)
    )


class HttpApiExtras(base.Config):
    idempotency_header: str = Field(
        "Idempotency-Key",
        max_length=100,
        pattern=f"{HEADER_NAME[:-2]}*$",
        description="The header by which the server can tell a repeat; empty sends none.",
        examples=["Idempotency-Key"],
        json_schema_extra=hints(advanced=True, allowed="a header's name: letters, digits and hyphens"),
    )
    parameters: tuple[RowParameter, ...] = Field(
        (),
        description="Parameters of every request.",
        examples=[[{"name": "id", "value": "${id}"}]],
        json_schema_extra=hints("mapping", advanced=True),
    )
    headers: tuple[RowHeader, ...] = Field(
        (),
        description="Headers of every request, besides the connection's.",
        examples=[[{"name": "X-Tenant", "value": "${tenant}"}]],
        json_schema_extra=hints("mapping", advanced=True),
    )
    accepted_statuses: str = Field(
        "",
        pattern=r"^(4\d\d(, ?4\d\d)*)?$",
        description="Refusals that mean that the row is there already, such as 409, or already gone; 401 and 403 never do.",
        examples=["409", "404, 410"],
        json_schema_extra=hints(advanced=True, allowed="numbers from 400 to 499 with a comma between"),
    )


class HttpApiSinkConfig(Delivery, HttpApiExtras, RowBody, HttpApiPlace):
    @model_validator(mode="after")
    def _templates_hold(self) -> HttpApiSinkConfig:
        outside = [self.path, *(pair.value for pair in self.parameters), *(pair.value for pair in self.headers)]
        if self.rows_per_request > 1 and any(place_names(text) for text in outside):
            raise ValueError("a request with several rows can name columns in its body only: send one row a request, or take them out")
        return self

    @model_validator(mode="after")
    def _headers_are_harmless(self) -> HttpApiSinkConfig:
        names = [header.name.lower() for header in self.headers] + [self.idempotency_header.lower()]
        reserved = sorted(RESERVED_HEADERS & set(names))
        if reserved:
            raise ValueError(f"the header {reserved[0]} is set by the request itself: remove it")
        if {"authorization", "cookie"} & set(names):
            raise ValueError("what signs in belongs to the connection, not into a document: remove the header")
        if len(set(names)) < len(names):
            raise ValueError("a header is named twice: keep one of each")
        return self

    def columns_used(self) -> dict[str, str]:
        """Each column that the templates and keys name, and the field that names it first."""
        named = [
            *(("path", name) for name in place_names(self.path)),
            *(("body", name) for name in JsonTemplate(self.body).names),
            *(("keys", name) for name in self.keys),
            *(("parameters", name) for pair in self.parameters for name in place_names(pair.value)),
            *(("headers", name) for pair in self.headers for name in place_names(pair.value)),
        ]
        return {name: field for field, name in reversed(named)}


class HttpApiSink(Sink[HttpApiSinkConfig]):
    """Sends rows to an HTTP API, one or several in a request.

    Bounded and unbounded input. At least once: what was sent before a failure is sent again, with the same idempotency key
    `job/node/` and the key columns' values; without key columns it holds generation, batch and the row's place instead, so that a
    repeat is recognised only while the batch keeps its rows and their order, and never after a restore. A newer attempt cannot keep
    an older one from sending what it has under way.
    """

    type = "sink.http_api"
    title = "HTTP API"
    icon = "api"
    Config = HttpApiSinkConfig
    connection_kinds = ("http_api",)
    summary_template = "{method} {path}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"concurrency", "requests_per_second", "timeout_seconds", "attempts"})
    guarantee: ClassVar[str] = "at least once"
    rejects_rows: ClassVar[bool] = True
    stays: ClassVar[Hindrance] = "sent"
    own_places = {"path": None, "body": None, "parameters": None, "headers": None}

    def waits_for(self, context: NodeContext[HttpApiSinkConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_awaited

        return api_awaited(context.connection(context.config.connection), context.limits, context.work_dir)

    def needs_to_begin(self, context: NodeContext[HttpApiSinkConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_silent

        return api_silent(context.connection(context.config.connection), context.limits)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[HttpApiSinkConfig]) -> None:
        self.check(spark, schema, context)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[HttpApiSinkConfig]) -> None:
        """Nothing is asked of the server: there is no request that every API would take as a question."""
        columns_check(schema.names, context.config.columns_used())
        context.connection(context.config.connection)

    def write_plainly(self, frame: DataFrame, context: NodeContext[HttpApiSinkConfig]) -> tuple[DataFrame, str]:
        from jobs.nodes.sinks.http_sending import rows_sent_plainly

        rows_sent_plainly(frame, context, context.config, context.connection(context.config.connection))
        return frame, ""

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[HttpApiSinkConfig]) -> Written:
        """Every task sends its own rows and hands back counts, and some of what was rejected."""
        from jobs.nodes.sinks.http_sending import rows_sent

        return rows_sent(frame, batch, context, context.config, context.connection(context.config.connection))
