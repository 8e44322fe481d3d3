"""Calls an HTTP API for each row, and passes the row on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field

from jobs.nodes.base import REJECTED, Flow, NodeContext
from jobs.nodes.form import hints
from jobs.nodes.sinks.http_api import HttpApiSinkConfig
from jobs.nodes.sinks.http_delivery import columns_check
from jobs.nodes.user_python.arrow_schema import handed_schema, refuse_twice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class ForEachConfig(HttpApiSinkConfig):
    rows_per_request: int = Field(
        1,
        ge=1,
        le=10_000,
        description="One call is about so many, at most; one that is refused rejects all of them.",
        examples=[1, 100],
        json_schema_extra=hints(half=True),
    )


class ForEach(Flow[ForEachConfig]):
    """Calls an HTTP API for each row and passes the row on as it is; a row whose call is refused is rejected.

    At least once: the calls of a batch are made before its rows go further, once however many sinks read them, and again where the
    batch, or one of its tasks, is begun again. A call carries an idempotency key `job/node/` and the key columns' values, or, without
    them, the generation, the batch and the row's place in it. A preview and a test of the job make no call.
    """

    type = "flow.for_each"
    title = "For each: HTTP call"
    icon = "send-2"
    Config = ForEachConfig
    connection_kinds = ("http_api",)
    rejects_rows: ClassVar[bool] = True
    computes_once: ClassVar[bool] = True
    acts: ClassVar[bool] = True
    summary_template = "{method} {path}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"concurrency", "requests_per_second", "timeout_seconds", "attempts"})
    own_places = {"path": None, "body": None, "parameters": None, "headers": None}

    def waits_for(self, context: NodeContext[ForEachConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_awaited

        return api_awaited(context.connection(context.config.connection), context.limits, context.work_dir) if context.is_run else ""

    def needs_to_begin(self, context: NodeContext[ForEachConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_silent

        return api_silent(context.connection(context.config.connection), context.limits) if context.is_run else ""

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ForEachConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        from jobs.nodes.flows.for_each_calls import rows_called, rows_called_plainly

        (frame,) = frames["in"]
        refuse_twice(frame)
        columns_check(frame.columns, context.config.columns_used())
        handed_schema(frame.schema, context.time_zone, "goes through the call")
        if context.for_script:
            return rows_called_plainly(frame, context, context.connection(context.config.connection))
        if not context.is_run:
            return frame.withColumn(REJECTED, F.lit(None).cast("string"))
        return rows_called(frame, context, context.connection(context.config.connection))
