"""`source.mqtt` and `sink.mqtt` against a real broker: what is received, acknowledged, kept by the session, and what goes wrong."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import pytest
from paho.mqtt.client import Client, MQTTv5
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from pydantic import ValidationError
from pyspark.sql import Row, SparkSession

from jobs.nodes.base import REJECTED, Batch, ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.mqtt import MqttConnection
from jobs.nodes.connections.mqtt_client import mqtt_connect
from jobs.nodes.mqtt_session import MqttSession
from jobs.nodes.sinks.mqtt_plain import MqttPublishing
from jobs.nodes.spool_source import spool_of
from tests.nodes.conftest import Build, Built
from tests.nodes.rejections import rejections_in, rows_led_on
from tests.servers.certificate import self_signed
from tests.servers.mosquitto import PASSWORD, USER, MosquittoServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]


@pytest.fixture
def topic() -> str:
    return f"plant/{uuid4().hex[:8]}"


def connections(port: int, password: str = "", **config: Any) -> dict[str, ConnectionSettings]:
    signing = {"sign_in": "password", "user": USER} if password else {"sign_in": "none"}
    settings = {"host": "127.0.0.1", "port": port, **signing, **config}
    return {"plant": ConnectionSettings("plant", "mqtt", settings, {"password": password} if password else {})}


@contextmanager
def client(server: MosquittoServer) -> Iterator[Client]:
    one = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    one.connect("127.0.0.1", server.port)
    one.loop_start()
    try:
        yield one
    finally:
        one.disconnect()
        one.loop_stop()


def publish(server: MosquittoServer, topic: str, bodies: list[bytes], *, qos: int = 1, retain: bool = False, **user: str) -> None:
    properties = Properties(PacketTypes.PUBLISH)
    if user:
        properties.UserProperty = list(user.items())
    with client(server) as one:
        for info in [one.publish(topic, body, qos, retain, properties) for body in bodies]:
            info.wait_for_publish(20)


def source(
    build: Build, server: MosquittoServer, topics: str, *, named: dict[str, ConnectionSettings] | None = None, **config: Any
) -> Built:
    built = build(
        "source.mqtt",
        {"connection": "plant", "topics": topics, "columns": COLUMNS, **config},
        connections=named or connections(server.port),
    )
    return Built(built.node, replace(built.context, bounded=False, job_uid=str(uuid4())))


@contextmanager
def receiving(built: Built) -> Iterator[None]:
    """With the subscription there."""
    stopping = Event()
    thread = Thread(target=built.node.receive, args=(built.context, stopping))
    thread.start()
    wait_until(spool_of(built.context).path.with_suffix(".topics").exists, seconds=20, what="the subscription")
    try:
        yield
    finally:
        stopping.set()
        thread.join(20)


def received(built: Built, count: int) -> list[bytes]:
    spool = spool_of(built.context)
    wait_until(lambda: spool.newest() >= count, seconds=30, what=f"{count} messages")
    return [message.value or b"" for message in spool.read(0, spool.newest())]


@pytest.mark.parametrize("qos", [0, 1, 2])
def test_messages_are_received_in_every_quality_of_service(build: Build, mosquitto_server: MosquittoServer, topic: str, qos: int):
    built = source(build, mosquitto_server, f"{topic}/+/t", qos=qos)
    bodies = [b"%d" % number for number in range(3000)]
    with receiving(built):
        publish(mosquitto_server, f"{topic}/a/t", bodies, qos=2)
        assert received(built, 3000) == bodies


def test_messages_become_columns_with_their_topic_and_properties(
    spark: SparkSession, build: Build, mosquitto_server: MosquittoServer, topic: str
):
    built = source(build, mosquitto_server, f"{topic}/#", metadata=True)
    with receiving(built):
        publish(mosquitto_server, f"{topic}/é", ['{"id": 1, "name": "Zoë"}'.encode(), b"no json", b""], shop="ü")
        received(built, 3)
    rows = built.node.read(spark, replace(built.context, mode="batch")).collect()
    (good,) = [row for row in rows if row[REJECTED] is None]
    assert (good.id, good.name, good.mqtt_topic, good.mqtt_headers) == (1, "Zoë", f"{topic}/é", {"shop": "ü", "qos": "1"})


@pytest.mark.parametrize("qos", [1, 2])
def test_what_was_not_kept_comes_again(mosquitto_server: MosquittoServer, topic: str, qos: int):
    """A reader that dies between a message's arrival and its being kept: the library alone would have confirmed quality 2 by then."""

    def session() -> MqttSession:
        return MqttSession(connections(mosquitto_server.port)["plant"], client_id=f"reader-{topic}", hours=1, receive_maximum=100)

    def arrived(one: MqttSession, count: int) -> list[bytes]:
        def there() -> bool:
            one.work(0.1)
            return len(one.arrived) >= count

        wait_until(there, seconds=20, what=f"{count} messages")
        return [bytes(message.payload) for message in one.arrived]

    bodies = [b"%d" % number for number in range(10)]
    with session() as one:
        one.subscribe([topic], qos, memory=None)
        publish(mosquitto_server, topic, bodies, qos=2)
        first = arrived(one, 10)
        assert sorted(first) == bodies
        one.acknowledge(4)
        one.work(0.1)
    with session() as two:
        assert sorted(arrived(two, 6)) == sorted(first[4:])
        two.acknowledge(6)
        publish(mosquitto_server, topic, [b"last"], qos=2)
        assert arrived(two, 1) == [b"last"]


