"""Streams from brokers that send a message once, in real drivers, while the drivers are killed and the brokers go away."""

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pika
import pytest
from django.contrib.auth.models import User
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion

from jobs.models import Connection, Event, Execution, Job, Project
from jobs.nodes.spool import Spool, spool_path
from jobs.services.executions import execution_stop
from jobs.services.jobs import job_create
from jobs.services.secrets import secret_encrypt
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.mosquitto import MosquittoServer
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
ID = [{"name": "id", "type": "long"}]


@pytest.fixture
def own_rabbitmq() -> Iterator[RabbitMQServer]:
    """A broker that may be killed."""
    with RabbitMQServer() as server:
        with closing(server.line()) as line:
            line.channel().queue_declare("orders", durable=True)
        yield server


@pytest.fixture
def own_mosquitto() -> Iterator[MosquittoServer]:
    with MosquittoServer() as server:
        yield server


def job_of(user: User, data: Path, sources: dict[str, tuple[str, dict[str, Any]]]) -> Job:
    """Each source writes a table of its own name."""
    Connection.objects.create(
        project=Project.objects.get(slug="default"), name="target", kind="sqlite", config={"path": str(data / "target.sqlite3")}
    )
    nodes, edges = {}, {}
    for name, (kind, config) in sources.items():
        nodes[name] = {"type": kind, "type_version": 1, "name": name, "config": config | {"columns": ID, "max_records_per_trigger": 200}}
        nodes[f"{name}_table"] = {
            "type": "sink.jdbc",
            "type_version": 1,
            "name": f"{name} table",
            "config": {"connection": "target", "table": name},
        }
        edges[name] = {"from": [name, "out"], "to": [f"{name}_table", "in"]}
    intervals = {"trigger_interval": "200ms", "retry_interval": "500ms", "checkpoint_interval": "2s"}
    document = {"schema_version": 1, "name": "brokers", "type": "STREAMING", "nodes": nodes, "edges": edges}
    return job_create(user=user, document=document | {"settings": intervals | {"parallelism": 1}})


def test_numbered_messages_arrive_over_kills_of_driver_and_brokers(
    worker: Worker,
    own_rabbitmq: RabbitMQServer,
    own_mosquitto: MosquittoServer,
    user: User,
    data: Path,
    settings: Any,
    start: Start,
    written: Callable[..., list[int]],
) -> None:
    settings.DATA_DIR = data
    project = Project.objects.get(slug="default")
    rabbit = {"host": "127.0.0.1", "port": own_rabbitmq.port, "user": USER}
    Connection.objects.create(
        project=project, name="rabbit", kind="rabbitmq", config=rabbit, secrets=secret_encrypt({"password": PASSWORD})
    )
    plant = {"host": "127.0.0.1", "port": own_mosquitto.port, "sign_in": "none"}
    Connection.objects.create(project=project, name="plant", kind="mqtt", config=plant)
    sources: dict[str, tuple[str, dict[str, Any]]] = {
        "orders": ("source.rabbitmq", {"connection": "rabbit", "queue": "orders", "drop_repeats": True}),
        "readings": ("source.mqtt", {"connection": "plant", "topics": "plant/+"}),
    }
    job = job_of(user, data, sources)
    execution = start(job)
    subscription = spool_path(data, str(job.job_uid), "readings").with_suffix(".topics")
    wait_until(subscription.exists, seconds=90, what="the subscription")
    sent = 0

    def send(count: int) -> None:
        nonlocal sent
        numbers = range(sent, sent + count)
        orders_send(own_rabbitmq, numbers)
        readings_send(own_mosquitto, numbers)
        sent += count

    def all_written() -> None:
        """MQTT knows no ids: a message that was kept, and not acknowledged when the driver died, stands there twice."""
        wait_until(lambda: written(table="orders") == list(range(sent)), seconds=120, what=f"{sent} orders, each once")
        wait_until(lambda: set(written(table="readings")) == set(range(sent)), seconds=60, what=f"{sent} readings")

    send(500)
    all_written()
    os.kill(worker.drivers()[0], signal.SIGKILL)
    send(500)
    all_written()
    own_rabbitmq.kill()
    own_mosquitto.stop()
    wait_until(lambda: waits(execution) == {"rabbitmq rabbit", "mqtt plant"}, seconds=60, what="the history to say what it waits for")
    own_rabbitmq.start()
    own_mosquitto.start()
    send(500)
    all_written()
    execution_stop(execution=status_reached(execution, "RUNNING"), user=user)
    stopped = status_reached(execution, "PAUSED")
    assert (stopped.dropped_records, stopped.backpressure_status, stopped.buffer_size) == (0, "OK", 0)
    assert stopped.retry_count <= 1, "a broker that is away costs no retry"
    spool = Spool(spool_path(data, str(job.job_uid), "orders"))
    assert spool.newest() == sent


def waits(execution: Execution) -> set[str]:
    return set(Event.objects.filter(execution=execution, kind="waiting").values_list("reason", flat=True))


def orders_send(server: RabbitMQServer, numbers: range) -> None:
    with closing(server.line()) as line:
        channel = line.channel()
        channel.confirm_delivery()
        for number in numbers:
            properties = pika.BasicProperties(delivery_mode=2, message_id=str(number))
            channel.basic_publish("", "orders", json.dumps({"id": number}).encode(), properties)


def readings_send(server: MosquittoServer, numbers: range) -> None:
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    client.connect("127.0.0.1", server.port)
    client.loop_start()
    for info in [client.publish(f"plant/{number % 3}", json.dumps({"id": number}), 1) for number in numbers]:
        info.wait_for_publish(30)
    client.disconnect()
    client.loop_stop()
