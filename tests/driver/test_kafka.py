"""A stream from Kafka into a database and on to another topic, in real drivers, while the broker and the drivers are killed."""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from confluent_kafka import Producer
from django.contrib.auth.models import User

from checkpoints.models import Checkpoint
from jobs.models import Connection, Event, Execution, Job, Project
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.kafka_admin import KafkaAdmin
from jobs.services.executions import checkpoint_request, execution_stop
from jobs.services.jobs import job_create
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.kafka import KafkaServer
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(600),
]

Start = Callable[..., Execution]
Written = Callable[..., list[int]]


@pytest.fixture
def own_kafka() -> Iterator[KafkaServer]:
    """A broker that may be killed."""
    with KafkaServer() as server:
        server.topic_create("orders", partitions=2)
        server.topic_create("copy", partitions=2)
        yield server


def drawn(name: str, sinks: dict[str, Any], **settings: str) -> dict[str, Any]:
    """From the topic "orders" into each of `sinks`."""
    source = {"connection": "main", "topic": "orders", "columns": [{"name": "id", "type": "long"}], "group_id": "followers"}
    return {
        "schema_version": 1,
        "name": name,
        "type": "STREAMING",
        "nodes": {"orders": {"type": "source.kafka", "type_version": 1, "name": "Orders", "config": source}, **sinks},
        "edges": {f"to_{sink}": {"from": ["orders", "out"], "to": [sink, "in"]} for sink in sinks},
        "settings": {"retry_interval": "500ms", "parallelism": 2, "checkpoint_interval": "0s", **settings},
    }


TABLE = {"type": "sink.jdbc", "type_version": 1, "name": "Table", "config": {"connection": "target", "table": "numbers"}}
COPY = {
    "type": "sink.kafka",
    "type_version": 1,
    "name": "Copy",
    "config": {"connection": "main", "topic": "copy", "key_column": "id", "id_columns": ["id"]},
}


@pytest.fixture
def connections(own_kafka: KafkaServer, data: object) -> None:
    project = Project.objects.get(slug="default")
    Connection.objects.create(project=project, name="main", kind="kafka", config={"servers": own_kafka.bootstrap})
    Connection.objects.create(project=project, name="target", kind="sqlite", config={"path": f"{data}/target.sqlite3"})


@pytest.fixture
def job(user: User, connections: None) -> Job:
    return job_create(user=user, document=drawn("orders", {"table": TABLE, "copy": COPY}, trigger_interval="200ms"))


class Feed:
    """Numbered messages, a hundred a second; those that a dead broker did not confirm wait in the client."""

    def __init__(self, server: KafkaServer) -> None:
        self._producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": True, "log_level": 0})
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self.sent = 0

    def _feed(self) -> None:
        while not self._ended.wait(0.01):
            self._producer.produce("orders", json.dumps({"id": self.sent}))
            self._producer.poll(0)
            self.sent += 1

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
        assert self._producer.flush(60) == 0


@contextmanager
def feed(server: KafkaServer) -> Iterator[Feed]:
    one = Feed(server)
    one._thread.start()
    try:
        yield one
    finally:
        one._ended.set()


def copied(server: KafkaServer, at_least: int) -> Counter[str]:
    """Message ids in the copy with how often each came."""
    consumer = server.reader("copy")
    found: Counter[str] = Counter()

    def enough() -> bool:
        for message in consumer.consume(1000, timeout=1):
            message_id = dict(message.headers() or [])["message-id"]
            assert isinstance(message_id, bytes)
            found[message_id.decode()] += 1
        return len(found) >= at_least

    wait_until(enough, seconds=60, what=f"{at_least} copies")
    consumer.close()
    return found


def test_a_killed_broker_and_a_killed_driver_lose_nothing_and_the_group_follows_the_checkpoints(
    worker: Worker, own_kafka: KafkaServer, job: Job, start: Start, written: Written, user: User
) -> None:
    def more_rows() -> None:
        before = len(written())
        wait_until(lambda: len(written()) > before + 50, seconds=150, what="more rows")

    asked = KafkaAdmin(ConnectionSettings("main", "kafka", {"servers": own_kafka.bootstrap}))

    def is_told_of() -> bool:
        with suppress(NodeError):
            return asked.ends([("orders", 0)])["orders", 0] > 0
        return False

    with feed(own_kafka) as fed:
        execution = start(job)
        more_rows()
        assert is_told_of()
        own_kafka.kill()
        wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "kafka main", seconds=60, what="that it waits is shown")
        own_kafka.start()
        more_rows()
        wait_until(is_told_of, seconds=60, what="that a client which knew the broker before knows it again")
        wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "", seconds=60, what="that it goes on is shown")
        checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user)
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").exists(), seconds=60, what="a checkpoint")
        os.kill(worker.drivers()[0], signal.SIGKILL)
        more_rows()
        fed.end()
        wait_until(lambda: len(written()) == fed.sent, seconds=150, what=f"all {fed.sent} rows, there are {len(written())}")
        execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
        ended = status_reached(execution, "PAUSED")
    assert written() == list(range(fed.sent))
    assert (ended.processed_records, ended.failed_records) == (fed.sent, 0)
    copies = copied(own_kafka, fed.sent)
    assert {int(name.rpartition("/")[2]) for name in copies} == set(range(fed.sent))
    kinds = list(Event.objects.filter(execution=ended).values_list("kind", flat=True))
    assert "waiting" in kinds
    assert "answers" in kinds
    last = Checkpoint.objects.filter(status="COMPLETED").latest("pk")
    position = {("orders", int(number)): offset for number, offset in last.state_data["sources"]["orders"]["orders"].items()}
    assert sum(position.values()) == fed.sent
    wait_until(lambda: own_kafka.group_offsets("followers") == position, seconds=30, what="the group at the last checkpoint")


@pytest.mark.faults
def test_in_real_time_a_killed_driver_loses_nothing_and_what_comes_again_bears_the_same_id(
    worker: Worker, own_kafka: KafkaServer, connections: None, start: Start, user: User
) -> None:
    job = job_create(user=user, document=drawn("orders", {"copy": COPY}, trigger="real_time", trigger_interval="5s"))
    with feed(own_kafka) as fed:
        execution = start(job)
        copied(own_kafka, 50)
        first = status_reached(execution, "RUNNING")
        assert first.driver is not None
        os.kill(first.driver.pid, signal.SIGKILL)
        copied(own_kafka, fed.sent + 50)
        running = status_reached(execution, "RUNNING")
        assert (running.isolation, running.attempt) == ("dedicated", 2)
        checkpoint_request(execution=running, user=user)
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").exists(), seconds=60, what="a checkpoint")
        fed.end()
        copies = copied(own_kafka, fed.sent)
        execution_stop(execution=running, user=user)
        ended = status_reached(execution, "PAUSED")
    assert {int(name.rpartition("/")[2]) for name in copies} == set(range(fed.sent))
    assert (ended.processed_records, ended.failed_records) == (fed.sent, 0)
    last = Checkpoint.objects.filter(status="COMPLETED").latest("pk")
    position = {("orders", int(number)): offset for number, offset in last.state_data["sources"]["orders"]["orders"].items()}
    wait_until(lambda: own_kafka.group_offsets("followers") == position, seconds=30, what="the group at the last checkpoint")
