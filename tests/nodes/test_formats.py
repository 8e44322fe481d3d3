"""Formats of messages that other packages bring: rows become messages and the same rows again, and what does not fit is told."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.nodes.columns import ColumnField
from jobs.nodes.flows.parse import Parse, ParseConfig
from jobs.nodes.formats import FORMAT_GROUP, FORMATS, Formats, format_hinders_real_time
from jobs.nodes.message_format import MessageFormat
from jobs.nodes.payload import payload_complete, payload_read, payload_schema

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "plugin"


@pytest.fixture
def logfmt(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The example's format; its code goes to Spark's workers by value, for they began before it was there."""
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(EXAMPLE))
        patch.setattr(FORMATS, "_points", lambda: [EntryPoint("logfmt", "pipeline_web_redis.logfmt:Logfmt", FORMAT_GROUP)])
        FORMATS.__dict__.pop("_found", None)
        module = import_module("pipeline_web_redis.logfmt")
        cloudpickle.register_pickle_by_value(module)
        yield module.Logfmt()
        cloudpickle.unregister_pickle_by_value(module)
    FORMATS.__dict__.pop("_found", None)


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("", {}),
        ("level=info ok", {"level": "info", "ok": True}),
        ('msg="two words" path="a\\"b\\\\c" empty=', {"msg": "two words", "path": 'a"b\\c', "empty": None}),
        ('name="Łódź 東京"  n=7 ', {"name": "Łódź 東京", "n": "7"}),
    ],
)
def test_the_example_reads_a_line(logfmt: Any, line: str, fields: dict[str, Any]) -> None:
    assert logfmt.decode(line.encode(), list(fields)) == fields


@pytest.mark.parametrize("line", ['a="open', "=7", '"quoted"', 'a="b"c=1', "\xff"])
def test_the_example_refuses_what_is_no_line(logfmt: Any, line: str) -> None:
    with pytest.raises(ValueError, match=r"key=value|utf-8"):
        logfmt.decode(line.encode("latin-1"), [])


@pytest.mark.spark
def test_rows_become_messages_and_the_same_rows_again(spark: SparkSession, logfmt: Any) -> None:
    schema = "n long, word string, price decimal(20,2), at timestamp, day date, ok boolean, x double"
    row = (
        2**60,
        'say "hi" =\n東',
        Decimal("123456789012345678.90"),
        datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC),
        None,
        True,
        -0.5,
    )
    rows = spark.createDataFrame([row, (None,) * 7], schema)
    written = rows.select("*", logfmt.write(F.struct(*rows.columns)).alias("value"))
    read = written.withColumn("read", logfmt.read(F.col("value"), rows.schema)).select("read.*").collect()
    assert [tuple(one) for one in read] == [tuple(one) for one in rows.collect()]


@pytest.mark.spark
def test_what_does_not_fit_is_rejected_as_it_came_and_a_null_is_none(spark: SparkSession, logfmt: Any) -> None:
    lines = ["n=7 word=a", "n=seven", "n=99999999999999999999", 'word="', "word=only other=1", None]
    columns = [{"name": "n", "type": "long"}, {"name": "word", "type": "string"}]
    config = ParseConfig.model_validate({"column": "line", "format": "logfmt", "columns": columns})
    context = SimpleNamespace(config=config, schema_only=False, for_script=False)
    frame = Parse().apply({"in": [spark.createDataFrame([(line,) for line in lines], "line string")]}, cast(Any, context))
    *names, rejected = frame.columns
    assert names == ["n", "word"]
    found = [tuple(row) for row in frame.select("n", "word", F.col(rejected)).collect()]
    assert [row[:2] for row in found if row[2] is None] == [(7, "a"), (None, "only"), (None, None)]
    assert [row[2].rpartition("\n")[2] for row in found if row[2]] == ["n=seven", "n=99999999999999999999", 'word="']


@pytest.mark.spark
@pytest.mark.usefixtures("logfmt")
def test_a_message_of_a_broker_is_read_and_one_that_does_not_fit_is_rejected(spark: SparkSession) -> None:
    columns = (ColumnField(name="n", type="long"),)
    payload = cast(Any, SimpleNamespace(format="logfmt", columns=columns, delimiter=",", null_value="", avro_schema=""))
    payload_complete(payload)
    schema = payload_schema(spark, payload, list)
    messages = spark.createDataFrame([(b"n=7",), (b"n=x",)], "value binary")
    rows = [tuple(row) for row in payload_read(messages, schema, {}, payload).collect()]
    assert rows[0] == (7, None)
    assert rows[1][1].endswith("\nn=x")


class Nested(MessageFormat):
    """Gives whatever was asked of it by the message itself."""

    name = "nested"

    def decode(self, value: bytes, columns: Any) -> Any:
        if value == b"breaks":
            raise KeyError("tag")
        return {"list": [1, 2] if value == b"good" else "no list", "bytes": b"\x00\xff", "at": datetime(2024, 1, 1, tzinfo=UTC)}


@pytest.mark.spark
def test_lists_bytes_and_times_come_through_and_code_that_breaks_rejects(spark: SparkSession) -> None:
    cloudpickle.register_pickle_by_value(import_module(__name__))
    try:
        frame = spark.createDataFrame([(b"good",), (b"odd",), (b"breaks",)], "value binary")
        schema = spark.createDataFrame([], "list array<int>, bytes binary, at timestamp").schema
        found = [row[0] for row in frame.select(Nested().read(F.col("value"), schema)).collect()]
    finally:
        cloudpickle.unregister_pickle_by_value(import_module(__name__))
    assert found[1:] == [None, None]
    assert (found[0]["list"], bytes(found[0]["bytes"])) == ([1, 2], b"\x00\xff")


def test_a_package_takes_no_name_of_ours_and_python_does_not_run_in_real_time(logfmt: Any, caplog: pytest.LogCaptureFixture) -> None:
    formats = Formats(lambda: [EntryPoint("json", "pipeline_web_redis.logfmt:Logfmt", FORMAT_GROUP)])
    assert (formats.names(), formats.get("json")) == ([], None)
    assert 'may not replace the built-in "json"' in caplog.text
    assert format_hinders_real_time("logfmt") == "its format logfmt comes from a package and runs in Python"
    assert format_hinders_real_time("json") == ""
