"""Streams that read numbered messages from a Kafka topic into a slow sink."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import OffsetSpec  # type: ignore[attr-defined]

from jobs.engine import offset_log
from jobs.engine.events import BufferStands, QueryStarted
from jobs.engine.plan import Plan
from jobs.engine.progress import last_committed
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import Bench, Heard, document
from tests.engine.nodes import SlowSink
from tests.servers.kafka import KafkaServer

#: Of so many messages one is no JSON.
BAD_EVERY = 50
PARTITIONS = 2
_A_TICK, _OF_A_TICK = 0.02, 50


def connected(plan: Plan, server: KafkaServer) -> Plan:
    return replace(plan, connections={"main": ConnectionSettings("main", "kafka", {"servers": server.bootstrap})})


def source(topic: str, **config: object) -> tuple[str, dict[str, Any]]:
    return "source.kafka", {"connection": "main", "topic": topic, "columns": [{"name": "id", "type": "long"}], **config}


def reading(bench: Bench, server: KafkaServer, topic: str, **config: object) -> Plan:
    drawn = document({"numbers": source(topic, **config), "out": ("sink.slow", {})}, "numbers>out", type="STREAMING")
    return connected(bench.plan(drawn), server)


def waiting(server: KafkaServer, position: dict[str, dict[str, int]]) -> int:
    """Messages behind `position`."""
    places = {TopicPartition(topic, int(number)): offset for topic, numbers in position.items() for number, offset in numbers.items()}
    asked = server.admin.list_offsets({place: OffsetSpec.latest() for place in places})
    return sum(asked[place].result(30).offset - offset for place, offset in places.items())


class Feed:
    """Sends messages {"id": 0}, {"id": 1} … in turn to the partitions, five times as fast as the slow sink takes them."""

    def __init__(self, server: KafkaServer, topic: str) -> None:
        self.produced = 0
        self.topic = topic
        self._producer = Producer({"bootstrap.servers": server.bootstrap, "enable.idempotence": True})
        self._stopping = threading.Event()

    @contextmanager
    def producing(self) -> Iterator[None]:
        """While inside; then the broker has all that was `produced`."""
        thread = threading.Thread(target=self._produce)
        thread.start()
        try:
            yield
        finally:
            self._stopping.set()
            thread.join()

    def send(self, count: int) -> None:
        for number in range(self.produced, self.produced + count):
            value = "no json" if number % BAD_EVERY == 0 else json.dumps({"id": number})
            self._producer.produce(self.topic, value, partition=number % PARTITIONS)
        assert self._producer.flush(30) == 0
        self.produced += count

    def _produce(self) -> None:
        while not self._stopping.wait(_A_TICK):
            self.send(_OF_A_TICK)


def dropped(heard: Heard) -> int:
    return int(heard.of(BufferStands)[-1].dropped)


def rejected(*heard: Heard) -> int:
    return sum(one.rows("numbers", "rejected") for one in heard)


def position(plan: Plan) -> dict[str, Any]:
    """Where the stream goes on; empty before its first batch."""
    folder = plan.locations.live / "out"
    batch = last_committed(folder)
    found: dict[str, Any] = offset_log.named_offsets(folder, batch)["numbers"] if batch >= 0 else {}
    return found


def heard_until(heard: Heard, holds: Callable[[], bool]) -> None:
    with heard.changed:
        assert heard.changed.wait_for(holds, 60)


def came_once_and_in_order(ids: list[int]) -> bool:
    of_partition = [[number for number in ids if number % PARTITIONS == partition] for partition in range(PARTITIONS)]
    return all(some == sorted(set(some)) for some in of_partition)


def skipped_at_least(bench: Bench, plan: Plan, feed: Feed, times: int) -> Heard:
    """A run under pressure that was stopped after it skipped so often."""
    run, heard = bench.run(plan)
    heard.wait_for(BufferStands)
    with feed.producing():
        heard_until(heard, lambda: len({event.dropped for event in heard.of(BufferStands)}) > times)
    run.stop()
    assert run.wait(30) == "stopped"
    return heard


def drained(bench: Bench, server: KafkaServer, plan: Plan) -> Heard:
    """A run that was stopped when nothing waited any more."""
    run, heard = bench.run(plan)
    heard.wait_for(QueryStarted)
    heard_until(heard, lambda: bool(there := position(plan)) and waiting(server, there) == 0)
    run.stop()
    assert run.wait(30) == "stopped"
    return heard


def goes_on_whole(bench: Bench, server: KafkaServer, feed: Feed, plan: Plan, first: Heard) -> None:
    """After `first` ended amid a skip another attempt loses nothing, counts nothing twice, and reads on in order."""
    assert dropped(first) == 0
    second = drained(bench, server, replace(plan, attempt=2))
    assert (second.of(BufferStands)[0].dropped, dropped(second) > 0) == (0, True)
    written = SlowSink.took[plan.generation]
    assert feed.produced == len(written) + rejected(first, second) + dropped(second)
    assert came_once_and_in_order(written)
