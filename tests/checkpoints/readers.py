"""Readers of what a job sends, by broker: each is there from the start, and tells all that ever came, repeats among it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Protocol
from uuid import uuid4

from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from pika.adapters.blocking_connection import BlockingChannel

from jobs.nodes.base import ConnectionSettings
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.rocketmq.messages import properties_of
from jobs.nodes.rocketmq.positions import QueueRange, newest
from jobs.nodes.rocketmq.pulling import Wanted
from jobs.nodes.rocketmq.reading import QueueReading
from tests.servers.mosquitto import MosquittoServer
from tests.servers.rabbitmq import PASSWORD, USER, RabbitMQServer
from tests.servers.rocketmq import RocketmqServer

#: A message's id and value.
Came = tuple[str, bytes]


class Reader(Protocol):
    """`sink`: the type and the form of a node that writes where this reads, over `connection`, which is called "broker"."""

    connection: ConnectionSettings
    sink: tuple[str, dict[str, Any]]

    def came(self) -> list[Came]:
        """Every message until now."""


@dataclass
class QueueReader:
    connection: ConnectionSettings
    sink: tuple[str, dict[str, Any]]
    channel: BlockingChannel
    found: list[Came] = field(default_factory=list)

    def came(self) -> list[Came]:
        while True:
            method, properties, body = self.channel.basic_get(self.sink[1]["routing_key"], auto_ack=True)
            if method is None:
                return self.found
            self.found.append((properties.message_id, body))


@contextmanager
def rabbitmq_reader(server: RabbitMQServer) -> Iterator[Reader]:
    config = {"host": "127.0.0.1", "port": server.port, "user": USER}
    queue = f"restores-{uuid4().hex[:8]}"
    with closing(server.line()) as line:
        channel = line.channel()
        channel.queue_declare(queue, durable=True)
        connection = ConnectionSettings("broker", "rabbitmq", config, {"password": PASSWORD})
        yield QueueReader(connection, ("sink.rabbitmq", {"connection": "broker", "routing_key": queue}), channel)
        channel.queue_delete(queue)


@dataclass
class Subscriber:
    connection: ConnectionSettings
    sink: tuple[str, dict[str, Any]]
    found: list[Came] = field(default_factory=list)

    def came(self) -> list[Came]:
        return self.found

    def take(self, client: Client, data: Any, message: Any) -> None:
        self.found.append((dict(message.properties.UserProperty)["message-id"], message.payload))


@contextmanager
def mqtt_reader(server: MosquittoServer) -> Iterator[Reader]:
    topic = f"restores/{uuid4().hex[:8]}"
    connection = ConnectionSettings("broker", "mqtt", {"host": "127.0.0.1", "port": server.port, "sign_in": "none"})
    subscriber, subscribed = Subscriber(connection, ("sink.mqtt", {"connection": "broker", "topic": topic})), Event()
    client = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    client.on_message = subscriber.take
    client.on_subscribe = lambda *_: subscribed.set()
    client.connect("127.0.0.1", server.port)
    client.loop_start()
    try:
        client.subscribe(topic, 2)
        assert subscribed.wait(20)
        yield subscriber
    finally:
        client.disconnect()
        client.loop_stop()


@dataclass
class TopicReader:
    connection: ConnectionSettings
    sink: tuple[str, dict[str, Any]]

    def came(self) -> list[Came]:
        found: list[Came] = []
        topic = self.sink[1]["topic"]
        with RocketMq(self.connection) as client:
            reading = QueueReading(client, Wanted(topic, "TOOLS_CONSUMER"), skips=False)
            for queue, end in newest(client, topic).items():
                for messages in reading.messages(QueueRange(queue, 0, end)):
                    found += [(properties_of(one.properties)["message-id"], one.value) for one in messages]
        return found


@contextmanager
def rocketmq_reader(server: RocketmqServer) -> Iterator[Reader]:
    topic = f"restores-{uuid4().hex[:8]}"
    server.topic_create(topic)
    connection = ConnectionSettings("broker", "rocketmq", server.settings.config, server.settings.secrets)
    yield TopicReader(connection, ("sink.rocketmq", {"connection": "broker", "topic": topic}))
