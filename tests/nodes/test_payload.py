"""What a sample of messages tells of their columns."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import NodeError
from jobs.nodes.payload import payload_schema

JSON = cast(Any, SimpleNamespace(format="json", columns=(), delimiter=",", avro_schema=""))


@pytest.mark.spark
def test_names_that_spark_takes_for_one_are_told_where_they_come_from(spark: SparkSession) -> None:
    with pytest.raises(NodeError, match="the newest messages have both ID and id, which Spark takes for one column: list") as caught:
        payload_schema(spark, JSON, lambda: ['{"ID": 1, "name": "a"}', '{"id": 2}'])
    assert (caught.value.field, caught.value.kind, caught.value.permanent) == ("columns", "user", True)
    assert payload_schema(spark, JSON, lambda: ['{"a": 1}', '{"b": {"A": 2, "a": 3}}']).names == ["a", "b"]
