"""What is told of a record that does not fit its columns: those that cannot hold their values, and these values."""

import random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import AS_IT_CAME
from jobs.nodes.columns import ColumnField, schema_of
from jobs.nodes.csv_lines import csv_values_sql
from jobs.nodes.misfits import reason_told, rejected_column
from jobs.nodes.records import RecordShape, record_misfit, record_parsed

pytestmark = pytest.mark.spark

COLUMNS = (
    ColumnField(name="id", type="long"),
    ColumnField(name="a b's", type="decimal(5, 2)"),
    ColumnField(name="at", type="timestamp"),
    ColumnField(name="tags", type="array<int>"),
    ColumnField(name="note"),
)
FITTING = '{"id": 1, "a b\'s": 1.5, "at": "2026-01-31T12:00:00Z", "tags": [1], "note": "x"}'


def told(spark: SparkSession, text: str, **shape: Any) -> str | None:
    """What is told of `text`; None where it fits."""
    from pyspark.sql import functions as F

    shaped = RecordShape(**{"format": "json", "schema": schema_of(COLUMNS), **shape})
    record, is_bad = record_parsed(spark, F.col("value"), "record", shaped)
    frame = spark.createDataFrame([(text,)], "value string").withColumn("record", record)
    misfit, in_full = record_misfit(F.col("value"), "record", shaped, "it does not fit")
    rows = frame.select("record.*", rejected_column(F.when(is_bad, misfit), in_full))
    (row,) = rows.select(reason_told(rows)).collect()
    if row[0] is None:
        return None
    words, came, shown = row[0].partition(AS_IT_CAME)
    assert (came, shown) == (AS_IT_CAME, text)
    return str(words)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FITTING, None),
        ("{}", None),
        ('{"id": "x"}', 'it does not fit: id should be bigint, not "x"'),
        ('{"note": "y", "id": 1.5, "tags": 7}', "it does not fit: id should be bigint, not 1.5; tags should be array<int>, not 7"),
        ('{"tags": {"a": true}}', 'it does not fit: tags should be array<int>, not {"a":true}'),
        ('{"id": null, "a b\'s": [1]}', "it does not fit: a b's should be decimal(5,2), not [1]"),
        ('{"at": "soon"}', 'it does not fit: at should be timestamp, not "soon"'),
        (f'{{"id": "{"y" * 200}"}}', f'it does not fit: id should be bigint, not "{"y" * 59}…'),
        ('{"id": "{value} {type}"}', 'it does not fit: id should be bigint, not "{value} {type}"'),
        ("nope", "it does not fit"),
        ('{"id": 9', "it does not fit"),
        ("[1]", "it does not fit"),
    ],
)
def test_json_names_the_columns_with_values_of_another_kind(spark: SparkSession, text: str, expected: str | None) -> None:
    assert told(spark, text) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1;x", None),
        ("two;x", 'it does not fit: id should be int, not "two"'),
        ('";1";x', 'it does not fit: id should be int, not ";1"'),
        ("1", "it does not fit: 1 value for 2 columns"),
        ("x;2;3", "it does not fit: 3 values for 2 columns"),
        ("1;;", "it does not fit: 3 values for 2 columns"),
        ('"a;b"', "it does not fit: 1 value for 2 columns"),
        (';"a""b;c";', "it does not fit: 3 values for 2 columns"),
        ("1;x\r\n", None),
        ('"a', "it does not fit"),
    ],
)
def test_a_line_names_it_too_or_tells_how_many_values_it_has(spark: SparkSession, line: str, expected: str | None) -> None:
    schema = schema_of((ColumnField(name="id", type="int"), ColumnField(name="note")))
    assert told(spark, line, format="csv", schema=schema, delimiter=";") == expected


@pytest.mark.parametrize("delimiter", [",", "||", "\\t"])
def test_values_are_counted_as_they_are_read(spark: SparkSession, delimiter: str) -> None:
    """As many columns as are told, and no other number, take a line of whatever make."""
    from pyspark.sql import functions as F

    between = delimiter.replace("\\t", "\t")
    values = ["a", " ", '"a"', f'"{between}"', '""', '"a""b"', 'a"b"', "7", "", ""]
    chance = random.Random(delimiter)
    lines = {between.join(chance.choices(values, k=size % 6 + 1)) for size in range(300)} - {""}
    frame = spark.createDataFrame([(line,) for line in sorted(lines)], "value string")
    counted: dict[str, int] = dict(frame.selectExpr("value", csv_values_sql("value", delimiter)).collect())
    for columns in (1, 2, 4):
        shape = RecordShape("csv", schema_of([ColumnField(name=f"c{number}") for number in range(columns)]), delimiter)
        record, is_bad = record_parsed(spark, F.col("value"), "record", shape)
        read: dict[str, bool] = dict(frame.withColumn("record", record).select("value", ~is_bad).collect())
        assert read == {line: number == columns for line, number in counted.items()}


def test_xml_tells_no_column(spark: SparkSession) -> None:
    assert told(spark, "<r><id>x</id></r>", format="xml") == "it does not fit"
