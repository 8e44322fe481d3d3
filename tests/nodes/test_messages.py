"""What tells messages apart: ids that readers drop repeats by, and the longest names that a broker takes."""

from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import Batch
from jobs.nodes.sinks.messages import message_id
from tests.nodes.conftest import Build
from tests.nodes.test_rabbitmq import connections
from tests.servers.rabbitmq import RabbitMQServer

pytestmark = pytest.mark.spark


def test_different_values_never_make_the_same_id(spark: SparkSession, build: Build):
    context = build("sink.kafka", {"connection": "main", "topic": "t", "id_columns": ["a", "b"]}).context
    pairs = [("a/b", "c"), ("a", "b/c"), ("a%2Fb", "c"), ("", "x"), (None, "x"), ("%00", "x"), ("x", None), ("x", "")]
    pairs += [("long" * 60, "1"), ("long" * 60, "2")]
    frame = spark.createDataFrame(pairs, "a string, b string").coalesce(1)
    told = message_id(frame, context)
    assert told is not None
    first, again = ([row[0] for row in frame.select(told).collect()] for _ in range(2))
    assert first == again
    assert len(set(first)) == len(pairs)
    begin = f"{context.job_uid}/node/"
    assert first[1] == f"{begin}a/b%2Fc"
    assert first[-1] == begin + sha256(("long" * 60 + "/2").encode()).hexdigest()
    assert max(len(one) for one in first) <= 255


@pytest.mark.server
def test_rabbitmq_takes_long_ids_and_leaves_out_rows_with_too_long_routing_keys(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer
):
    queue = f"q-{uuid4().hex[:8]}"
    form = {"connection": "main", "format": "text", "value_column": "text", "routing_key_column": "to", "id_columns": ["text"]}
    built = build("sink.rabbitmq", form, connections=connections(rabbitmq_server))
    frame = spark.sql(f"SELECT repeat('é', 200) || id AS text, IF(id = 1, repeat('ü', 128), '{queue}') AS to FROM range(3)").coalesce(1)
    with closing(rabbitmq_server.line()) as line:
        channel = line.channel()
        channel.queue_declare(queue)
        done = built.node.write(frame, Batch(0, "q"), built.context)
        assert (done.rows, done.rejected) == (2, 1)
        assert done.rejected_rows[0] == ("its routing key has 256 bytes; 255 is the most", "é" * 200 + "1")
        built.node.write_plainly(frame, replace(built.context, fails_at_rejected=False))
        taken = [channel.basic_get(queue, auto_ack=True) for _ in range(4)]
        assert [body.decode()[-1] for _, _, body in taken] == ["0", "2", "0", "2"]
        ids = [properties.message_id for _, properties, _ in taken]
        assert (ids[:2], len(set(ids))) == (ids[2:], 2)
        channel.queue_delete(queue)
