"""Avro messages whose writer nobody told of: when another look at the registry is worth an attempt."""

import json
import time

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from jobs.nodes.avro import AvroSchemas, avro_unknown_writer

pytestmark = pytest.mark.spark

READER = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
HOUR = 3600


@pytest.mark.parametrize(
    ("told", "written", "looks_again"),
    [
        pytest.param(0, 0, True, id="a new message may have a new schema"),
        pytest.param(0, -HOUR, False, id="an old message was there when the registry was asked"),
        pytest.param(0, 24 * HOUR, False, id="a time to come says nothing"),
        pytest.param(-HOUR, -24 * HOUR, True, id="a replayed message may have a schema of today"),
        pytest.param(-HOUR, 24 * HOUR, True, id="a list of long ago says nothing"),
    ],
)
def test_the_registry_is_asked_again_where_it_may_know_more(spark: SparkSession, told: int, written: int, looks_again: bool):
    now = time.time()
    schemas = AvroSchemas(READER, {7: READER}, now + told)
    framed = F.lit(b"\0" + (9).to_bytes(4, "big") + b"\x02")
    frame = spark.range(1).select(avro_unknown_writer(framed, F.timestamp_seconds(F.lit(now + written)), schemas).alias("unknown"))
    if looks_again:
        with pytest.raises(Exception, match="unknown_avro_schema:9"):
            frame.collect()
    else:
        assert frame.collect()[0].unknown == "9"