def test_the_broker_keeps_what_comes_while_nobody_reads_and_old_topics_are_left(
    build: Build, mosquitto_server: MosquittoServer, topic: str
):
    built = source(build, mosquitto_server, f"{topic}/a, {topic}/b")
    with receiving(built):
        publish(mosquitto_server, f"{topic}/a", [b"1"])
        received(built, 1)
    publish(mosquitto_server, f"{topic}/b", [b"2"])
    with receiving(built):
        assert received(built, 2) == [b"1", b"2"]
    changed = source(build, mosquitto_server, f"{topic}/a")
    changed = Built(changed.node, replace(changed.context, job_uid=built.context.job_uid))
    memory = spool_of(changed.context).path.with_suffix(".topics")
    with receiving(changed):
        wait_until(lambda: json.loads(memory.read_text()) == [f"{topic}/a"], seconds=20, what="the new subscription")
        publish(mosquitto_server, f"{topic}/b", [b"3"])
        publish(mosquitto_server, f"{topic}/a", [b"4"])
        assert received(changed, 3) == [b"1", b"2", b"4"]


def test_a_session_that_the_broker_lost_is_told(build: Build, mosquitto_server: MosquittoServer, topic: str):
    heard: list[str] = []
    built = source(build, mosquitto_server, topic)
    built = Built(built.node, replace(built.context, notice=heard.append))
    for _ in range(2):
        with receiving(built):
            pass
    assert heard == []
    forgetting = Client(CallbackAPIVersion.VERSION2, client_id=f"pipeline-{built.context.job_uid}-node", protocol=MQTTv5)
    forgetting.connect("127.0.0.1", mosquitto_server.port, clean_start=True)
    wait_until(lambda: forgetting.loop(0.1) == 0 and forgetting.is_connected(), seconds=20, what="the session is made anew")
    forgetting.disconnect()
    with receiving(built):
        wait_until(lambda: heard != [], seconds=20, what="the notice")
    assert heard == ["the broker had not kept the session of this job: what was sent while it was not connected did not arrive"]


def test_readers_of_a_group_share_the_messages(build: Build, mosquitto_server: MosquittoServer, topic: str):
    readers = [source(build, mosquitto_server, topic, share_group="g") for _ in range(2)]
    with receiving(readers[0]), receiving(readers[1]):
        publish(mosquitto_server, topic, [b"%d" % number for number in range(200)])
        spools = [spool_of(one.context) for one in readers]
        wait_until(lambda: sum(spool.newest() for spool in spools) == 200, seconds=20, what="200 messages")
    values = [message.value for spool in spools for message in spool.read(0, spool.newest())]
    assert sorted(value or b"" for value in values) == sorted(b"%d" % number for number in range(200))
    assert all(spool.newest() for spool in spools)


def test_a_look_sees_what_is_retained_and_leaves_no_session(
    spark: SparkSession, build: Build, mosquitto_server: MosquittoServer, topic: str
):
    publish(mosquitto_server, topic, [b'{"id": 7, "name": "a"}'], retain=True)
    built = source(build, mosquitto_server, topic, columns=[])
    context = replace(built.context, mode="batch", generation="", job_uid="")
    assert [(row.id, row.name) for row in built.node.read(spark, context).collect()] == [(7, "a")]
    publish(mosquitto_server, topic, [b""], retain=True)


