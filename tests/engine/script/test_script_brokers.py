"""A script in a process of its own sends brokers, and HBase, what a run of the same job sends."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import happybase
import pytest
from paho.mqtt.client import Client, MQTTMessage, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion

from jobs.dag.document import DagDocument
from jobs.engine.script.program import script_write
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.plainly import secret_stand_in
from tests.engine.graphs import Bench, document
from tests.engine.script.processes import Scripts
from tests.servers import mosquitto, rabbitmq
from tests.servers.hbase import HbaseServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.processes, pytest.mark.slow, pytest.mark.timeout(300)]

ROWS = 40
#: Payload, topic or routing key, and the rows' own id behind job and node.
Heard = tuple[bytes, str, str]


def own_id(told: str) -> str:
    return told.rpartition("/")[2]


@contextmanager
def topic_heard(server: mosquitto.MosquittoServer, topic: str) -> Iterator[list[Heard]]:
    found: list[Heard] = []

    def hear(client: Client, data: Any, message: MQTTMessage) -> None:
        properties: Any = message.properties
        found.append((bytes(message.payload), message.topic, own_id(dict(properties.UserProperty)["message-id"])))

    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    client.on_message = hear
    subscribed: list[int] = []
    client.on_subscribe = lambda *given: subscribed.append(1)
    client.username_pw_set(mosquitto.USER, mosquitto.PASSWORD)
    client.connect("127.0.0.1", server.closed_port)
    client.loop_start()
    client.subscribe(f"{topic}/#", qos=1)
    wait_until(lambda: bool(subscribed), seconds=10, what="the subscription")
    try:
        yield found
    finally:
        client.disconnect()
        client.loop_stop()


def queue_taken(server: rabbitmq.RabbitMQServer, queue: str) -> list[Heard]:
    found: list[Heard] = []
    with closing(server.line()) as line:
        channel = line.channel()
        while (got := channel.basic_get(queue, auto_ack=True))[0] is not None:
            method, properties, body = got
            found.append((body, method.routing_key, own_id(properties.message_id)))
    return found


def nodes_of(topic: str, queue: str) -> dict[str, tuple[str, dict[str, Any]]]:
    columns = [{"name": "topic", "expression": f"concat('{topic}/', id % 3)"}, {"name": "text", "expression": "concat('n', id)"}]
    return {
        "ids": ("source.file", {"path": "in", "format": "csv", "columns": [{"name": "id", "type": "long"}]}),
        "named": ("flow.compute_columns", {"columns": columns}),
        "plant": ("sink.mqtt", {"connection": "plant", "topic_column": "topic", "id_columns": ["id"]}),
        "queue": (
            "sink.rabbitmq",
            {"connection": "main", "routing_key": queue, "format": "text", "value_column": "text", "id_columns": ["id"]},
        ),
    }


def test_messages_to_mqtt_and_rabbitmq_are_those_of_a_run(
    bench: Bench,
    scripts: Scripts,
    mosquitto_server: mosquitto.MosquittoServer,
    rabbitmq_server: rabbitmq.RabbitMQServer,
    tmp_path: Path,
) -> None:
    topic, queue = f"open/{uuid4().hex[:8]}", f"q-{uuid4().hex[:8]}"
    with closing(rabbitmq_server.line()) as line:
        line.channel().queue_declare(queue, durable=True)
    (bench.files / "in").mkdir()
    (bench.files / "in" / "1.csv").write_text("id\n" + "".join(f"{number}\n" for number in range(ROWS)), encoding="utf-8")
    read = document(nodes_of(topic, queue), "ids>named, named>plant, named>queue", type="STREAMING")
    plant = {"host": "127.0.0.1", "port": mosquitto_server.closed_port, "user": mosquitto.USER}
    main = {"host": "127.0.0.1", "port": rabbitmq_server.port, "user": rabbitmq.USER}
    known = {
        "plant": ConnectionSettings("plant", "mqtt", plant, {"password": mosquitto.PASSWORD}),
        "main": ConnectionSettings("main", "rabbitmq", main, {"password": rabbitmq.PASSWORD}),
    }
    closed = {name: replace(one, secrets={"password": secret_stand_in(name, "password")}) for name, one in known.items()}
    plan = replace(bench.plan(read), connections=known, until_drained=True)
    written = script_write(bench.spark, read, connections=closed, limits=plan.limits, parameters={})
    assert not written.problems
    assert "PLANT_PASSWORD" in written.text
    assert mosquitto.PASSWORD not in written.text

    def by_run() -> None:
        run, _ = bench.run(plan)
        assert run.wait(90) == "completed"

    def by_script() -> None:
        scripts.run(written.text, tmp_path / "plain", PLANT_PASSWORD=mosquitto.PASSWORD, MAIN_PASSWORD=rabbitmq.PASSWORD)

    def heard(act: Callable[[], None]) -> tuple[list[Heard], list[Heard]]:
        with topic_heard(mosquitto_server, topic) as found:
            act()
            wait_until(lambda: len(found) >= ROWS, seconds=30, what="the messages")
            return sorted(found), sorted(queue_taken(rabbitmq_server, queue))

    ran = heard(by_run)
    assert heard(by_script) == ran
    assert [len(messages) for messages in ran] == [ROWS, ROWS]


def test_cells_of_hbase_are_those_of_a_run(bench: Bench, scripts: Scripts, hbase_server: HbaseServer, tmp_path: Path) -> None:
    lines = [f"{number % 30},n{number},{number / 4 if number % 3 else ''},{str(number % 7 == 0).lower()}" for number in range(60)]
    (bench.files / "in").mkdir()
    (bench.files / "in" / "1.csv").write_text("\n".join(["id,name,amount,gone", *lines]) + "\n", encoding="utf-8")
    columns = [{"name": "id", "type": "long"}, {"name": "name"}, {"name": "amount", "type": "double"}, {"name": "gone", "type": "boolean"}]
    cells: dict[str, Any] = {"connection": "main", "row_key": "id", "family": "cf", "encoding": "bytes", "empty_cells": "delete"}
    cells |= {"delete_flag": "gone", "columns": [{"name": "amount", "family": "sums", "qualifier": "a"}]}
    tables = {name: f"t{uuid4().hex[:12]}" for name in ("run", "script")}
    known = {"main": hbase_server.settings}

    def drawn(table: str) -> DagDocument:
        nodes = {
            "ids": ("source.file", {"path": "in", "format": "csv", "columns": columns}),
            "out": ("sink.hbase", cells | {"table": table}),
        }
        return document(nodes, "ids>out", type="SQL_TASK", settings={"parallelism": 1})

    plan = replace(bench.plan(drawn(tables["run"])), connections=known)
    run, _ = bench.run(plan)
    assert run.wait(90) == "completed"
    written = script_write(bench.spark, drawn(tables["script"]), connections=known, limits=plan.limits, parameters={})
    assert not written.problems
    scripts.run(written.text, tmp_path / "plain")

    def held(name: str) -> dict[bytes, dict[bytes, bytes]]:
        with closing(happybase.Connection("127.0.0.1", int(hbase_server.settings.config["port"]))) as connection:
            return dict(connection.table(tables[name]).scan())

    assert held("script") == held("run")
    assert len(held("run")) > 10
