"""Messages that come once, 200 bytes: received into the spool, beside the brokers' own clients: `python -m benchmarks.spool [rows]`.

Measured with 100,000 rows in three rounds: RabbitMQ 0.99 x and 1.28 x by the clock, 1.10 and 1.43 by processor (0.70 and 0.80 in the worst
run so far), MQTT 1.14 and 1.18.
"""

import sys
import tempfile
import uuid
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pika
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from benchmarks.comparison import Variant, compare
from jobs.driver.__main__ import SWITCH_SECONDS
from jobs.nodes.base import ConnectionSettings, Limits, NodeContext
from jobs.nodes.sources.mqtt import MqttConfig, MqttSource
from jobs.nodes.sources.rabbitmq import RabbitMQConfig, RabbitMQSource
from jobs.nodes.spool_source import SpoolConfig, SpoolSource, spool_of
from tests.servers.mosquitto import MosquittoServer
from tests.servers.rabbitmq import PASSWORD, USER, RabbitMQServer
from tests.servers.waiting import wait_until

BODY = b"x" * 200
ROUNDS = 3
_PREFETCH = 2_000
#: The client takes 65,535 messages at most that are not published yet.
_AT_ONCE = 30_000


def received(source: SpoolSource[Any], config: SpoolConfig, connection: ConnectionSettings, rows: int, node_id: str, data: Path) -> None:
    """By our receiver, until `rows` messages are on disk and acknowledged."""
    context = NodeContext(
        node_id=node_id,
        node_name="Benchmark",
        config=config,
        job_uid="benchmark",
        bounded=False,
        connections={connection.name: connection},
        limits=Limits(data_dir=data),
        log=lambda words: None,
    )
    stopping = Event()
    thread = Thread(target=source.receive, args=(context, stopping))
    thread.start()
    wait_until(lambda: spool_of(context).path.exists() and spool_of(context).newest() >= rows, seconds=600, what="all messages", every=0.02)
    stopping.set()
    thread.join()


def rabbitmq(rows: int, data: Path) -> None:
    with RabbitMQServer() as server:
        with closing(server.line()) as line:
            channel = line.channel()
            # In turn: of queues that were filled one after another, the later ones are read more slowly, whoever reads them.
            for queue in [f"{who}{number}" for number in range(ROUNDS + 1) for who in ("alone", "spool")]:
                channel.queue_declare(queue, durable=True)
                channel.tx_select()
                for _ in range(rows):
                    channel.basic_publish("", queue, BODY, pika.BasicProperties(delivery_mode=2))
                channel.tx_commit()

        def alone(number: int) -> None:
            with closing(server.line()) as line:
                channel = line.channel()
                channel.basic_qos(prefetch_count=_PREFETCH)
                tags: list[int] = []
                channel.basic_consume(f"alone{number}", lambda _, method, __, ___: tags.append(method.delivery_tag))
                while not tags or tags[-1] < rows:
                    line.process_data_events(time_limit=1)
                    channel.basic_ack(tags[-1], multiple=True)
                    del tags[:-1]

        config = {"host": "127.0.0.1", "port": server.port, "user": USER}
        connection = ConnectionSettings("main", "rabbitmq", config, {"password": PASSWORD})

        def spooled(number: int) -> None:
            typed = RabbitMQConfig(connection="main", queue=f"spool{number}", format="text", prefetch=_PREFETCH)
            received(RabbitMQSource(), typed, connection, rows, f"rabbit{number}", data)

        compare("RabbitMQ, from a full queue", rows, [Variant("pika alone", alone), Variant("the spool", spooled)], rounds=ROUNDS)


def mqtt(rows: int, data: Path) -> None:
    with MosquittoServer() as server:
        connection = ConnectionSettings("main", "mqtt", {"host": "127.0.0.1", "port": server.port, "sign_in": "none"})
        ids = {f"alone{number}": f"alone{number}" for number in range(ROUNDS + 1)}
        ids |= {f"spool{number}": f"pipeline-benchmark-mqtt{number}" for number in range(ROUNDS + 1)}
        for client_id in ids.values():
            with closing_client(server, client_id) as client:
                client.subscribe("readings", 1)
                client.loop(1)
                client.loop(1)
        fill(server, rows)

        def alone(number: int) -> None:
            heard: list[int] = []
            with closing_client(server, f"alone{number}", lambda _, __, message: heard.append(message.mid)) as client:
                while len(heard) < rows:
                    client.loop(1)

        def spooled(number: int) -> None:
            typed = MqttConfig(connection="main", topics="readings", format="text", receive_maximum=_PREFETCH)
            received(MqttSource(), typed, connection, rows, f"mqtt{number}", data)

        compare("MQTT, from a full session", rows, [Variant("paho alone", alone), Variant("the spool", spooled)], rounds=ROUNDS)


class closing_client:  # noqa: N801 - reads as a function
    """A session that the broker keeps, open inside."""

    def __init__(self, server: MosquittoServer, client_id: str, hear: Callable[[Any, Any, Any], None] | None = None) -> None:
        self._client = Client(CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5)
        self._client.on_message = hear
        self._port = server.port

    def __enter__(self) -> Client:
        properties = Properties(PacketTypes.CONNECT)
        properties.SessionExpiryInterval = 3600
        properties.ReceiveMaximum = _PREFETCH
        self._client.connect("127.0.0.1", self._port, clean_start=False, properties=properties)
        self._client.loop(1)
        return self._client

    def __exit__(self, *error: object) -> None:
        self._client.disconnect()


def fill(server: MosquittoServer, rows: int) -> None:
    client = Client(CallbackAPIVersion.VERSION2, client_id=f"filler-{uuid.uuid4()}", protocol=MQTTv5)
    client.max_inflight_messages_set(500)
    client.connect("127.0.0.1", server.port)
    client.loop_start()
    for begin in range(0, rows, _AT_ONCE):
        for info in [client.publish("readings", BODY, 1) for _ in range(min(_AT_ONCE, rows - begin))]:
            info.wait_for_publish(300)
    client.disconnect()
    client.loop_stop()


def main(rows: int) -> None:
    sys.setswitchinterval(SWITCH_SECONDS)
    with tempfile.TemporaryDirectory(prefix="pipeline-benchmark-") as name:
        rabbitmq(rows, Path(name))
        mqtt(rows, Path(name))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 30_000)
