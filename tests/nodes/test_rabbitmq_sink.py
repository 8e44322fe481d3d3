"""`sink.rabbitmq` where a broker takes some messages and refuses others, and where its form names no target."""

import time
from collections.abc import Iterator
from contextlib import closing
from threading import Thread
from uuid import uuid4

import pyarrow as pa
import pytest

from jobs.nodes.config_problems import config_problems
from jobs.nodes.connections.rabbitmq_client import RabbitMQAway
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sinks import rabbitmq_publishing as publishing
from jobs.nodes.sinks.rabbitmq import RabbitMQSink, RabbitMQSinkConfig
from jobs.nodes.sinks.rabbitmq_publishing import RabbitMQSender
from jobs.nodes.worker_errors import WorkerFailure
from tests.nodes.conftest import Build, Built
from tests.nodes.test_rabbitmq import connections
from tests.servers.rabbitmq import LARGEST, RabbitMQServer
from tests.servers.waiting import wait_until

KEY_MISSING = "no message can arrive: the default exchange takes the routing key for a queue's name"


@pytest.fixture
def narrow(rabbitmq_server: RabbitMQServer) -> Iterator[str]:
    """A queue that refuses more than three messages."""
    name = f"q-{uuid4().hex[:8]}"
    with closing(rabbitmq_server.line()) as line:
        line.channel().queue_declare(name, arguments={"x-max-length": 3, "x-overflow": "reject-publish"})
        yield name
        line.channel().queue_delete(name)


def sent(built: Built, values: list[bytes]) -> tuple[int, int]:
    """As one task does: how many it wrote and rejected."""
    sender = RabbitMQSender(
        built.context.config, built.context.connection("main"), "node", "writing", False, note=RetryNote.of(built.context.work_dir)
    )
    rows = [{"value": value, "id": None, "route": None, "kept": None} for value in values]
    (told, *_) = [row for batch in sender.run([pa.RecordBatch.from_pylist(rows)]) for row in batch.to_pylist()]
    return told["sent"], told["rejected"]


def taken(server: RabbitMQServer, queue: str, *, until: int) -> list[bytes]:
    """What a reader finds who comes again and again, until there were so many and the queue is empty."""
    found: list[bytes] = []
    with closing(server.line()) as line:
        channel = line.channel()

        def look() -> bool:
            method, _, body = channel.basic_get(queue, auto_ack=True)
            found.extend([body] if method is not None else [])
            return len(found) >= until and method is None

        wait_until(look, seconds=60, what=f"{until} messages")
    return found


@pytest.mark.server
def test_of_what_a_full_queue_refuses_each_message_is_sent_until_it_is_taken_and_no_other_again(
    build: Build, rabbitmq_server: RabbitMQServer, narrow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_PAUSE_SECONDS", 0.05)
    built = build("sink.rabbitmq", {"connection": "main", "routing_key": narrow}, connections=connections(rabbitmq_server))
    done: list[tuple[int, int]] = []
    values = [b"%d" % number for number in range(40)]
    thread = Thread(target=lambda: done.append(sent(built, values)))
    thread.start()
    waited = "rabbitmq main (the broker refuses messages, as when a queue is full)"
    wait_until(lambda: built.node.waits_for(built.context) == waited, seconds=20, what="the word that it waits")
    assert built.node.needs_to_begin(built.context) == ""
    found = taken(rabbitmq_server, narrow, until=40)
    thread.join(20)
    assert (sorted(found, key=int), done) == (values, [(40, 0)])


@pytest.mark.server
def test_a_queue_that_stays_full_is_waited_for_so_long_and_said_to_be_full(
    build: Build, rabbitmq_server: RabbitMQServer, narrow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "_PAUSE_SECONDS", 0.05)
    monkeypatch.setattr(publishing, "_AWAY_SECONDS", 0.5)
    built = build("sink.rabbitmq", {"connection": "main", "routing_key": narrow}, connections=connections(rabbitmq_server))
    begun = time.monotonic()
    with pytest.raises(WorkerFailure, match="the broker refuses messages, as when a queue is full; have it read") as told:
        sent(built, [b"x"] * 10)
    assert isinstance(told.value.__cause__, RabbitMQAway)
    assert time.monotonic() - begun < 10
    assert len(taken(rabbitmq_server, narrow, until=3)) == 3


@pytest.mark.server
def test_a_message_that_is_too_large_sends_no_other_twice(build: Build, rabbitmq_server: RabbitMQServer) -> None:
    queue = f"q-{uuid4().hex[:8]}"
    built = build("sink.rabbitmq", {"connection": "main", "routing_key": queue}, connections=connections(rabbitmq_server))
    values = [b"%d" % number + b"x" * (LARGEST + 1 if number in (150, 200) else 20_000) for number in range(300)]
    with closing(rabbitmq_server.line()) as line:
        line.channel().queue_declare(queue)
        assert sent(built, values) == (298, 2)
        assert taken(rabbitmq_server, queue, until=298) == [value for value in values if len(value) < LARGEST]
        line.channel().queue_delete(queue)


def test_a_form_that_names_neither_exchange_nor_key_is_refused_at_the_key() -> None:
    (problem,) = config_problems(RabbitMQSinkConfig, {"connection": "main"})
    assert (problem.pointer, KEY_MISSING in problem.message) == ("/routing_key", True)
    for named in ({"exchange": "all"}, {"routing_key": "orders"}, {"routing_key_column": "to"}):
        RabbitMQSinkConfig.model_validate({"connection": "main", **named})


def cautions(build: Build, **config: object) -> list[tuple[str, str]]:
    built = build("sink.rabbitmq", {"connection": "main", **config})
    return [(caution.field, caution.message) for caution in RabbitMQSink().cautions(built.context, [])]


def test_what_goes_nowhere_and_is_not_checked_is_warned_of(build: Build) -> None:
    ((field, message),) = cautions(build, mandatory=False)
    assert (field, KEY_MISSING in message) == ("routing_key", True)


def test_a_key_beside_a_column_of_keys_is_said_to_serve_rows_without_one(build: Build) -> None:
    ((field, message),) = cautions(build, routing_key="orders", routing_key_column="to")
    assert field == "routing_key"
    assert message.startswith("only rows without a value in to take it")
    assert not cautions(build, routing_key="orders")
    assert not cautions(build, routing_key_column="to")
