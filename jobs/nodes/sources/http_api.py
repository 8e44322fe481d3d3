"""Reads records from a paged JSON API."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jobs.nodes.base import Caution, NodeContext, NodeError, Source
from jobs.nodes.columns import empty_frame, rejected_schema, sampled_names_check, schema_of
from jobs.nodes.durable_text import text_place
from jobs.nodes.hand_positions import HandPositions
from jobs.nodes.page_positions import PagePositions
from jobs.nodes.page_records import records_typed
from jobs.nodes.plainly import sign_in_fault
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sources.http_api_config import PLACES, HttpApiConfig
from jobs.nodes.user_python.workers import in_workers_shared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from jobs.nodes.page_styles import Page
    from jobs.nodes.page_walk import PageWalk

#: So many pages are asked for one with records.
_MOST_SAMPLED = 20


class HttpApiSource(Source[HttpApiConfig]):
    """Reads records from a JSON API, page by page: by number, offset, cursor or link.

    Bounded: a stream can only look things up in it. By number and by offset it ends with a page that is empty, or is not there while
    the first one still is and none behind it is. Exactly once as long as pages keep their content: a batch that is run again reads the
    pages that were kept for it. Where the API hands out each record only once, that holds for a paged import; what reads everything as
    one batch loses what it had when it fails, and what a preview reads is gone.
    """

    type = "source.http_api"
    title = "HTTP API"
    icon = "api"
    Config = HttpApiConfig
    job_types = ("BATCH_ROLLER", "SQL_TASK")
    connection_kinds = ("http_api",)
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "bounded"
    guarantee: ClassVar[str] = "exactly once"
    rejects_rows: ClassVar[bool] = True
    summary_template = "{path} · {paging}"
    pace_fields: ClassVar[frozenset[str]] = frozenset(
        {"pages_per_batch", "concurrency", "requests_per_second", "most_pages", "timeout_seconds", "attempts"}
    )
    row_fields: ClassVar[frozenset[str]] = frozenset({"records_pointer", "columns"})
    hand_positions: ClassVar[HandPositions | None] = PagePositions()
    own_places = {"path": PLACES, "body": PLACES, "parameters": PLACES}

    def __init__(self) -> None:
        self._lacks_total = False

    def plain_fault(self, context: NodeContext[HttpApiConfig]) -> str:
        return "" if context.config.columns else sign_in_fault(context)

    def cautions(self, context: NodeContext[HttpApiConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        """Of the page that the columns are taken from: where they are listed, the API is not asked while a job is drawn."""
        pointer, cautions = context.config.total_pointer, super().cautions(context, arriving)
        if not pointer or not self._lacks_total:
            return cautions
        message = f'the first page has no whole number at "{pointer}": correct the total pointer, or leave it empty'
        return [*cautions, Caution("total_pointer", message, "total.missing")]

    def waits_for(self, context: NodeContext[HttpApiConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_awaited

        return api_awaited(context.connection(context.config.connection), context.limits, context.work_dir)

    def needs_to_begin(self, context: NodeContext[HttpApiConfig]) -> str:
        from jobs.nodes.connections.http_api_check import api_silent

        return api_silent(context.connection(context.config.connection), context.limits)

    def complete(self, context: NodeContext[HttpApiConfig]) -> None:
        """Pages are kept for a batch that is run again, of which there is none any more."""
        shutil.rmtree(_pages(context), ignore_errors=True)

    def read(self, spark: SparkSession, context: NodeContext[HttpApiConfig]) -> DataFrame:
        from jobs.nodes.readers.http_pages import HttpPages

        schema = self._schema(spark, context)
        if context.schema_only:
            return empty_frame(spark, rejected_schema(schema))
        in_workers_shared(lambda: spark.dataSource.register(HttpPages))
        connection = context.connection(context.config.connection)
        settings = {
            "node_id": context.node_id,
            "config": context.config.model_dump(mode="json"),
            "connection": {"name": connection.name, "kind": connection.kind, "config": dict(connection.config)},
            "http_allowed_hosts": list(context.limits.http_allowed_hosts),
            "tried_again": str(RetryNote.of(context.work_dir).place),
            "pages": str(_pages(context)),
        }
        options = {"settings": json.dumps(settings), "secret": json.dumps(dict(connection.secrets))}  # Spark hides options of this name
        reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.stream_name)
        return records_typed(reader.format(HttpPages.name()).options(**options).load(), schema, plainly=context.for_script)

    def _schema(self, spark: SparkSession, context: NodeContext[HttpApiConfig]) -> StructType:
        """What the form lists, else that of the first page with records; a stream keeps it, so that a restart reads the same types."""
        from pyspark.sql.types import StructType

        from jobs.nodes.page_requests import page_walk

        if context.config.columns:
            return schema_of(context.config.columns)
        kept = context.work_dir / "sampled_schema.json"
        if context.mode == "stream" and kept.is_file():
            return StructType.fromJson(json.loads(kept.read_text(encoding="utf-8")))
        with closing(page_walk(context.config, context.connection(context.config.connection), context.limits)) as walk:
            page = _first_page(walk)
        if page is None:
            message = "reading an API: the first page is empty, so it tells no columns; list the columns"
            raise NodeError(message, kind="user", field="columns")
        self._lacks_total = page.total is None
        schema = spark.read.json(spark.sparkContext.parallelize(page.records, 1)).schema
        sampled_names_check(schema.names, "the records of the first page")
        if context.mode == "stream" and not context.schema_only:
            text_place(kept, schema.json())
        return schema


def _pages(context: NodeContext[HttpApiConfig]) -> Path:
    return (context.work_dir / "pages").resolve()


def _first_page(walk: PageWalk) -> Page | None:
    """The first that holds records, if there is one near: a chain may begin with empty pages."""
    position = walk.start()
    for _ in range(_MOST_SAMPLED):
        pages, following = walk.batch(position, 1)
        if following == position or any(page.records for page in pages):
            return pages[0] if pages else None
        position = following
    return None
