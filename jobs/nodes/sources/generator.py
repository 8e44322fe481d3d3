"""Makes numbered rows, for trials and tests."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, model_validator

from jobs.dag.samples import MAX_SAMPLE_ROWS
from jobs.nodes import base
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.columns import empty_frame, schema_from_ddl
from jobs.nodes.fake_fields import FakeField, FakeLocale
from jobs.nodes.form import hints
from jobs.nodes.hand_positions import HandPositions, NumberPart
from jobs.nodes.user_python.workers import in_workers_shared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_OWN_COLUMNS = ("id", "time", "key", "value")


class GeneratorConfig(base.Config):
    total_rows: int | None = Field(
        1000, ge=0, le=10**12, description="Ends after so many rows; empty never ends.", examples=[1000, 1_000_000]
    )
    rows_per_second: int | None = Field(
        None, ge=1, le=10_000_000, description="Makes so many rows a second; empty makes them as fast as they are taken.", examples=[100]
    )
    fields: tuple[FakeField, ...] = Field(
        (),
        description="More columns, with values that look real: names, addresses, amounts.",
        examples=[[{"name": "customer", "kind": "name"}, {"name": "city", "kind": "city"}]],
    )
    locale: FakeLocale = Field(
        "en_US",
        description="The country whose names and addresses those columns hold.",
        examples=["en_US", "zh_CN"],
        json_schema_extra=hints(advanced=True),
    )
    rows_per_batch: int = Field(
        10_000,
        ge=1,
        le=100_000_000,
        description="At most so many rows in one batch.",
        examples=[10_000],
        json_schema_extra=hints(advanced=True),
    )
    seed: int = Field(
        1, description="Another seed makes other values for the same numbers.", examples=[1], json_schema_extra=hints(advanced=True)
    )
    start_time: datetime = Field(
        datetime.fromisoformat("2025-01-01T00:00:00+00:00"),
        description="The time of the first row; UTC unless it says otherwise.",
        examples=["2025-01-01T00:00:00Z"],
        json_schema_extra=hints(advanced=True),
    )
    step_ms: int = Field(
        1000,
        ge=0,
        le=86_400_000,
        description="Milliseconds between two rows' times.",
        examples=[1000],
        json_schema_extra=hints(advanced=True),
    )

    @model_validator(mode="after")
    def _columns_have_different_names(self) -> GeneratorConfig:
        names = [*_OWN_COLUMNS, *(field.name.lower() for field in self.fields)]
        twice = next((name for name in names if names.count(name) > 1), "")
        if twice:
            raise ValueError(f"two columns are called {twice}: rename one; id, time, key and value are there already")
        return self


class GeneratorSource(Source[GeneratorConfig]):
    """Makes rows numbered from 0 without a gap: id, time, key, value and columns that look real, the same for the same seed.

    Bounded with a total, unbounded without. Exactly once: a row follows from its number alone, so a restart makes the same rows again.
    """

    type = "source.generator"
    title = "Generator"
    icon = "number-123"
    Config = GeneratorConfig
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "both"
    guarantee: ClassVar[str] = "exactly once"
    summary_template = "{total_rows} rows in all · {rows_per_second} rows a second"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"total_rows", "rows_per_second", "rows_per_batch"})
    row_fields: ClassVar[frozenset[str]] = frozenset({"fields", "locale", "seed", "start_time", "step_ms"})
    hand_positions: ClassVar[HandPositions | None] = NumberPart("next")

    def check_end(self, config: GeneratorConfig) -> None:
        if config.total_rows is None:
            message = "making rows: the table of a lookup or a job that ends needs a total; set total rows"
            raise NodeError(message, permanent=True, kind="user", field="total_rows")

    def read(self, spark: SparkSession, context: NodeContext[GeneratorConfig]) -> DataFrame:
        from jobs.nodes.readers.numbered_rows import NumberedRows, columns_ddl

        config = context.config
        if context.bounded:
            self.check_end(config)
        if context.schema_only:
            return empty_frame(spark, schema_from_ddl(columns_ddl(config)))
        in_workers_shared(lambda: spark.dataSource.register(NumberedRows))
        if context.mode == "batch" and context.is_drawn and config.total_rows is None:
            config = config.model_copy(update={"total_rows": MAX_SAMPLE_ROWS})
        settings = {"settings": config.model_dump_json(), "slots": str(spark.sparkContext.defaultParallelism)}
        if context.mode == "batch":
            return spark.read.format(NumberedRows.name()).options(**settings).load()
        return spark.readStream.name(context.stream_name).format(NumberedRows.name()).options(**settings).load()
