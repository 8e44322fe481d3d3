"""JSON texts as records: what Spark's from_json makes of them, and what it passes over."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from jobs.nodes.columns import schema_from_ddl
from jobs.nodes.records import RecordShape, record_parsed

pytestmark = pytest.mark.spark

SCHEMAS = (
    "id long, amount decimal(10,2), d double, f float, s string, b boolean, at timestamp, day date, bin binary, ntz timestamp_ntz",
    "id long, inner struct<a:long,b:string,c:array<int>>, m map<string,long>, arr array<struct<x:int,y:string>>, s string, v variant",
)
VALUES = (
    *("1", "-1", "1.5", "1e400", "NaN", '"NaN"', "-Infinity", "true", "null", '"x"', '""', '"2026-01-01T00:00:00Z"', '"2026-01-01"', "01"),
    *("12345678901234567890.123", "1.10", '["a"]', '{"a":1, "b": "z"}', '{"a": "no","c":[1,"q"]}', '[{"x":1},{"x":"no"}]', '{"k":5}'),
    *('"YWJj"', '"é"', '"😀"', '"\\ud83d"', "+1", "0x1f", "{}", "'x'", '"open', '"a\tb"', "1767225600"),
)
#: Encodings that Jackson would find out by itself, bytes that are no UTF-8, and texts that are no object or more than one.
TEXTS = (
    *(b"", b" ", b"null", b"1", b"[]", b'[{"id":1}]', b"{}", b"{} ", b"{}{}", b'{"id":1}]', b'{"id":1}\n', b'{"id":1} x', b'{"id":1}}'),
    *(b"\xef\xbb\xbf{}", b'{\x00"\x00', b'{"s":"\xff"}', b'{"s":"\xff"} z', b'{"s":"\xed\xa0\x80"}', b'{"s":"\xc0\x80"}', b'{"id":1}\x00'),
    *(b'\t{"id":1}', b'{"id":1,}', b'{"id":1,"id":2}', b'{"_corrupt_record":"x","id":2}', b'{"ID":3}', '{"s":"é"} z'.encode()),
    *('{"id":1}'.encode("utf-16"), '{"id":1}'.encode("utf-16le"), '{"id":1}'.encode("utf-32be"), '{"s":"é","id":"no"}\xa0'.encode()),
    *(b"  ", b"\r\n", b"\n\n", b"\t\t\t", b" " * 40, b" \xef\xbb\xbf", b"\xef\xbb\xbf", b"\xef\xbb\xbf  ", b"\xc2\xa0", b" \x00"),
    *(b" null", b"  []", b"\n\n1", b" \xff", b" {", b"\n}", b"  \x00\x00"),
    *(b'{"s": "' + b"a" * 20_000 + b'"}', b'{"s": "' + "é".encode() * 20_000 + b'"} '),
)


def drawn(schema: StructType) -> Iterator[bytes]:
    chance = random.Random(5)
    names = [*schema.names, "other"]
    for _ in range(1500):
        fields = ", ".join(f'"{chance.choice(names)}": {chance.choice(VALUES)}' for _ in range(chance.randint(0, 5)))
        yield f"{{{fields}}}{chance.choice(['', '', '', ' ', '}', '{', ' x'])}".encode()


def told(name: str, schema: StructType) -> Column:
    """All that is in a record, as one text; a number that became a text as Spark alone writes it."""
    texts = [F.hex(f"{name}.{field.name}") if field.name == "bin" else F.to_json(F.struct(f"{name}.{field.name}")) for field in schema]
    if "s" in schema.names:
        read = F.from_json(F.concat(F.lit('{"s":'), f"{name}.s", F.lit("}")), "s string").getField("s")
        is_number = F.rlike(f"{name}.s", F.lit("^-?[0-9].*$|^(NaN|-?Infinity)$"))
        texts[schema.names.index("s")] = F.to_json(F.struct(F.when(is_number, read).otherwise(F.col(f"{name}.s")).alias("s")))
    return F.when(F.col(name).isNotNull(), F.concat_ws("|", *(F.coalesce(text, F.lit("none")) for text in texts)))


@pytest.mark.parametrize("ddl", SCHEMAS)
@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai"])
def test_records_are_those_that_spark_alone_makes(spark: SparkSession, ddl: str, zone: str) -> None:
    own = spark.newSession()
    own.conf.set("spark.sql.session.timeZone", zone)
    schema = schema_from_ddl(ddl)
    texts = [*TEXTS, *drawn(schema)]
    frame = own.createDataFrame([(number, bytearray(text)) for number, text in enumerate(texts)], "number int, value binary")
    found: list[dict[int, Any]] = []
    for plainly in (False, True):
        record, is_bad = record_parsed(own, F.col("value"), "record", RecordShape("json", schema, plainly=plainly))
        rows = frame.withColumn("record", record).select("number", told("record", schema).alias("told"), is_bad.alias("is_bad"))
        found.append({row.number: (row.is_bad, row.told) for row in rows.collect()})
    ours, plain = found
    assert {texts[number]: (one, plain[number]) for number, one in ours.items() if one != plain[number]} == {}
    assert 0.2 < sum(is_bad for is_bad, _ in ours.values()) / len(texts) < 0.95


def test_what_stands_behind_an_object_is_no_part_of_it(spark: SparkSession) -> None:
    texts = {'{"id": 1}': False, ' {"id": 2}\r\n\t ': False, '{"id": 3} {': True, '{"id": 4}\xa0': True, '{"id": 5}{"id": 6}': True}
    frame = spark.createDataFrame([(text,) for text in texts], "value string")
    record, is_bad = record_parsed(spark, F.col("value"), "record", RecordShape("json", schema_from_ddl("id int")))
    rows = frame.withColumn("record", record).select("value", is_bad.alias("is_bad"), "record.id").collect()
    assert {row.value: row.is_bad for row in rows} == texts
    assert [row.id for row in rows] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        *((number, number) for number in ("0.12345678901234567890123", "1.50", "1e400", "1e3", "-0", "NaN", "12345678901234567890123")),
        *(("true", "true"), ("null", None), ('"1.50"', "1.50"), ('[ 1, {"a" : "b"} ]', '[1,{"a":"b"}]')),
    ],
)
def test_a_number_in_a_column_of_texts_is_as_it_stands(spark: SparkSession, given: str, text: str | None) -> None:
    frame = spark.createDataFrame([(f'{{"s": {given} , "all": [{given}]}}',), (f'{{"s":{given}}}',)], "value string")
    record, is_bad = record_parsed(spark, F.col("value"), "record", RecordShape("json", schema_from_ddl("s string, all array<string>")))
    rows = frame.withColumn("record", record).select(is_bad.alias("is_bad"), "record.s", "record.all").collect()
    assert [tuple(row) for row in rows] == [(False, text, [text]), (False, text, None)]
