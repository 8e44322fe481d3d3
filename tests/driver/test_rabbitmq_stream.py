"""A RabbitMQ stream into a database, in real drivers, while the broker and the drivers are killed: each message arrives once."""

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pika
import pytest
from django.contrib.auth.models import User

from checkpoints.models import Checkpoint
from jobs.models import Connection, Event, Execution, Job, Project
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.rabbitmq.stream_line import StreamLine
from jobs.nodes.rabbitmq.stream_reading import StreamRange, StreamReading
from jobs.services.executions import checkpoint_request, execution_restore, execution_resume, execution_stop
from jobs.services.jobs import job_create
from jobs.services.secrets import secret_encrypt
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.rabbitmq import PASSWORD, USER, RabbitMQServer
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
def own_rabbitmq() -> Iterator[RabbitMQServer]:
    """A broker that may be killed. Its stream lies in small files, each of which takes an offset for the broker's own notes."""
    with RabbitMQServer() as server:
        server.stream_create("orders", **{"x-stream-max-segment-size-bytes": 5_000})
        yield server


@pytest.fixture
def job(user: User, own_rabbitmq: RabbitMQServer, data: Path) -> Job:
    project = Project.objects.get(slug="default")
    rabbit = {"host": "127.0.0.1", "port": own_rabbitmq.port, "user": USER}
    Connection.objects.create(project=project, name="main", kind="rabbitmq", config=rabbit, secrets=secret_encrypt({"password": PASSWORD}))
    Connection.objects.create(project=project, name="target", kind="sqlite", config={"path": str(data / "target.sqlite3")})
    source = {"connection": "main", "stream": "orders", "columns": [{"name": "id", "type": "long"}], "max_records_per_trigger": 200}
    document = {
        "schema_version": 1,
        "name": "orders",
        "type": "STREAMING",
        "nodes": {
            "orders": {"type": "source.rabbitmq_stream", "type_version": 1, "name": "Orders", "config": source},
            "table": {"type": "sink.jdbc", "type_version": 1, "name": "Table", "config": {"connection": "target", "table": "numbers"}},
        },
        "edges": {"e1": {"from": ["orders", "out"], "to": ["table", "in"]}},
        "settings": {"trigger_interval": "200ms", "retry_interval": "500ms", "parallelism": 2, "checkpoint_interval": "0s"},
    }
    return job_create(user=user, document=document)


class Feed:
    """Numbered messages, a hundred a second, each confirmed; one that a dying broker did not confirm is sent again."""

    def __init__(self, server: RabbitMQServer) -> None:
        self._server = server
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self.sent = 0

    def _feed(self) -> None:
        while not self._ended.wait(0.1):
            try:
                with closing(self._server.line()) as line:
                    channel = line.channel()
                    channel.confirm_delivery()
                    while not self._ended.wait(0.01):
                        body = json.dumps({"id": self.sent}).encode()
                        channel.basic_publish("", "orders", body, pika.BasicProperties(delivery_mode=2), mandatory=True)
                        self.sent += 1
            except (pika.exceptions.AMQPError, OSError):
                continue

    def end(self) -> None:
        self._ended.set()
        self._thread.join()


@contextmanager
def feed(server: RabbitMQServer) -> Iterator[Feed]:
    one = Feed(server)
    one._thread.start()
    try:
        yield one
    finally:
        one._ended.set()


def there(server: RabbitMQServer) -> list[int]:
    """The numbers in the stream."""
    settings = ConnectionSettings("main", "rabbitmq", {"host": "127.0.0.1", "port": server.port, "user": USER}, {"password": PASSWORD})
    with StreamLine(settings, "orders") as line:
        whole = StreamRange(0, line.look().newest)
        parts = StreamReading(line, "orders", skips=False).messages(whole)
        return [json.loads(one.value)["id"] for part in parts for one in part]


def test_a_killed_broker_and_a_killed_driver_lose_and_double_nothing(
    worker: Worker, own_rabbitmq: RabbitMQServer, job: Job, start: Start, written: Written, user: User
) -> None:
    def more_rows() -> None:
        before = len(written())
        wait_until(lambda: len(written()) > before + 50, seconds=150, what="more rows")

    with feed(own_rabbitmq) as fed:
        execution = start(job)
        more_rows()
        own_rabbitmq.kill()
        wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "rabbitmq main", seconds=60, what="that it waits is shown")
        own_rabbitmq.start()
        more_rows()
        wait_until(lambda: Execution.objects.get(pk=execution.pk).waiting_for == "", seconds=60, what="that it goes on is shown")
        checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user)
        wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").exists(), seconds=60, what="a checkpoint")
        os.kill(worker.drivers()[0], signal.SIGKILL)
        more_rows()
        fed.end()
        # What the dying broker kept and did not confirm was sent to it again: that number is there twice, and so it is read.
        numbers = there(own_rabbitmq)
        wait_until(lambda: len(written()) >= len(numbers), seconds=150, what=f"all {len(numbers)} rows, there are {len(written())}")
        execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
        ended = status_reached(execution, "PAUSED")
    assert set(numbers) == set(range(fed.sent))
    assert written() == sorted(numbers)
    assert (ended.processed_records, ended.failed_records) == (len(numbers), 0)
    kinds = set(Event.objects.filter(execution=ended).values_list("kind", flat=True))
    assert {"waiting", "answers"} <= kinds


def test_a_stream_made_anew_while_the_job_was_stopped_is_refused_at_a_start_and_behind_a_restore(
    worker: Worker, own_rabbitmq: RabbitMQServer, job: Job, start: Start, written: Written, user: User, data: Path, settings: Any
) -> None:
    settings.CHECKPOINT_ROOT = data / "checkpoints"  # where the worker has it

    def publish(first: int, last: int) -> None:
        with closing(own_rabbitmq.line()) as line:
            channel = line.channel()
            channel.confirm_delivery()
            for number in range(first, last):
                channel.basic_publish("", "orders", json.dumps({"id": number}).encode())

    publish(0, 50)
    execution = start(job)
    wait_until(lambda: len(written()) == 50, seconds=150, what="rows")
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    stopped = status_reached(execution, "PAUSED")
    with closing(own_rabbitmq.line()) as line:
        line.channel().queue_delete("orders")
    own_rabbitmq.stream_create("orders")
    publish(1000, 1100)
    execution_resume(execution=stopped, user=user)
    refused = status_reached(stopped, "FAILED")
    (checkpoint,) = Checkpoint.objects.filter(status="COMPLETED")
    restored = status_reached(execution_restore(checkpoint=checkpoint, user=user), "FAILED")
    assert restored.generation != refused.generation
    for ended in (refused, restored):
        assert "stream orders was deleted and made anew since it was read" in ended.error_message
        assert (ended.error_node_id, ended.retry_count) == ("orders", 0)
    assert written() == list(range(50))
