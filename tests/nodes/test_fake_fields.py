"""Columns of made-up values: of the right type, and the same whenever a row is made again."""

from typing import get_args

import pytest
from pydantic import ValidationError
from pyspark.sql import SparkSession

from jobs.nodes.fake_fields import FakeField, FakeKind, FakeLocale, FakeRows
from jobs.nodes.sources.generator import GeneratorConfig
from tests.nodes.conftest import Build

ALL = tuple(FakeField(name=kind, kind=kind) for kind in get_args(FakeKind))


@pytest.mark.parametrize("locale", get_args(FakeLocale))
def test_every_kind_has_values_in_every_locale(locale: FakeLocale):
    columns = FakeRows(ALL, locale).columns([1, 2, 3])
    for field, column in zip(ALL, columns, strict=True):
        assert (len(column), column.null_count) == (3, 0), field.name


def test_a_row_is_the_same_however_rows_are_parted():
    fields = ALL[:6]
    together = FakeRows(fields, "en_US").columns([7, 8, 9])
    parted = [FakeRows(fields, "en_US").columns([seed]) for seed in (9, 8, 7)]
    for index, column in enumerate(together):
        assert column.to_pylist() == [one[index][0].as_py() for one in reversed(parted)]


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValidationError, match="two columns are called value"):
        GeneratorConfig.model_validate({"fields": [{"name": "Value", "kind": "word"}]})


@pytest.mark.spark
def test_they_stand_behind_the_generators_own_columns(spark: SparkSession, build: Build):
    names = {"customer": "name", "city `x`": "city", "born": "date", "price": "price", "ok": "boolean"}
    config = {"total_rows": 2500, "fields": [{"name": name, "kind": kind} for name, kind in names.items()]}
    built, again, other = (build("source.generator", config | change) for change in ({}, {}, {"seed": 2}))
    frame = built.node.read(spark, built.context)
    types = dict(frame.dtypes)
    assert [types[name] for name in names] == ["string", "string", "date", "decimal(10,2)", "boolean"]
    rows = sorted(frame.collect())
    assert rows == sorted(again.node.read(spark, again.context).collect())
    assert len({row.customer for row in rows}) > 1000
    assert rows[0].customer != other.node.read(spark, other.context).orderBy("id").first().customer
