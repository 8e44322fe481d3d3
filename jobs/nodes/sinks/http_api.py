"""Sends rows to an HTTP API, at least once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import column
from jobs.nodes.connections.http_api import HEADER_NAME, RESERVED_HEADERS
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.places import JsonTemplate, TemplateText, place_names
from jobs.nodes.worker_errors import node_error_in

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

#: Rejected rows of a batch that are handed over to be looked at; all are counted.
_SAMPLE_ROWS = 100


class RowParameter(base.Config):
    name: str = Field(min_length=1, max_length=100, pattern=r"^[^\s&=?#]*$", description="Name of the parameter.", examples=["id"])
    value: TemplateText = Field("", max_length=2000, description="Its value; ${column} stands for the row's.", examples=["${id}"])


class RowHeader(base.Config):
    name: str = Field(min_length=1, max_length=100, pattern=HEADER_NAME, description="Name of the header.", examples=["X-Tenant"])
    value: TemplateText = Field(
        max_length=2000, description="Its value, no secret; ${column} stands for the row's.", examples=["${tenant}"]
    )


class HttpApiSinkConfig(base.Config):
    connection: str = connection_field("http_api")
    method: Literal["POST", "PUT", "PATCH", "DELETE"] = Field("POST", description="How to send.", examples=["POST", "PUT"])
    path: TemplateText = Field(
        "",
        max_length=2000,
        pattern=r"^(\$\{[^{}]+\}|[^\s?#\\])*$",
        description="What follows the connection's base address; ${column} stands for the row's value, escaped.",
        examples=["orders", "orders/${id}"],
    )
    body: TemplateText = Field(
        "",
        max_length=100_000,
        description=(
            'JSON to send for a row: "${column}" becomes the value with its type, within a longer text it is written in. '
            "Empty sends the whole row as a JSON object, and nothing with DELETE."
        ),
        examples=['{"order": {"id": "${id}", "label": "No. ${id}"}}'],
        json_schema_extra=hints("textarea"),
    )
    rows_per_request: int = Field(
        1,
        ge=1,
        le=10_000,
        description="Rows sent together, at most. If the server refuses such a request, all its rows are rejected.",
        examples=[1, 100],
    )
    many_rows_as: Literal["array", "lines"] = Field(
        "array",
        description="Several rows in a request stand in a JSON array, or one on each line.",
        examples=["lines"],
        json_schema_extra=hints(advanced=True),
    )
    keys: tuple[ColumnName, ...] = Field(
        (),
        description=(
            "Columns whose values together no other row ever has, such as id and version: a repeat of a row then carries the same "
            "idempotency key, even after a restore. Without them the key is made of the run's generation, the batch and the row's place "
            "in it: the same when a batch is tried again with the same rows in the same order, another after a restore."
        ),
        examples=[["id"], ["id", "version"]],
        json_schema_extra=hints("columns"),
    )
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
    concurrency: int = Field(
        4, ge=1, le=100, description="Requests at once, at most.", examples=[4, 16], json_schema_extra=hints(advanced=True)
    )
    keep_order: bool = Field(
        True,
        description="Send the rows of a partition one after the other; otherwise several at once, and a later row may arrive first.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    requests_per_second: float | None = Field(
        None,
        gt=0,
        le=10_000,
        description="Requests a second, at most; one task then sends all. Empty sets no limit.",
        examples=[10, 0.5],
        json_schema_extra=hints(advanced=True),
    )
    timeout_seconds: float = Field(
        30, gt=0, le=600, description="How long to wait for an answer.", examples=[30], json_schema_extra=hints(advanced=True)
    )
    attempts: int = Field(
        5, ge=1, le=20, description="How often to try a request before giving up.", examples=[5], json_schema_extra=hints(advanced=True)
    )

    @model_validator(mode="after")
    def _templates_hold(self) -> HttpApiSinkConfig:
        if self.body and not JsonTemplate(self.body).is_json():
            raise ValueError("the body must be JSON")
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
    guarantee: ClassVar[str] = "at least once"
    own_places = {"path": None, "body": None, "parameters": None, "headers": None}

    def waits_for(self, context: NodeContext[HttpApiSinkConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_silent

        return api_silent(context.connection(context.config.connection), context.limits)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[HttpApiSinkConfig]) -> None:
        self.check(spark, schema, context)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[HttpApiSinkConfig]) -> None:
        """Nothing is asked of the server: there is no request that every API would take as a question."""
        known = {name.lower() for name in schema.names}
        for name, field in context.config.columns_used().items():
            if name.lower() not in known:
                raise NodeError(
                    f"sending to an API: there is no column {name}; the columns are {', '.join(schema.names)}",
                    permanent=True,
                    kind="user",
                    field=field,
                )
        context.connection(context.config.connection)

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[HttpApiSinkConfig]) -> Written:
        """Every task sends its own rows and hands back counts, and some of what was rejected."""
        from pyspark.errors import PySparkException

        from jobs.nodes.sinks.http_sending import RESULT, Sending

        config = context.config
        tasks = _tasks(frame, config)
        sending = Sending(
            config=config,
            connection=context.connection(config.connection),
            limits=context.limits,
            identity=f"{context.job_uid}/{context.node_id}",
            batch=f"{context.generation}/{batch.batch_id}",
            node_id=context.node_id,
            at_once=1 if config.keep_order else max(1, config.concurrency // tasks),
            samples=max(1, _SAMPLE_ROWS // tasks),
            stops_at_rejected=batch.fails_at_rejected,
        )
        try:
            results = _sendable(frame, config).coalesce(tasks).mapInArrow(lambda batches: sending.run(batches), RESULT).collect()
        except PySparkException as error:
            carried = node_error_in(str(error))
            if carried is None:
                raise
            raise carried.error from None
        rejected_rows = tuple((row.reason, row.row) for row in results if row.reason is not None)
        return Written(
            rows=sum(row.sent for row in results), rejected=sum(row.rejected for row in results), rejected_rows=rejected_rows[:_SAMPLE_ROWS]
        )


def _tasks(frame: DataFrame, config: HttpApiSinkConfig) -> int:
    """How many tasks send. With a pace it is one, since tasks know nothing of each other; else no more than may run at once."""
    if config.requests_per_second is not None:
        return 1
    if config.keep_order:
        return config.concurrency
    return max(1, min(config.concurrency, frame.sparkSession.sparkContext.defaultParallelism))


def _sendable(frame: DataFrame, config: HttpApiSinkConfig) -> DataFrame:
    """`row`: the whole row as JSON, `columns_used`: JSON texts of the columns named in the templates, nulls kept in both."""
    from pyspark.sql import functions as F

    options: Any = {"ignoreNullFields": "false"}
    whole = F.to_json(F.struct(*(column(name) for name in frame.columns)), options)
    each = [F.to_json(F.struct(column(name).alias("v")), options) for name in config.columns_used()]
    return frame.select(whole.alias("row"), (F.array(*each) if each else F.array().cast("array<string>")).alias("columns_used"))
