"""What stands in a test for a job's sources and sinks: rows from files, and a folder in which the rows that arrive are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructType

from jobs.engine.typed_values import json_read
from jobs.nodes.base import REJECTED, Batch, Config, NodeContext, NodeError, Sink, Source, Written
from jobs.nodes.columns import column, empty_frame
from jobs.nodes.json_options import JSON_AS_WRITTEN
from jobs.nodes.registry import NODE_TYPES, NodeRegistry

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: Rows that one outlet of a test may bring forth.
MOST_ROWS = 10_000

_SCHEMA, _ROWS = "schema.json", "rows.jsonl"


class GivenRowsConfig(Config):
    """`table_schema` is a Spark schema in JSON."""

    folder: str = Field(description="Folder with one Parquet file for each batch, in the order of their times.", examples=["given/flights"])
    table_schema: str = Field(description="The columns.", examples=['{"type": "struct", "fields": []}'])


class GivenRows(Source[GivenRowsConfig]):
    """Rows that a test gives; in a stream one file is one batch."""

    type = "source.given_rows"
    title = "Given rows"
    icon = "table"
    Config = GivenRowsConfig
    boundedness = "both"

    def read(self, spark: SparkSession, context: NodeContext[GivenRowsConfig]) -> DataFrame:
        schema = StructType.fromJson(json.loads(context.config.table_schema))
        if context.schema_only:
            return self._rows(empty_frame(spark, schema))
        if context.mode == "batch":
            return self._rows(spark.read.schema(schema).parquet(context.config.folder))
        reader = spark.readStream.name(context.stream_name).schema(schema).option("maxFilesPerTrigger", 1)
        return self._rows(reader.parquet(context.config.folder))

    def _rows(self, frame: DataFrame) -> DataFrame:
        return frame


class GivenGoodRows(GivenRows):
    """Given rows in place of a source whose rejected rows are read: it has none."""

    type = "source.given_good_rows"
    rejects_rows = True

    def _rows(self, frame: DataFrame) -> DataFrame:
        return frame.withColumn(REJECTED, F.lit(None).cast(StringType()))


class KeptRowsConfig(Config):
    """Where to keep."""

    folder: str = Field(description="Folder that takes the columns and the rows.", examples=["kept/0"])


class KeptRows(Sink[KeptRowsConfig]):
    """Keeps the rows of every batch, one after another, as JSON. It refuses none."""

    type = "sink.kept_rows"
    title = "Kept rows"
    icon = "table"
    Config = KeptRowsConfig
    guarantee: ClassVar[str] = "at least once"
    rejects_rows: ClassVar[bool] = True

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[KeptRowsConfig]) -> None:
        folder = Path(context.config.folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / _SCHEMA).write_text(schema.json(), encoding="utf-8")

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[KeptRowsConfig]) -> Written:
        """NodeError past MOST_ROWS rows: what a test compares has to be readable."""
        rows = F.to_json(F.struct(*(column(name) for name in frame.columns)), JSON_AS_WRITTEN) if frame.columns else F.lit("{}")
        texts = [str(text[0]) for text in frame.limit(MOST_ROWS + 1).select(rows).collect()]
        place = Path(context.config.folder) / _ROWS
        before = len(_lines(place))
        if before + len(texts) > MOST_ROWS:
            raise NodeError(f"more than {MOST_ROWS:,} rows come out: give the test fewer rows", permanent=True, kind="user")
        with place.open("a", encoding="utf-8") as file:
            file.writelines(f"{text}\n" for text in texts)
        return Written(rows=len(texts))


def kept_rows(folder: Path) -> tuple[StructType, list[dict[str, Any]]]:
    """What a `KeptRows` kept in `folder`: the columns, and the rows in the order in which they came."""
    schema = StructType.fromJson(json.loads((folder / _SCHEMA).read_text(encoding="utf-8")))
    return schema, [json_read(line) for line in _lines(folder / _ROWS)]


def _lines(place: Path) -> list[str]:
    return place.read_text(encoding="utf-8").split("\n")[:-1] if place.is_file() else []


_HERE = "jobs.engine.trial_nodes"

TRIAL_REGISTRY = NodeRegistry(
    {
        **NODE_TYPES,
        GivenRows.type: f"{_HERE}:GivenRows",
        GivenGoodRows.type: f"{_HERE}:GivenGoodRows",
        KeptRows.type: f"{_HERE}:KeptRows",
    }
)
