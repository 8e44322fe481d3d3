"""What waits in Kafka behind a stream is told while it reads, and ends the job where more may not wait."""

from uuid import uuid4

import pytest
from confluent_kafka import Producer

from jobs.engine.events import BatchCommitted, BufferStands
from jobs.engine.failure import ExecutionFailure
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.nodes.sources import kafka_backlog
from jobs.nodes.sources.kafka_backlog import KafkaBacklog
from tests.engine.graphs import Bench
from tests.engine.kafka_numbers import reading
from tests.engine.nodes import SlowSink
from tests.servers.kafka import KafkaServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

MESSAGES, A_BATCH = 1500, 100


@pytest.fixture
def topic(kafka_server: KafkaServer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(kafka_backlog, "LOOK_SECONDS", 0.1)
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


def test_the_newest_are_kept_of_each_partition_by_what_waits_there(kafka_server: KafkaServer, topic: str) -> None:
    connection = ConnectionSettings("main", "kafka", {"servers": kafka_server.bootstrap})
    backlog = KafkaBacklog(KafkaAdmin(connection), Backpressure("LATEST", 101), None)
    skip = backlog.skip([{topic: {"0": 0, "1": 500}}])
    assert skip is not None
    assert (skip.positions, skip.messages) == (({topic: {"0": 674, "1": 725}},), 899)
    assert backlog.skip(skip.positions) is None, "no more waits than may"


def test_a_source_that_is_read_twice_goes_on_from_one_place(kafka_server: KafkaServer, topic: str) -> None:
    connection = ConnectionSettings("main", "kafka", {"servers": kafka_server.bootstrap})
    slow, fast = {topic: {"0": 0, "1": 0}}, {topic: {"0": 720, "1": 10}}
    skip = KafkaBacklog(KafkaAdmin(connection), Backpressure("LATEST", 100), None).skip([slow, fast])
    assert skip is not None
    assert (skip.positions, skip.messages) == (({topic: {"0": 700, "1": 700}}, {topic: {"0": 720, "1": 700}}), 1400)


def test_a_topic_that_is_made_anew_ends_the_job_instead_of_being_read_on_in_the_middle(
    bench: Bench, kafka_server: KafkaServer, topic: str
) -> None:
    plan = reading(bench, kafka_server, topic)
    run, _ = bench.run(plan)
    wait_until(lambda: len(SlowSink.took[plan.generation]) == MESSAGES, seconds=90, what="all messages of the first topic")
    kafka_server.topic_remake(topic, partitions=2)
    produce(kafka_server, topic, MESSAGES)
    with pytest.raises(ExecutionFailure, match=f"topic {topic} was deleted and made anew since it was read") as failed:
        run.wait(60)
    assert (failed.value.permanent, failed.value.node_id) == (True, "numbers")


def test_the_oldest_are_kept_where_the_newest_go(kafka_server: KafkaServer, topic: str) -> None:
    connection = ConnectionSettings("main", "kafka", {"servers": kafka_server.bootstrap})
    backlog = KafkaBacklog(KafkaAdmin(connection), Backpressure("DROP", 101), None)
    skip = backlog.skip([{topic: {"0": 0, "1": 500}}])
    assert skip is not None
    assert (skip.begins, skip.positions, skip.messages) == (({topic: {"0": 76, "1": 525}},), ({topic: {"0": 750, "1": 750}},), 899)
    assert backlog.skip(skip.positions) is None, "nothing waits any more"
