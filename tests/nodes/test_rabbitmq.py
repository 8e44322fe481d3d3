"""`source.rabbitmq` and `sink.rabbitmq` against a real broker: what is received, acknowledged and rejected, and what goes wrong."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from itertools import takewhile
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pika
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import REJECTED, Batch, ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.rabbitmq import RabbitMQConnection
from jobs.nodes.connections.rabbitmq_client import RabbitMQAway, rabbitmq_channel, rabbitmq_error
from jobs.nodes.sinks import rabbitmq_publishing as publishing
from jobs.nodes.sinks.rabbitmq_publishing import RabbitMQSender
from jobs.nodes.spool import Spool
from jobs.nodes.spool_source import spool_of
from tests.nodes.conftest import Build, Built
from tests.nodes.rejections import rejections_in, rows_led_on
from tests.servers.certificate import self_signed
from tests.servers.rabbitmq import LARGEST, PASSWORD, USER, RabbitMQServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]
ROWS = "SELECT id, 'n' || id AS name FROM range({count})"


@pytest.fixture
def queue(rabbitmq_server: RabbitMQServer) -> Iterator[str]:
    name = f"q-{uuid4().hex[:8]}"
    with closing(rabbitmq_server.line()) as line:
        line.channel().queue_declare(name, durable=True)
        yield name
        line.channel().queue_delete(name)


def connections(server: RabbitMQServer, password: str = PASSWORD, **config: Any) -> dict[str, ConnectionSettings]:
    settings = {"host": "127.0.0.1", "port": server.port, "user": USER, **config}
    return {"main": ConnectionSettings("main", "rabbitmq", settings, {"password": password})}


def publish(server: RabbitMQServer, queue: str, bodies: list[bytes], **properties: Any) -> None:
    with closing(server.line()) as line:
        channel = line.channel()
        for number, body in enumerate(bodies):
            told = pika.BasicProperties(delivery_mode=2, message_id=f"m{number}", **properties)
            channel.basic_publish("", queue, body, told)


@contextmanager
def receiving(built: Built) -> Iterator[Spool]:
    """As a stream does, without end."""
    stopping = Event()
    thread = Thread(target=built.node.receive, args=(replace(built.context, bounded=False), stopping))
    thread.start()
    try:
        yield spool_of(built.context)
    finally:
        stopping.set()
        thread.join(20)


def counted(server: RabbitMQServer, queue: str) -> int:
    with closing(server.line()) as line:
        count: int = line.channel().queue_declare(queue, passive=True).method.message_count
        return count


def source(build: Build, server: RabbitMQServer, queue: str, *, password: str = PASSWORD, **config: Any) -> Built:
    given = {"connection": "main", "queue": queue, "columns": COLUMNS, **config}
    return build("source.rabbitmq", given, connections=connections(server, password))


def received(built: Built, *, bounded: bool = True) -> None:
    context = replace(built.context, bounded=bounded)
    built.node.receive(context, Event())


def test_what_waits_in_a_queue_is_read_once_and_acknowledged(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str
):
    bodies = ['{"id": 1, "name": "Zoë"}'.encode(), b'{"id": "x"}', b"", b'{"id": 2}']
    publish(rabbitmq_server, queue, bodies, headers={"shop": "é", "more": {"a": 1}}, content_type="application/json")
    built = source(build, rabbitmq_server, queue, metadata=True)
    received(built)
    assert counted(rabbitmq_server, queue) == 0
    rows = built.node.read(spark, built.context).collect()
    assert sorted((row.id, row.name) for row in rows if row[REJECTED] is None) == [(1, "Zoë"), (2, None)]
    assert sum(row[REJECTED] is not None for row in rows) == 2
    (first, *_) = sorted(rows, key=lambda row: row.rabbitmq_position)
    assert (first.rabbitmq_routing_key, first.rabbitmq_headers["shop"], first.rabbitmq_headers["message_id"]) == (queue, "é", "m0")
    assert json.loads(first.rabbitmq_headers["more"]) == {"a": 1}


def test_a_quorum_queue_and_a_large_message(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer):
    name = f"q-{uuid4().hex[:8]}"
    with closing(rabbitmq_server.line()) as line:
        line.channel().queue_declare(name, durable=True, arguments={"x-queue-type": "quorum"})
        large = json.dumps({"id": 1, "name": "x" * 1_000_000}).encode()
        publish(rabbitmq_server, name, [large])
        built = source(build, rabbitmq_server, name)
        received(built)
        (row,) = built.node.read(spark, built.context).collect()
        assert (row.id, len(row.name)) == (1, 1_000_000)
        line.channel().queue_delete(name)


def test_a_look_takes_names_and_rows_and_leaves_every_message(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str
):
    publish(rabbitmq_server, queue, [b'{"id": 1, "name": "a"}', b'{"id": 2, "name": "b"}'])
    built = source(build, rabbitmq_server, queue, columns=[])
    context = replace(built.context, generation="", job_uid="")
    frame = built.node.read(spark, context)
    assert dict(frame.dtypes) == {"id": "bigint", "name": "string", REJECTED: "string"}
    assert [row.id for row in frame.collect()] == [1, 2]
    assert not spool_of(context).path.exists()
    wait_until(lambda: counted(rabbitmq_server, queue) == 2, seconds=10, what="both messages back in their queue")


def test_a_look_at_a_quorum_queue_is_refused_before_it_counts_as_a_failed_delivery(build: Build, rabbitmq_server: RabbitMQServer):
    name = f"q-{uuid4().hex[:8]}"
    with closing(rabbitmq_server.line()) as line:
        channel = line.channel()
        channel.queue_declare(name, durable=True, arguments={"x-queue-type": "quorum", "x-delivery-limit": 1})
        publish(rabbitmq_server, name, [b'{"id": 1}'])
        built = source(build, rabbitmq_server, name)
        for _ in range(3):
            with pytest.raises(NodeError, match=f"{name} is a quorum queue.*give sample rows by hand") as told:
                built.node.newest(replace(built.context, generation="", job_uid=""))
        assert (told.value.field, told.value.kind) == ("queue", "user")
        _, properties, body = channel.basic_get(name)
        assert (body, properties.headers["x-delivery-count"]) == (b'{"id": 1}', 0)
        channel.queue_delete(name)


def test_what_is_held_too_long_is_kept_beyond_the_buffer_and_no_more_comes_meanwhile(
    build: Build, rabbitmq_server: RabbitMQServer, queue: str, monkeypatch: pytest.MonkeyPatch
):
    """A broker takes messages back that it waits for too long, and a quorum queue throws them away after some times."""
    monkeypatch.setattr("jobs.nodes.sources.rabbitmq._HELD_SECONDS", 1.0)
    publish(rabbitmq_server, queue, [b"%d" % number for number in range(30)])
    built = source(build, rabbitmq_server, queue, format="text", columns=[], buffer_size=10, prefetch=5)
    with receiving(built) as spool:
        wait_until(lambda: spool.newest() == 15, seconds=20, what="what was sent ahead beyond a full buffer")
        wait_until(lambda: counted(rabbitmq_server, queue) == 15, seconds=10, what="the rest at the broker")
        spool.plan(0, 10)
        wait_until(lambda: spool.newest() == 25, seconds=20, what="ten more, five of them beyond")
        assert counted(rabbitmq_server, queue) == 5
        spool.plan(10, 25)
        wait_until(lambda: spool.newest() == 30, seconds=20, what="all")
    assert [message.value for message in spool.read(0, 30)] == [b"%d" % number for number in range(30)]
    assert counted(rabbitmq_server, queue) == 0


def test_a_message_that_comes_again_is_dropped_where_ids_tell_it(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str
):
    for _ in range(2):
        publish(rabbitmq_server, queue, [b'{"id": 1}', b'{"id": 2}'])
    built = source(build, rabbitmq_server, queue, drop_repeats=True)
    received(built)
    assert spool_of(built.context).count() == 2


def test_a_full_buffer_holds_messages_back_at_the_broker_and_goes_on_when_there_is_room(
    build: Build, rabbitmq_server: RabbitMQServer, queue: str
):
    publish(rabbitmq_server, queue, [b"%d" % number for number in range(30)])
    built = source(build, rabbitmq_server, queue, format="text", columns=[], buffer_size=10, prefetch=5)
    with receiving(built) as spool:
        wait_until(
            lambda: spool.newest() == 10 and built.node.buffered(built.context).status == "HOLDING", seconds=20, what="a full buffer"
        )
        spool.plan(0, 10)
        wait_until(lambda: spool.newest() == 20, seconds=20, what="ten more")
        spool.plan(10, 20)
        wait_until(lambda: spool.newest() == 30, seconds=20, what="all")
    assert [message.value for message in spool.read(0, 30)] == [b"%d" % number for number in range(30)]
    assert counted(rabbitmq_server, queue) == 0


def test_what_is_refused_is_said_in_a_sentence(build: Build, rabbitmq_server: RabbitMQServer, queue: str):
    with pytest.raises(NodeError, match=r"no queue 'nowhere'.*create it, or correct the name") as refused:
        received(source(build, rabbitmq_server, "nowhere"))
    assert (refused.value.permanent, refused.value.kind, refused.value.field) == (True, "user", "queue")
    with pytest.raises(NodeError, match='reading rabbitmq "main": the sign-in was refused') as refused:
        received(source(build, rabbitmq_server, queue, password="wrong"))
    assert refused.value.permanent
    away = source(build, rabbitmq_server, queue)
    settings = ConnectionSettings("main", "rabbitmq", {"host": "127.0.0.1", "port": 1, "user": USER}, {"password": PASSWORD})
    context = replace(away.context, connections={"main": settings})
    with pytest.raises(NodeError, match="the broker does not answer") as refused:
        away.node.receive(context, Event())
    assert (refused.value.permanent, away.node.waits_for(context), away.node.waits_for(away.context)) == (False, "rabbitmq main", "")


def test_a_queue_whose_node_is_not_up_yet_is_waited_for_and_one_that_is_not_there_is_not():
    def told(words: str) -> NodeError:
        return rabbitmq_error(pika.exceptions.ChannelClosedByBroker(404, f"NOT_FOUND - {words}"), "reading")

    home = told("home node 'rabbit@shop' of durable queue 'orders' in vhost '/' is down or inaccessible")
    assert (type(home), home.permanent) == (RabbitMQAway, False)
    assert told("queue 'orders' in vhost '/' process is stopped by supervisor").permanent is False
    assert told("no queue 'orders' in vhost '/'").permanent


def test_the_connection_test_says_which_step_failed(rabbitmq_server: RabbitMQServer):
    def steps(password: str = PASSWORD, **config: Any) -> list[tuple[str, bool]]:
        (settings,) = connections(rabbitmq_server, password, **config).values()
        found = RabbitMQConnection().check(settings, Limits())
        assert PASSWORD not in "".join(step.message for step in found)
        return [(step.name, step.ok) for step in found]

    good = [("name", True), ("port", True), ("TLS", True)]
    assert steps() == [*good, ("sign-in", True)]
    assert steps(host="nowhere.invalid") == [("name", False)]
    assert steps(port=1) == [("name", True), ("port", False)]
    assert steps("wrong") == steps(virtual_host="none") == [*good, ("sign-in", False)]
    assert steps(tls=True)[-1] == ("TLS", False)


def test_a_port_of_the_other_kind_is_told(rabbitmq_server: RabbitMQServer):
    def told(**config: Any) -> str:
        return RabbitMQConnection().check(connections(rabbitmq_server, **config)["main"], Limits())[-1].message

    assert told(port=rabbitmq_server.tls_port).endswith("the port speaks TLS; switch TLS on in the connection, or take another port")
    assert "speak TLS" in told(tls=True)


def test_a_port_where_something_else_hangs_up_is_told():
    with closing(socket.create_server(("127.0.0.1", 0))) as other:

        def hang_up() -> None:
            for _ in range(3):  # the steps before the sign-in take the connection, too
                with other.accept()[0] as line:
                    line.recv(100)

        Thread(target=hang_up, daemon=True).start()
        config = {"host": "127.0.0.1", "port": other.getsockname()[1], "user": "me"}
        steps = RabbitMQConnection().check(ConnectionSettings("main", "rabbitmq", config), Limits())
    assert not steps[-1].ok
    assert "(the line broke off before a broker said anything; it may be starting, or something else uses this port)" in steps[-1].message


def test_a_port_where_nothing_speaks_as_a_broker_does_is_told_after_the_steps_that_held(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("jobs.nodes.connections.rabbitmq_client.SECONDS", 1)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        config = {"host": "127.0.0.1", "port": silent.getsockname()[1], "user": "me"}
        steps = RabbitMQConnection().check(ConnectionSettings("main", "rabbitmq", config), Limits())
    assert [(step.name, step.ok) for step in steps] == [("name", True), ("port", True), ("TLS", True), ("sign-in", False)]
    assert "the broker does not answer (what takes the connection does not speak as a broker does)" in steps[-1].message


def read_back(server: RabbitMQServer, queue: str) -> set[str]:
    """What is in the queue, which may hold some of it twice."""
    with closing(server.line()) as line:
        coming = line.channel().consume(queue, auto_ack=True, inactivity_timeout=1)
        return {body.decode() for _, _, body in takewhile(lambda message: message[2] is not None, coming)}


def sink(build: Build, server: RabbitMQServer, named: dict[str, ConnectionSettings] | None = None, /, **config: Any) -> Built:
    return build("sink.rabbitmq", {"connection": "main", **config}, connections=named or connections(server))


def test_over_tls_the_brokers_certificate_is_checked(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str):
    def over_tls(authority: str) -> dict[str, ConnectionSettings]:
        return connections(rabbitmq_server, port=rabbitmq_server.tls_port, tls=True, certificate_authority=authority)

    trusted = over_tls(rabbitmq_server.certificate)
    built = sink(build, rabbitmq_server, trusted, routing_key=queue)
    assert built.node.write(spark.sql(ROWS.format(count=20)), Batch(0, "q"), built.context).rows == 20
    reader = source(build, rabbitmq_server, queue)
    reader = Built(reader.node, replace(reader.context, connections=trusted))
    received(reader)
    assert spool_of(reader.context).newest() == 20
    for named in (over_tls(""), over_tls(self_signed()[0])):
        refused = RabbitMQConnection().check(named["main"], Limits())[-1]
        assert (refused.ok, ": the certificate is not trusted (" in refused.message) == (False, True), refused.message
    assert (
        RabbitMQConnection()
        .check(over_tls("hum")["main"], Limits())[-1]
        .message.endswith(": the certificate authority is no PEM certificate; correct it in the connection")
    )


def test_rows_become_messages_with_ids(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str):
    built = sink(build, rabbitmq_server, routing_key=queue, id_columns=["id"])
    frame = spark.sql(ROWS.format(count=3000))
    built.node.begin(spark, frame.schema, built.context)
    written = built.node.write(frame, Batch(0, "q"), built.context)
    assert (written.rows, written.rejected, counted(rabbitmq_server, queue)) == (3000, 0, 3000)
    with closing(rabbitmq_server.line()) as line:
        _, properties, body = line.channel().basic_get(queue, auto_ack=True)
    row = json.loads(body)
    assert row["name"] == f"n{row['id']}"
    assert properties.message_id == f"{built.context.job_uid}/node/{row['id']}"
    assert (properties.delivery_mode, properties.content_type) == (2, "application/json")


def test_a_row_that_reaches_no_queue_is_rejected_and_the_others_are_written(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str
):
    built = sink(build, rabbitmq_server, routing_key_column="to", format="text", value_column="text")
    frame = spark.sql(f"SELECT IF(id % 10 = 3, 'nowhere', '{queue}') AS to, 'é' || id AS text FROM range(100)")
    written = built.node.write(frame, Batch(0, "q"), built.context)
    assert (written.rows, written.rejected, counted(rabbitmq_server, queue)) == (90, 10, 90)
    reason, text = written.rejected_rows[0]
    assert reason == "it reaches no queue: routing key 'nowhere', NO_ROUTE"
    assert text.startswith("é")


def test_a_message_that_is_too_large_for_the_broker_is_rejected_and_the_others_are_written(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str
):
    built = sink(build, rabbitmq_server, routing_key=queue, format="text", value_column="text")
    frame = spark.sql(f"SELECT IF(id % 10 = 3, repeat('x', {LARGEST} + id), 'n' || id) AS text FROM range(30)")
    written = built.node.write(frame, Batch(0, "q"), built.context)
    assert (written.rows, written.rejected) == (27, 3)
    assert {reason for reason, _ in written.rejected_rows} == {
        f"the message has {LARGEST + number:,} bytes; the broker takes {LARGEST:,} at most" for number in (3, 13, 23)
    }
    assert read_back(rabbitmq_server, queue) == {f"n{number}" for number in range(30) if number % 10 != 3}


def test_refused_rows_go_on_whole_whatever_became_the_message(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str, tmp_path: Path
):
    built = sink(build, rabbitmq_server, routing_key_column="to", format="text", value_column="text")
    route = f"IF(id % 10 = 3, 'nowhere', IF(id = 7, repeat('k', 300), '{queue}'))"
    frame = spark.sql(f"SELECT id, {route} AS to, 'same' AS text FROM range(100)")
    rejections = rejections_in(tmp_path)
    written = built.node.write(frame, Batch(0, "q", rejections=rejections), built.context)
    assert (written.rows, written.rejected, counted(rabbitmq_server, queue)) == (89, 11, 89)
    assert sorted(row[0] for row in rows_led_on(rejections, frame)) == [3, 7, *range(13, 100, 10)]


def test_a_target_that_is_not_there_is_told_before_anything_runs(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer):
    schema = spark.sql(ROWS.format(count=1)).schema
    for config, told in (({"exchange": "none"}, "no exchange 'none'"), ({"routing_key": "none"}, "no queue 'none'")):
        built = sink(build, rabbitmq_server, **config)
        with pytest.raises(NodeError, match=f'writing to rabbitmq "main": {told}.*create it, or correct the name') as refused:
            built.node.check(spark, schema, built.context)
        assert [refused.value.field] == list(config)


def test_a_queue_that_is_missing_for_a_moment_rejects_no_row(
    spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer, queue: str
):
    built = sink(build, rabbitmq_server, routing_key=queue)
    done: list[Any] = []
    frame = spark.range(0, 20_000, 1, 2)
    thread = Thread(target=lambda: done.append(built.node.write(frame, Batch(0, "q"), built.context)))
    thread.start()
    wait_until(lambda: counted(rabbitmq_server, queue) > 1000, seconds=60, what="some messages")
    with closing(rabbitmq_server.line()) as line:
        channel = line.channel()
        channel.queue_delete(queue)
        channel.queue_declare(queue, durable=True)
    thread.join(100)
    (written,) = done
    assert (written.rows, written.rejected) == (20_000, 0)


def test_a_task_that_begins_while_the_queue_is_made_anew_waits_for_it(
    build: Build, rabbitmq_server: RabbitMQServer, queue: str, monkeypatch: pytest.MonkeyPatch
):
    """As the second task of a batch does, which has sent nothing yet."""
    context = sink(build, rabbitmq_server, routing_key=queue).context
    sender = RabbitMQSender(context.config, context.connection("main"), "node", "writing", False)
    with closing(rabbitmq_server.line()) as line:
        channel = line.channel()
        channel.queue_delete(queue)
        declare = partial(channel.queue_declare, queue, durable=True)
        monkeypatch.setattr(publishing, "time", SimpleNamespace(monotonic=time.monotonic, sleep=lambda seconds: declare()))
        rows = [{"value": b"%d" % row, "id": None, "route": None, "kept": None} for row in range(50)]
        list(sender.run([pa.RecordBatch.from_pylist(rows)]))
    assert counted(rabbitmq_server, queue) == 50


def test_a_queue_that_is_gone_fails_the_batch(spark: SparkSession, build: Build, rabbitmq_server: RabbitMQServer):
    built = sink(build, rabbitmq_server, routing_key="gone")
    with pytest.raises(NodeError, match=r"routing key 'gone' reaches no queue .*; create the queue or its binding") as refused:
        built.node.write(spark.range(100), Batch(0, "q"), built.context)
    assert (refused.value.permanent, refused.value.field) == (True, "routing_key")


def test_a_broker_that_breaks_off_the_sign_in_is_no_refusal(rabbitmq_server: RabbitMQServer):
    """As one does that ends while it is asked."""

    def greet_and_go() -> None:
        line, _ = listener.accept()
        with line, socket.create_connection(("127.0.0.1", rabbitmq_server.port)) as broker:
            broker.sendall(line.recv(8))
            line.sendall(broker.recv(4096))
            line.recv(4096)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=greet_and_go)
        thread.start()
        settings = ConnectionSettings("main", "rabbitmq", {"host": "127.0.0.1", "port": listener.getsockname()[1]}, {"password": "x"})
        with pytest.raises(NodeError, match="broke off the sign-in") as lost, rabbitmq_channel(settings, "asking"):
            pass
        thread.join(20)
    assert not lost.value.permanent


def test_nothing_is_sent_again_where_rows_are_long_in_coming(
    build: Build, rabbitmq_server: RabbitMQServer, queue: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(publishing, "_SILENT_SECONDS", 1.0)
    context = sink(build, rabbitmq_server, routing_key=queue).context

    def slow_rows() -> Iterator[pa.RecordBatch]:
        for number in range(2):
            rows = [{"value": b"%d%d" % (number, row), "id": None, "route": None, "kept": None} for row in range(50)]
            yield pa.RecordBatch.from_pylist(rows)
            time.sleep(2.5)

    list(RabbitMQSender(context.config, context.connection("main"), "node", "writing", False).run(slow_rows()))
    assert counted(rabbitmq_server, queue) == 100


def test_a_broker_that_goes_away_while_rows_are_sent_is_waited_for(spark: SparkSession, build: Build):
    with RabbitMQServer() as server:
        server.queue_create("numbers")
        built = sink(build, server, routing_key="numbers", id_columns=["id"])
        frame = spark.range(0, 20_000, 1, 2)
        done: list[Any] = []
        thread = Thread(target=lambda: done.append(built.node.write(frame, Batch(0, "q"), built.context)))
        thread.start()
        wait_until(lambda: counted(server, "numbers") > 1000, seconds=60, what="some messages")
        server.kill()
        server.start()
        thread.join(120)
        (written,) = done
        assert written.rows == 20_000
        with closing(server.line()) as line:
            coming = line.channel().consume("numbers", auto_ack=True, inactivity_timeout=3)
            found = [json.loads(body)["id"] for _, _, body in takewhile(lambda message: message[2] is not None, coming)]
    assert set(found) == set(range(20_000))