def test_a_full_buffer_holds_messages_back_at_the_broker(build: Build, mosquitto_server: MosquittoServer, topic: str):
    built = source(build, mosquitto_server, topic, buffer_size=10, receive_maximum=5)
    spool = spool_of(built.context)
    with receiving(built):
        publish(mosquitto_server, topic, [b"%d" % number for number in range(30)])
        wait_until(lambda: built.node.buffered(built.context).status == "HOLDING", seconds=20, what="a full buffer")
        spool.plan(0, 10)
        wait_until(lambda: spool.newest() == 20, seconds=20, what="ten more")
        spool.plan(10, 20)
        assert received(built, 30) == [b"%d" % number for number in range(30)]


def test_what_no_broker_holds_back_is_dropped_and_counted_where_a_full_buffer_leaves_it_no_memory(
    build: Build, mosquitto_server: MosquittoServer, topic: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("jobs.nodes.mqtt_session._MOST_UNKEPT_BYTES", 100_000)
    built = source(build, mosquitto_server, topic, buffer_size=10, qos=0)
    spool = spool_of(built.context)

    def kept_and_dropped() -> tuple[int, int]:
        return spool.newest(), built.node.buffered(built.context).dropped

    with receiving(built):
        publish(mosquitto_server, topic, [b"x" * 1000] * 1000, qos=1)
        wait_until(lambda: kept_and_dropped()[1] > 900, seconds=20, what="dropped messages")
        assert kept_and_dropped()[0] == 10

        def is_all_told() -> bool:
            spool.plan(spool.newest(), spool.newest())
            return sum(kept_and_dropped()) == 1000

        wait_until(is_all_told, seconds=60, what="every message")
        assert 10 < kept_and_dropped()[0] < 100


def test_what_is_refused_is_said_in_a_sentence(build: Build, mosquitto_server: MosquittoServer):
    wrong = source(build, mosquitto_server, "open/a", named=connections(mosquitto_server.closed_port, "wrong"))
    with pytest.raises(NodeError, match=r'reading mqtt "plant": .*does not let this user in') as refused:
        wrong.node.receive(wrong.context, Event())
    assert (refused.value.permanent, refused.value.kind) == (True, "user")
    away = source(build, mosquitto_server, "open/a", named=connections(1))
    with pytest.raises(NodeError, match="the broker does not answer") as refused:
        away.node.receive(away.context, Event())
    assert (refused.value.permanent, away.node.waits_for(away.context)) == (False, "mqtt plant")
    for topics, told in (
        ("a/#/b", "# stands alone in the last level"),
        ("a/b+", "[+] stands alone in its level"),
        (" , ", "at least one topic"),
    ):
        with pytest.raises(ValidationError, match=told):
            source(build, mosquitto_server, topics)


def test_the_connection_test_says_which_step_failed(mosquitto_server: MosquittoServer):
    def steps(port: int, password: str = "", **config: Any) -> list[tuple[str, bool]]:
        (settings,) = connections(port, password, **config).values()
        return [(step.name, step.ok) for step in MqttConnection().check(settings, Limits())]

    good = [("name", True), ("port", True), ("TLS", True), ("sign-in", True)]
    assert steps(mosquitto_server.port) == steps(mosquitto_server.closed_port, PASSWORD) == good
    assert steps(mosquitto_server.closed_port) == steps(mosquitto_server.closed_port, "wrong") == [*good[:3], ("sign-in", False)]
    assert steps(mosquitto_server.port, host="nowhere.invalid") == [("name", False)]
    assert steps(1) == [("name", True), ("port", False)]
    assert steps(mosquitto_server.port, tls=True)[-1] == ("TLS", False)


def test_a_sign_in_without_a_user_is_refused_in_its_own_words(mosquitto_server: MosquittoServer):
    (plant,) = connections(mosquitto_server.closed_port, PASSWORD, user="").values()
    words = "signing in: no user is named, and the broker lets nobody in without one; name user and password in the connection"
    for config in (plant.config, {**plant.config, "sign_in": "none", "user": USER}):
        assert MqttConnection().check(replace(plant, config=config), Limits())[-1].message == words


def test_a_port_of_the_other_kind_is_told(mosquitto_server: MosquittoServer):
    def told(port: int, **config: Any) -> str:
        return MqttConnection().check(connections(port, **config)["plant"], Limits())[-1].message

    assert told(mosquitto_server.tls_port).endswith("the port speaks TLS; switch TLS on in the connection, or take another port")
    assert told(mosquitto_server.port, tls=True).endswith("take the port for TLS, or go without TLS")


def sink(build: Build, port: int, password: str = "", *, named: dict[str, ConnectionSettings] | None = None, **config: Any) -> Built:
    return build("sink.mqtt", {"connection": "plant", **config}, connections=named or connections(port, password))


def test_over_tls_the_brokers_certificate_is_checked(spark: SparkSession, build: Build, mosquitto_server: MosquittoServer, topic: str):
    def over_tls(authority: str) -> dict[str, ConnectionSettings]:
        return connections(mosquitto_server.tls_port, tls=True, certificate_authority=authority)

    trusted = over_tls(mosquitto_server.certificate)
    reader = source(build, mosquitto_server, topic, named=trusted)
    with receiving(reader):
        built = sink(build, 0, named=trusted, topic=topic)
        assert built.node.write(spark.sql("SELECT id FROM range(20)"), Batch(0, "q"), built.context).rows == 20
        assert len(received(reader, 20)) == 20
    again = Client(CallbackAPIVersion.VERSION2, protocol=MQTTv5)
    for _ in range(2):  # as a sink does whose broker was away
        mqtt_connect(again, trusted["plant"], "signing in")
        again.disconnect()
    for named in (over_tls(""), over_tls(self_signed()[0])):
        refused = MqttConnection().check(named["plant"], Limits())[-1]
        assert (refused.ok, ": the certificate is not trusted (" in refused.message) == (False, True), refused.message
    assert (
        MqttConnection()
        .check(over_tls("hum")["plant"], Limits())[-1]
        .message.endswith(": the certificate authority is no PEM certificate; correct it in the connection")
    )


@contextmanager
def heard(server: MosquittoServer, filter: str) -> Iterator[list[Any]]:
    """Messages of `filter` as they come."""
    found: list[Any] = []
    with client(server) as one:
        ready = Event()
        one.on_subscribe = lambda *_: ready.set()
        one.on_message = lambda _, __, message: found.append(message)
        one.subscribe(filter, 2)
        assert ready.wait(10)
        yield found


def test_rows_become_messages_with_ids(spark: SparkSession, build: Build, mosquitto_server: MosquittoServer, topic: str):
    built = sink(build, mosquitto_server.port, topic=topic, id_columns=["id"])
    frame = spark.sql("SELECT id, 'é' AS name FROM range(2000)")
    with heard(mosquitto_server, topic) as found:
        built.node.begin(spark, frame.schema, built.context)
        written = built.node.write(frame, Batch(0, "q"), built.context)
        assert (written.rows, written.rejected) == (2000, 0)
        wait_until(lambda: len(found) == 2000, seconds=20, what="2,000 messages")
    assert {json.loads(message.payload)["id"] for message in found} == set(range(2000))
    first = found[0]
    row = json.loads(first.payload)
    assert (row["name"], first.properties.UserProperty) == ("é", [("message-id", f"{built.context.job_uid}/node/{row['id']}")])


def test_a_topic_may_come_from_a_column_and_a_bad_one_is_a_rejected_row(
    spark: SparkSession, build: Build, mosquitto_server: MosquittoServer, topic: str, tmp_path: Path
):
    built = sink(build, mosquitto_server.port, topic_column="to", format="text", value_column="text", qos=2, retain=True)
    frame = spark.sql(f"SELECT IF(id = 3, 'a/#', concat('{topic}/', id)) AS to, 'n' || id AS text FROM range(6)")
    written = built.node.write(frame, Batch(0, "q"), built.context)
    assert (written.rows, written.rejected, written.rejected_rows[0][1]) == (5, 1, "n3")
    with heard(mosquitto_server, f"{topic}/+") as found:
        wait_until(lambda: len(found) == 5, seconds=20, what="the retained messages")
    assert {message.payload for message in found} == {b"n0", b"n1", b"n2", b"n4", b"n5"}
    rejections = rejections_in(tmp_path)
    built.node.write(frame, Batch(1, "q", rejections=rejections), built.context)
    assert rows_led_on(rejections, frame) == [("a/#", "n3")]


def test_a_topic_without_the_right_to_write_fails_the_batch_and_one_from_a_column_rejects_its_row(
    spark: SparkSession, build: Build, mosquitto_server: MosquittoServer
):
    fixed = sink(build, mosquitto_server.closed_port, PASSWORD, topic="closed/a")
    told = r'writing to mqtt "plant": topic closed/a is refused \(Not authorized\); correct it, or have the right to write to it granted'
    with pytest.raises(NodeError, match=told) as refused:
        fixed.node.write(spark.range(3), Batch(0, "q"), fixed.context)
    assert (refused.value.permanent, refused.value.kind, refused.value.field) == (True, "user", "topic")
    line: dict[str, Any] = {"host": "127.0.0.1", "port": mosquitto_server.closed_port, "user": USER, "password": PASSWORD}
    in_a_script = MqttPublishing(**line, topic="closed/a", qos=1, retain=False, is_text=True)
    with pytest.raises(RuntimeError, match="the broker refuses a message: Not authorized"):
        in_a_script.publish([Row(value=b"1", id="", route=None)])
    own = sink(build, mosquitto_server.closed_port, PASSWORD, topic_column="to")
    frame = spark.sql("SELECT id, IF(id = 1, 'closed/a', 'open/a') AS to FROM range(3)")
    written = own.node.write(frame, Batch(0, "q"), own.context)
    assert (written.rows, [reason for reason, _ in written.rejected_rows]) == (2, ["the broker refuses it: Not authorized"])


@pytest.mark.parametrize("qos", [1, 2])
def test_a_message_at_which_the_broker_ends_the_line_is_a_rejected_row_and_the_others_arrive(
    spark: SparkSession, build: Build, mosquitto_server: MosquittoServer, topic: str, qos: int
):
    built = sink(build, mosquitto_server.port, topic_column="to", format="text", value_column="text", qos=qos, id_columns=["id"])
    bad = {3: "concat('{0}/', chr(0))", 700: "'{0}/a\\n'", 1501: "''", 1999: "repeat('{0}/', 300)", 1200: "repeat('{0}', 10000)"}
    cases = " ".join(f"WHEN {number} THEN {text.format(topic)}" for number, text in bad.items())
    frame = spark.sql(f"SELECT id, CASE id {cases} ELSE '{topic}/t' END AS to, 'n' || id AS text FROM range(0, 2000, 1, 1)")
    with heard(mosquitto_server, f"{topic}/t") as found:
        written = built.node.write(frame, Batch(0, "q"), built.context)
        assert (written.rows, written.rejected) == (1995, 5)
        wait_until(lambda: len({message.payload for message in found}) == 1995, seconds=20, what="the others")
    reasons = {int(text[1:]): reason for reason, text in written.rejected_rows}
    assert {*reasons} == {*bad}
    assert (reasons[700], reasons[1501]) == ("the broker ends the line at it: Malformed packet", "it has no topic")
    assert reasons[1999] == "the broker ends the line at it: Protocol error"
    assert max(map(len, reasons.values())) < 200


def test_a_broker_that_goes_away_while_rows_are_sent_is_waited_for(spark: SparkSession, build: Build):
    with MosquittoServer() as server:
        memory = ConnectionSettings("plant", "mqtt", {"host": "127.0.0.1", "port": server.port, "sign_in": "none"})
        with MqttSession(memory, client_id="reader", hours=1, receive_maximum=1000) as reader:
            reader.subscribe(["numbers"], 1, memory=None)
        built = sink(build, server.port, topic="numbers")
        done: list[Any] = []
        thread = Thread(target=lambda: done.append(built.node.write(spark.range(0, 20_000, 1, 2), Batch(0, "q"), built.context)))
        with heard(server, "numbers") as passing:
            thread.start()
            wait_until(lambda: len(passing) > 500, seconds=60, what="some messages")
        server.stop()
        server.start()
        thread.join(100)
        assert done[0].rows == 20_000
        found: set[int] = set()
        with MqttSession(memory, client_id="reader", hours=1, receive_maximum=1000) as reader:

            def all_there() -> bool:
                for _ in range(1000):
                    reader.work(0.01)
                    found.update(json.loads(message.payload)["id"] for message in reader.arrived)
                    reader.acknowledge(len(reader.arrived))
                return len(found) == 20_000

            wait_until(all_there, seconds=60, what="all messages")


def test_rows_that_no_line_has_taken_yet_are_sent_when_the_broker_is_back_in_quality_0_too(spark: SparkSession, build: Build):
    """What a line had taken may be lost on the way, and no more."""
    with MosquittoServer() as server:
        built = sink(build, server.port, topic="numbers", qos=0, retain=True)
        done: list[Any] = []
        thread = Thread(target=lambda: done.append(built.node.write(spark.range(0, 80_000, 1, 1), Batch(0, "q"), built.context)))
        with heard(server, "numbers") as passing:
            thread.start()
            wait_until(lambda: len(passing) > 500, seconds=60, what="some messages")
        server.stop()
        assert len(passing) < 60_000
        server.start()
        thread.join(100)
        assert done[0].rows == 80_000
        with heard(server, "numbers") as kept:
            wait_until(lambda: bool(kept), seconds=20, what="the row that came last, which the broker keeps")
        assert json.loads(kept[0].payload) == {"id": 79_999}
