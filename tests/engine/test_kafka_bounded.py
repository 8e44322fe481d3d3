"""Runs that read Kafka to an end: where the consumer group stands then, and what is told where there is nothing to read."""

import json
from uuid import uuid4

import pytest

from jobs.engine.events import Noticed
from jobs.engine.failure import ExecutionFailure
from tests.engine.graphs import COLLECT, Bench, document
from tests.engine.kafka_numbers import Feed, connected, source
from tests.servers.kafka import KafkaServer

pytestmark = [pytest.mark.spark, pytest.mark.server]

SENT = 20


@pytest.fixture
def topic(kafka_server: KafkaServer) -> str:
    name = f"bounded-{uuid4().hex[:8]}"
    kafka_server.topic_create(name, partitions=2)
    Feed(kafka_server, name).send(SENT)
    return name


@pytest.mark.parametrize(("job_type", "end"), [("BATCH_ROLLER", {}), ("SQL_TASK", {}), ("SQL_TASK", {"0": 4, "1": -1})])
def test_the_group_stands_where_a_completed_run_has_read_to(
    bench: Bench, kafka_server: KafkaServer, topic: str, job_type: str, end: dict[str, int]
) -> None:
    ends = {"end": "offsets", "end_offsets": json.dumps({topic: end})} if end else {}
    drawn = document({"numbers": source(topic, group_id=topic, **ends), "out": COLLECT}, "numbers>out", type=job_type)
    run, _ = bench.run(connected(bench.plan(drawn), kafka_server))
    assert run.wait(90) == "completed"
    assert kafka_server.group_offsets(topic) == {(topic, 0): end.get("0", SENT // 2), (topic, 1): SENT // 2}


def test_a_pattern_that_matches_no_topic_is_told_at_the_start(bench: Bench, kafka_server: KafkaServer) -> None:
    pattern = f"{uuid4().hex}.*"
    drawn = document({"numbers": source(pattern, topic_is="pattern"), "out": COLLECT}, "numbers>out")
    run, heard = bench.run(connected(bench.plan(drawn), kafka_server))
    assert run.wait(90) == "completed"
    (told,) = heard.of(Noticed)
    assert (told.node_id, told.severity) == ("numbers", "warning")
    assert told.message.startswith(f"no topic matches the pattern {pattern}: there is nothing to read yet; correct it")


def test_an_end_before_the_start_ends_the_run_at_once_at_its_node(bench: Bench, kafka_server: KafkaServer, topic: str) -> None:
    bounds = {"start": "time", "start_time": "2096-12-01", "end": "time", "end_time": "2020-01-01"}
    run, _ = bench.run(connected(bench.plan(document({"numbers": source(topic, **bounds), "out": COLLECT}, "numbers>out")), kafka_server))
    with pytest.raises(ExecutionFailure, match="the end lies before the start; correct one of them") as failed:
        run.wait(90)
    assert (failed.value.node_id, failed.value.kind, failed.value.permanent) == ("numbers", "user", True)
