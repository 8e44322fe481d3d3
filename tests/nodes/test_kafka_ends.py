"""Where a Kafka source begins and ends: what cannot be is refused on the field that says so, before anything is read."""

import json
from typing import Any
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import NodeError
from tests.nodes.conftest import Build, Built
from tests.nodes.test_kafka import connection, produce
from tests.servers.kafka import KafkaServer

pytestmark = [pytest.mark.spark, pytest.mark.server]


def refused(spark: SparkSession, source: Built) -> tuple[str, str]:
    """The field and the words."""
    with pytest.raises(NodeError) as caught:
        source.node.read(spark, source.context)
    assert (caught.value.kind, caught.value.permanent) == ("user", True)
    return caught.value.field, caught.value.message


@pytest.mark.parametrize(
    ("mode", "config", "field", "words"),
    [
        ("batch", {"start_offsets": {"0": 1}}, "start_offsets", "name the partitions {t}-0, where {t}-0, {t}-1 are read; give each"),
        ("stream", {"start_offsets": {"0": 1, "1": 0, "2": 0}}, "start_offsets", "name the partitions {t}-0, {t}-1, {t}-2, where"),
        ("batch", {"end_offsets": {"1": -1}}, "end_offsets", "name the partitions {t}-1, where {t}-0, {t}-1 are read"),
        ("stream", {"start_offsets": {"0": 99999, "1": 1}}, "start_offsets", "{t}-0 has messages from 0 to before 3: there is no 99999"),
        ("batch", {"start_offsets": {"0": 99999, "1": 1}}, "start_offsets", "{t}-0 has messages from 0 to before 3: there is no 99999"),
        (
            "batch",
            {"start_offsets": {"0": 2, "1": 0}, "end_offsets": {"0": 1, "1": 0}},
            "end_offsets",
            "{t}-0 would be read from 2 on, and",
        ),
        ("batch", {"end_time": "2020-01-01", "start_time": "2026-12-01"}, "end_time", "from 3 on, and to before 0: the end lies before"),
    ],
)
def test_what_cannot_be_read_is_refused_on_its_field(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, mode: str, config: dict[str, Any], field: str, words: str
) -> None:
    topic = f"ends-{uuid4().hex[:8]}"
    kafka_server.topic_create(topic, partitions=2)
    produce(kafka_server, topic, ["a", "b", "c"], partition=0, at=1_700_000_000_000)
    written = {name: json.dumps({topic: value}) if isinstance(value, dict) else value for name, value in config.items()}
    kinds = {name.partition("_")[0]: name.partition("_")[2] for name in config}
    given = {"connection": "db", "topic": topic, "format": "text", **kinds, **written}
    source = build("source.kafka", given, connections=connection(kafka_server), mode=mode, job_type="BATCH_ROLLER")
    told = refused(spark, source)
    assert told[0] == field
    assert words.format(t=topic) in told[1]


@pytest.mark.parametrize(
    ("config", "field", "words"),
    [
        (
            {"start": "time", "start_time": "2026-12-01", "end": "time", "end_time": "2020-01-01"},
            "end_time",
            "the end time 2020-01-01 lies before the start time 2026-12-01; correct one of them",
        ),
        (
            {"start": "offsets", "start_offsets": '{"t": {"0": 100}}', "end": "offsets", "end_offsets": '{"t": {"0": 10}}'},
            "end_offsets",
            "t-0 would be read from 100 on, and to before 10: the end lies before the start; correct one of them",
        ),
    ],
)
def test_an_end_before_the_start_is_refused_while_it_is_drawn(
    spark: SparkSession, build: Build, config: dict[str, Any], field: str, words: str
) -> None:
    given = {"connection": "db", "topic": "t", "columns": [{"name": "id", "type": "long"}], **config}
    assert refused(spark, build("source.kafka", given, schema_only=True, job_type="BATCH_ROLLER")) == (field, words)
    unbounded = build("source.kafka", given, schema_only=True, job_type="STREAMING")
    assert unbounded.node.read(spark, unbounded.context).columns[0] == "id", "it never comes to its end"


def test_a_stream_that_has_begun_goes_by_its_position(spark: SparkSession, build: Build, kafka_server: KafkaServer, tmp_path: Any) -> None:
    topic = f"ends-{uuid4().hex[:8]}"
    kafka_server.topic_create(topic)
    config = {"connection": "db", "topic": topic, "format": "text", "start": "offsets", "start_offsets": json.dumps({topic: {"0": 7}})}
    begun = build("source.kafka", config, connections=connection(kafka_server), mode="stream", query_dir=tmp_path / "query")
    assert refused(spark, begun)[0] == "start_offsets"
    (tmp_path / "query" / "offsets").mkdir(parents=True)
    (tmp_path / "query" / "offsets" / "0").touch()
    begun.node.read(spark, begun.context)
