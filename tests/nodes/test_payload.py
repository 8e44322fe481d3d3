"""What messages tell of their columns, and what becomes of those that do not fit."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import LINE_MISFIT, REJECTED, NodeError
from jobs.nodes.columns import schema_from_ddl
from jobs.nodes.payload import payload_read, payload_schema

JSON = cast(Any, SimpleNamespace(format="json", columns=(), delimiter=",", null_value="", avro_schema=""))


@pytest.mark.spark
def test_names_that_spark_takes_for_one_are_told_where_they_come_from(spark: SparkSession) -> None:
    with pytest.raises(NodeError, match="the newest messages have both ID and id, which Spark takes for one column: list") as caught:
        payload_schema(spark, JSON, lambda: ['{"ID": 1, "name": "a"}', '{"id": 2}'])
    assert (caught.value.field, caught.value.kind, caught.value.permanent) == ("columns", "user", True)
    assert payload_schema(spark, JSON, lambda: ['{"a": 1}', '{"b": {"A": 2, "a": 3}}']).names == ["a", "b"]


@pytest.mark.spark
def test_a_message_of_two_objects_is_rejected_and_loses_none_unseen(spark: SparkSession) -> None:
    told = ['{"id": 1}\n', '{"id": 2}\n{"id": 3}\n']
    messages = spark.createDataFrame([(text.encode(),) for text in told], "value binary")
    rows = payload_read(messages, payload_schema(spark, JSON, lambda: told[:1]), {}, JSON).collect()
    assert [row.id for row in rows if row[REJECTED] is None] == [1]
    assert [row[REJECTED] for row in rows if row[REJECTED]] == [
        f"the message does not fit the columns: more stands behind its JSON object:\n{told[1]}"
    ]


@pytest.mark.spark
def test_a_message_of_blanks_or_of_no_bytes_is_rejected(spark: SparkSession) -> None:
    told = ["", " ", "\r\n", "\t\t\t", "\ufeff"]
    messages = spark.createDataFrame([(text.encode(),) for text in told], "value binary")
    rows = payload_read(messages, schema_from_ddl("id long"), {}, JSON).collect()
    assert [row[REJECTED] for row in rows] == [f"the message does not fit the columns:\n{text}" for text in told]


@pytest.mark.spark
@pytest.mark.parametrize(("null_value", "notes"), [("", [None, None, "NULL"]), ("NULL", [None, "", None])])
def test_a_quoted_empty_value_is_an_empty_text_where_a_word_means_no_value(spark: SparkSession, null_value: str, notes: list[Any]) -> None:
    messages = spark.createDataFrame([(b"1,",), (b'2,""',), (b"3,NULL",)], "value binary")
    payload = cast(Any, SimpleNamespace(format="csv", columns=(), delimiter=",", null_value=null_value, avro_schema=""))
    rows = payload_read(messages, schema_from_ddl("id int, note string"), {}, payload).collect()
    assert [row.note for row in rows] == notes


@pytest.mark.spark
def test_a_message_of_several_lines_is_rejected_and_those_behind_it_are_read_as_they_came(spark: SparkSession) -> None:
    told = {
        "1001,19.99\n1002,5.00": "more lines stand behind the first",
        "1003,120.50": None,
        "1004,a\nhello": "more lines stand behind the first",
        "333333,cccc": None,
        "1005,crlf\r\n": None,
        "1006,blank\n\n": None,
        "\r\n1006,before": None,
        '1007,"quoted\nbreak"\n': None,
        '1008,"open': "a value begins with a quote that is never closed",
        "1009,nul\0": "the line does not fit the columns",
        "1010,last": None,
    }
    messages = spark.createDataFrame([(text.encode(),) for text in told], "value binary").coalesce(1)
    payload = cast(Any, SimpleNamespace(format="csv", columns=(), delimiter=",", null_value="", avro_schema=""))
    rows = payload_read(messages, schema_from_ddl("id int, note string"), {}, payload).collect()
    good = [(row.id, row.note) for row in rows if row[REJECTED] is None]
    assert good == [
        (1003, "120.50"),
        (333333, "cccc"),
        (1005, "crlf"),
        (1006, "blank"),
        (1006, "before"),
        (1007, "quoted\nbreak"),
        (1010, "last"),
    ]
    for (text, why), row in zip(told.items(), rows, strict=True):
        assert (why is None) == (row[REJECTED] is None), text
        assert why is None or why in row[REJECTED] or f"{LINE_MISFIT}" in row[REJECTED], row[REJECTED]


@pytest.mark.spark
def test_a_line_with_a_longer_delimiter_may_have_no_line_behind_it_either(spark: SparkSession) -> None:
    messages = spark.createDataFrame(
        [(text.encode(),) for text in ("1||a\n2||b", "3||c|d", f"4||{'x' * 1_000_000}\ny", "5||e")], "value binary"
    )
    payload = cast(Any, SimpleNamespace(format="csv", columns=(), delimiter="||", null_value="", avro_schema=""))
    rows = payload_read(messages, schema_from_ddl("id int, note string"), {}, payload).collect()
    assert [row.note for row in rows if row[REJECTED] is None] == ["c|d", "e"]
