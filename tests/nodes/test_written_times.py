"""Times in the JSON and CSV that goes out: none loses its microseconds, whichever way it takes."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.engine.counts import row_text
from jobs.engine.shown_rows import rows_shown
from jobs.nodes.base import Batch
from jobs.nodes.sinks.hbase_values import value_column
from jobs.nodes.sinks.http_api import HttpApiSinkConfig
from jobs.nodes.sinks.http_sending import sendable
from jobs.nodes.sinks.jdbc_mysql import MysqlDialect
from jobs.nodes.sinks.jdbc_postgresql import PostgresqlDialect
from jobs.nodes.sinks.jdbc_sqlite import SqliteDialect
from jobs.nodes.sinks.messages import message_value
from tests.nodes.conftest import Build

pytestmark = pytest.mark.spark

AT, LOCAL = "2026-03-01T12:30:00.123456Z", "2026-03-01T12:30:00.000001"
JSON = f'{{"at":"{AT}","local":"{LOCAL}"}}'


@pytest.fixture
def times(spark: SparkSession) -> DataFrame:
    return spark.sql(f"SELECT timestamp'{AT}' AS at, timestamp_ntz'{LOCAL}' AS local").coalesce(1)


def only(frame: DataFrame) -> str:
    ((text,),) = frame.collect()
    return text.decode() if isinstance(text, bytes | bytearray) else str(text)


@pytest.mark.parametrize(("file_format", "text"), [("json", f"{JSON}\n"), ("csv", f"at,local\n{AT},{LOCAL}\n")])
def test_in_files(times: DataFrame, build: Build, root: Path, file_format: str, text: str) -> None:
    sink = build("sink.file", {"path": "out", "format": file_format})
    sink.node.begin(times.sparkSession, times.schema, sink.context)
    sink.node.write(times, Batch(0, "q", rows=1), sink.context)
    (file,) = (root / "out").glob(f"*.{file_format}")
    assert file.read_text() == text


def test_in_messages_and_requests(times: DataFrame, build: Build) -> None:
    context = build("sink.kafka", {"connection": "main", "topic": "t"}).context
    assert only(times.select(message_value(times, context.config, "writing"))) == JSON
    config = HttpApiSinkConfig.model_validate({"connection": "main", "path": "/${at}", "keys": ["local"]})
    ((row, used),) = times.select(*sendable(times, config)).collect()
    assert row == JSON
    assert set(used) == {f'{{"v":"{AT}"}}', f'{{"v":"{LOCAL}"}}'}


def test_within_nested_values_of_tables(times: DataFrame) -> None:
    nested = times.select(F.struct("at", "local").alias("v"))
    kind = nested.schema["v"].dataType
    for dialect in (MysqlDialect, PostgresqlDialect, SqliteDialect):
        assert only(nested.select(dialect.value_column(None, F.col("v"), kind))) == JSON  # type: ignore[arg-type]
    assert only(nested.select(value_column(F.col("v"), kind, "bytes"))) == JSON


def test_in_what_is_shown_and_kept_of_rows(times: DataFrame, build: Build) -> None:
    assert rows_shown(times, 5)["rows"] == [{"at": AT, "local": LOCAL}]
    assert only(times.select(row_text(times))) == JSON
    printed = build("sink.print", {"rows": 5}, log=lambda _: None)
    assert printed.node.write(times, Batch(0, "q", rows=1), printed.context).printed == (JSON,)
