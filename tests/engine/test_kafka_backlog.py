"""What waits in Kafka behind a stream is told while it reads, and ends the job where more may not wait."""

from uuid import uuid4

import pytest
from confluent_kafka import Producer

from jobs.engine.events import BatchCommitted, BufferStands
from jobs.engine.failure import ExecutionFailure
from jobs.nodes import backlog
from tests.engine.graphs import Bench
from tests.engine.kafka_numbers import reading
from tests.engine.nodes import SlowSink
from tests.servers.kafka import KafkaServer

pytestmark = [pytest.mark.spark, pytest.mark.server]

MESSAGES, A_BATCH = 1500, 100


@pytest.fixture
def topic(kafka_server: KafkaServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(backlog, "LOOK_SECONDS", 0.1)
    name = f"numbers-{uuid4().hex[:8]}"
    kafka_server.topic_create(name, partitions=2)
    produce(kafka_server, name, 0)
    return name


def produce(server: KafkaServer, topic: str, first: int) -> None:
    producer = Producer({"bootstrap.servers": server.bootstrap})
    for number in range(first, first + MESSAGES):
        producer.produce(topic, f'{{"id": {number}}}', partition=number % 2)
    assert producer.flush(30) == 0


def test_what_waits_is_told_until_nothing_does(bench: Bench, kafka_server: KafkaServer, topic: str) -> None:
    plan = reading(bench, kafka_server, topic, max_records_per_trigger=A_BATCH)
    run, heard = bench.run(plan)
    heard.wait_for(BatchCommitted, MESSAGES // A_BATCH)
    with heard.changed:
        assert heard.changed.wait_for(lambda: any(event.waiting == 0 for event in heard.of(BufferStands)), 30)
    run.stop()
    assert run.wait(30) == "stopped"
    told = [event.waiting for event in heard.of(BufferStands)]
    assert (told, told[-1]) == (sorted(told, reverse=True), 0)
    assert 0 < told[0] < MESSAGES
    assert {(event.status, event.dropped) for event in heard.of(BufferStands)} == {("OK", 0)}
    assert sorted(SlowSink.took[plan.generation]) == list(range(MESSAGES))


def test_more_than_may_wait_ends_the_job_with_the_number(bench: Bench, kafka_server: KafkaServer, topic: str) -> None:
    run, heard = bench.run(reading(bench, kafka_server, topic, backpressure="ERROR", max_backlog=100, max_records_per_trigger=A_BATCH))
    with pytest.raises(ExecutionFailure, match=r"come faster than they are read: [\d,]+ wait, more than the 100 that may") as failed:
        run.wait(60)
    assert (failed.value.permanent, failed.value.node_id) == (True, "numbers")
    assert heard.of(BufferStands)[-1].status == "FAILED"
