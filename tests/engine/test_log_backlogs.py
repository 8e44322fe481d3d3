"""Streams from brokers that keep their messages: what is skipped where too many wait, and that the sums add up."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from jobs.engine.events import BufferStands
from jobs.engine.failure import ExecutionFailure
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import Bench, document
from tests.engine.kafka_numbers import dropped, heard_until, position
from tests.engine.nodes import SlowSink
from tests.nodes.test_rabbitmq_stream import publish_many
from tests.nodes.test_rabbitmq_stream import settings as rabbitmq_settings
from tests.nodes.test_rocketmq import send
from tests.servers.rabbitmq import RabbitMQServer
from tests.servers.rocketmq import RocketmqServer

#: The first test also starts the servers.
pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(300)]

MOST, SENT, PER_BATCH = 200, 2000, 150


class Log:
    """A place that keeps messages: `source` reads it by `connection`, of which `next_offsets` are behind the newest of `SENT`."""

    def __init__(self, source: tuple[str, dict[str, Any]], connection: ConnectionSettings, next_offsets: dict[str, int]) -> None:
        self.source, self.connection, self.next_offsets = source, connection, next_offsets


@pytest.fixture
def rabbitmq_log(rabbitmq_server: RabbitMQServer) -> Log:
    name = f"s-{uuid4().hex[:8]}"
    rabbitmq_server.stream_create(name)
    publish_many(rabbitmq_server, name, [value.encode() for value in numbered()])
    return Log(("source.rabbitmq_stream", {"stream": name}), rabbitmq_settings(rabbitmq_server), {"offset": SENT})


@pytest.fixture
def rocketmq_log(rocketmq_server: RocketmqServer) -> Log:
    topic = f"orders-{uuid4().hex[:8]}"
    rocketmq_server.topic_create(topic, queues=1)
    send(rocketmq_server, topic, numbered())
    return Log(("source.rocketmq", {"topic": topic}), rocketmq_server.settings, {"broker-a/0": SENT})


def numbered() -> Sequence[str]:
    return [json.dumps({"id": number}) for number in range(SENT)]


@pytest.fixture(params=["rabbitmq_log", "rocketmq_log"])
def log(request: pytest.FixtureRequest) -> Log:
    found: Log = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def read(bench: Bench, log: Log) -> Callable[..., Any]:
    def plan(**config: object) -> Any:
        kind, place = log.source
        given = {
            "connection": "main",
            "columns": [{"name": "id", "type": "long"}],
            "max_records_per_trigger": PER_BATCH,
            "max_backlog": MOST,
            **place,
            **config,
        }
        drawn = document({"numbers": (kind, given), "out": ("sink.slow", {})}, "numbers>out", type="STREAMING")
        return replace(bench.plan(drawn), connections={"main": replace(log.connection, name="main")})

    return plan


@pytest.mark.parametrize("strategy", ["LATEST", "DROP"])
@pytest.mark.usefixtures("quick_looks")
def test_every_message_is_written_or_counted_as_dropped(bench: Bench, log: Log, read: Callable[..., Any], strategy: str) -> None:
    plan = read(backpressure=strategy)
    run, heard = bench.run(plan)
    heard.wait_for(BufferStands)
    heard_until(heard, lambda: position(plan) == log.next_offsets)
    run.stop()
    assert run.wait(30) == "stopped"
    written = SlowSink.took[plan.generation]
    assert len(written) + dropped(heard) == SENT
    assert written == sorted(set(written))
    assert dropped(heard) > SENT / 2
    assert "DROPPING" in {event.status for event in heard.of(BufferStands)}
    assert (written[-1] == SENT - 1) == (strategy == "LATEST"), "the newest are kept under LATEST alone"


@pytest.mark.usefixtures("quick_looks")
def test_more_than_may_wait_ends_the_job_with_the_number(bench: Bench, read: Callable[..., Any]) -> None:
    run, _ = bench.run(read(backpressure="ERROR"))
    with pytest.raises(ExecutionFailure, match=r"[\d,]+ wait, more than the 200 that may") as failed:
        run.wait(60)
    assert (failed.value.permanent, failed.value.node_id) == (True, "numbers")


def test_a_strategy_without_a_number_is_refused(bench: Bench, read: Callable[..., Any]) -> None:
    with pytest.raises(Exception, match="LATEST needs a max backlog"):
        bench.run(read(backpressure="LATEST", max_backlog=0))
