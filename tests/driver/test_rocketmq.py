"""A stream from RocketMQ into a database and on to another topic, in real drivers, while the broker and the drivers are killed."""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User

from checkpoints.models import Checkpoint
from jobs.models import Connection, Event, Execution, Job, Project
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.rocketmq.messages import properties_of
from jobs.nodes.rocketmq.positions import QueueRange, newest
from jobs.nodes.rocketmq.pulling import Wanted
from jobs.nodes.rocketmq.reading import QueueReading
from jobs.nodes.rocketmq.route import Queue
from jobs.nodes.rocketmq.sending import Outgoing, TopicWriter
from jobs.services.executions import checkpoint_request, execution_stop
from jobs.services.jobs import job_create
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.rocketmq import RocketmqServer
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.faults,
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
def own_rocketmq() -> Iterator[RocketmqServer]:
    """A broker that may be killed."""
    with RocketmqServer() as server:
        server.topic_create("orders", queues=2)
        server.topic_create("copy", queues=2)
        server.group_create("followers")
        yield server


@pytest.fixture
def job(user: User, own_rocketmq: RocketmqServer, data: object) -> Job:
    project = Project.objects.get(slug="default")
    Connection.objects.create(project=project, name="main", kind="rocketmq", config={"servers": own_rocketmq.name_servers})
    Connection.objects.create(project=project, name="target", kind="sqlite", config={"path": f"{data}/target.sqlite3"})
    source = {"connection": "main", "topic": "orders", "columns": [{"name": "id", "type": "long"}], "group_id": "followers"}
    copy = {"connection": "main", "topic": "copy", "key_columns": ["id"], "id_columns": ["id"]}
    document = {
        "schema_version": 1,
        "name": "orders",
        "type": "STREAMING",
        "nodes": {
            "orders": {"type": "source.rocketmq", "type_version": 1, "name": "Orders", "config": source},
            "table": {"type": "sink.jdbc", "type_version": 1, "name": "Table", "config": {"connection": "target", "table": "numbers"}},
            "copy": {"type": "sink.rocketmq", "type_version": 1, "name": "Copy", "config": copy},
        },
        "edges": {"e1": {"from": ["orders", "out"], "to": ["table", "in"]}, "e2": {"from": ["orders", "out"], "to": ["copy", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 2, "checkpoint_interval": "0s"},
    }
    return job_create(user=user, document=document)


class Feed:
    """Numbered messages, a hundred a second, ten in a request; what a dying broker did not confirm is sent again."""

    def __init__(self, server: RocketmqServer) -> None:
        self._server = server
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self.sent = 0

    def _feed(self) -> None:
        with RocketMq(self._server.settings, seconds=5) as client:
            writer = TopicWriter(client, "orders", self._settled, in_order=True, together=True)
            while not self._ended.wait(0.1):
                for number in range(self.sent, self.sent + 10):
                    writer.add(Outgoing(json.dumps({"id": number}).encode()))
                writer.finish()

    def _settled(self, messages: object, reason: str) -> None:
        assert not reason
        assert isinstance(messages, list)
        self.sent += len(messages)

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


@contextmanager
def feed(server: RocketmqServer) -> Iterator[Feed]:
    one = Feed(server)
    one._thread.start()
    try:
        yield one
    finally:
        one._ended.set()


def told(server: RocketmqServer, topic: str) -> Counter[str]:
    """What tells the messages of a topic apart – a property, or the value – with how often each came."""
    found: Counter[str] = Counter()
    with RocketMq(server.settings) as client:
        reading = QueueReading(client, Wanted(topic, "TOOLS_CONSUMER"), skips=False)
        for queue, end in newest(client, topic).items():
            for messages in reading.messages(QueueRange(queue, 0, end)):
                found.update(properties_of(one.properties).get("message-id") or one.value.decode() for one in messages)
    return found


def test_a_killed_broker_and_a_killed_driver_lose_nothing_and_the_group_follows_the_checkpoints(
    worker: Worker, own_rocketmq: RocketmqServer, job: Job, start: Start, written: Written, user: User
) -> None:
    def more_rows() -> None:
        before = len(written())
        wait_until(lambda: len(written()) > before + 50, seconds=150, what="more rows")

    with feed(own_rocketmq) as fed:
        execution = start(job)
        more_rows()
        own_rocketmq.kill()
        wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "rocketmq main", seconds=60, what="that it waits is shown")
        own_rocketmq.start()
        more_rows()
        wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "", seconds=60, what="that it goes on is shown")
        checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user)
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").exists(), seconds=60, what="a checkpoint")
        os.kill(worker.drivers()[0], signal.SIGKILL)
        more_rows()
        fed.end()
        # What the dying broker kept and did not confirm was sent to it again: those numbers are there twice, and so they are read.
        there = told(own_rocketmq, "orders")
        wait_until(lambda: len(written()) == there.total(), seconds=150, what=f"all {there.total()} rows, there are {len(written())}")
        execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
        ended = status_reached(execution, "PAUSED")
    assert written() == sorted(json.loads(value)["id"] for value in there.elements())
    assert set(written()) == set(range(fed.sent))
    assert (ended.processed_records, ended.failed_records) == (there.total(), 0)
    copies = told(own_rocketmq, "copy")
    assert {int(name.rpartition("/")[2]) for name in copies} == set(range(fed.sent))
    history = list(Event.objects.filter(execution=ended).order_by("seq").values_list("kind", "reason"))
    kinds = [kind for kind, _ in history if not kind.startswith("checkpoint_")]
    after_waiting = kinds[kinds.index("waiting") + 1]
    # A broker that recovers slowly does not know its newest messages for a while: then the attempt that waited fails, and says so.
    assert after_waiting in ("answers", "attempt_failed"), history
    last = Checkpoint.objects.filter(status="COMPLETED").latest("pk")
    position = last.state_data["sources"]["orders"]
    assert sum(position.values()) == there.total()

    def group() -> dict[str, int | None]:
        with RocketMq(own_rocketmq.settings) as client:
            address = client.brokers()["broker-a"]
            return {name: client.group_offset(address, "followers", "orders", Queue.of_text(name)) for name in position}

    wait_until(lambda: group() == position, seconds=30, what="the group at the last checkpoint")
