"""`source.rocketmq` and `sink.rocketmq` against a real broker that asks for signing in, compared with RocketMQ's own client."""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.nodes import known_messages
from jobs.nodes.base import REJECTED, Batch, ConnectionSettings, Limits, NodeError, Written
from jobs.nodes.connections.rocketmq import RocketmqConnection
from jobs.nodes.readers.replayed import reader_options
from jobs.nodes.readers.rocketmq_queues import QueuesStreamReader
from jobs.nodes.rejected_rows import RejectedRows
from jobs.nodes.rocketmq.client import RocketMq
from jobs.nodes.rocketmq.positions import newest, offsets_json
from jobs.nodes.rocketmq.route import Queue
from jobs.nodes.rocketmq.sending import Outgoing, send_submit
from jobs.nodes.worker_errors import node_error_in
from tests.nodes.conftest import Build
from tests.nodes.rejections import rejections_in, rows_led_on
from tests.nodes.streams import Drained
from tests.servers.certificate import self_signed
from tests.servers.mosquitto import MosquittoServer
from tests.servers.rocketmq import RocketmqServer
from tests.servers.waiting import wait_until

#: The first test also starts the server.
pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.timeout(300)]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "amount", "type": "decimal(10, 2)"}]


@pytest.fixture
def topic(rocketmq_server: RocketmqServer) -> str:
    name = f"orders-{uuid4().hex[:8]}"
    rocketmq_server.topic_create(name, queues=2)
    return name


def connections(server: RocketmqServer) -> dict[str, ConnectionSettings]:
    return {"db": server.settings}


def send(server: RocketmqServer, topic: str, values: Sequence[str | bytes], *, queue: int = 0, tag: str = "") -> None:
    """All of `values` in one request to one queue; returns when they can be read."""
    with RocketMq(server.settings) as client:
        address = client.route(topic).addresses["broker-a"]
        place = Queue("broker-a", queue)
        before = client.newest(address, topic, place)
        messages = [Outgoing(value.encode() if isinstance(value, str) else value, {"TAGS": tag} if tag else {}) for value in values]
        line = client.line(address)
        answer = line.answer(send_submit(line, topic, place, messages))
        assert answer.code == 0, answer
        wait_until(lambda: client.newest(address, topic, place) == before + len(values), seconds=10, what="messages that can be read")


def read(spark: SparkSession, build: Build, server: RocketmqServer, **config: Any) -> DataFrame:
    source = build("source.rocketmq", {"connection": "db", **config}, connections=connections(server))
    frame: DataFrame = source.node.read(spark, source.context)
    return frame


def good(rows: Sequence[Any]) -> list[Any]:
    return [row for row in rows if row[REJECTED] is None]


def test_json_messages_become_columns_and_bad_ones_are_rejected_with_their_text(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    send(rocketmq_server, topic, ['{"id": 1, "amount": 10.25}', '{"id": 2, "amount": null, "more": {"é": 1}}', '{"id": "x"', '{"id": [1]}'])
    rows = read(spark, build, rocketmq_server, topic=topic, columns=COLUMNS).collect()
    assert sorted((row.id, str(row.amount)) for row in good(rows)) == [(1, "10.25"), (2, "None")]
    reasons = [row[REJECTED] for row in rows if row[REJECTED] is not None]
    assert len(reasons) == 2
    assert any('{"id": "x"' in reason for reason in reasons)


def test_names_and_types_come_from_the_newest_messages(spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str):
    with pytest.raises(NodeError, match="there is no message yet to take the columns from"):
        read(spark, build, rocketmq_server, topic=topic)
    send(rocketmq_server, topic, ['{"id": 1, "name": "Zoë", "tags": ["a"]}'], queue=1)
    frame = read(spark, build, rocketmq_server, topic=topic)
    assert dict(frame.dtypes) == {"id": "bigint", "name": "string", "tags": "array<string>", REJECTED: "string"}
    assert frame.first()["name"] == "Zoë"  # type: ignore[index]


def test_csv_text_bytes_and_avro(spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str):
    from pyspark.sql.avro.functions import to_avro

    avro = json.dumps({"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]})
    record = bytes(spark.sql("SELECT struct(7L AS id) r").select(to_avro("r", avro)).collect()[0][0])
    send(rocketmq_server, topic, ['7;"1,5"', "x;y;z", record])
    columns = [{"name": "id", "type": "long"}, {"name": "text", "type": "string"}]
    csv = read(spark, build, rocketmq_server, topic=topic, format="csv", delimiter=";", columns=columns).collect()
    assert [(row.id, row.text) for row in good(csv)] == [(7, "1,5")]
    assert '7;"1,5"' in {row.value for row in read(spark, build, rocketmq_server, topic=topic, format="text").collect()}
    assert record in {bytes(row.value) for row in read(spark, build, rocketmq_server, topic=topic, format="binary").collect()}
    records = read(spark, build, rocketmq_server, topic=topic, format="avro", avro_schema=avro).collect()
    assert 7 in [row.id for row in good(records)]


def test_bodies_that_rocketmqs_own_client_compressed_are_unpacked_with_all_that_is_told(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    before = datetime.now(UTC)
    assert sum("SEND_OK" in line for line in rocketmq_server.peer(topic, "send", "1000000")) == 3
    rows = read(spark, build, rocketmq_server, topic=topic, format="text", metadata=True).collect()
    assert {row.value for row in rows} == {f"{kind}:" + "é" * 500_000 for kind in ("LZ4", "ZSTD", "ZLIB")}
    (row,) = [row for row in rows if row.rocketmq_tags == "tag-ZSTD"]
    assert (row.rocketmq_topic, row.rocketmq_broker, row.rocketmq_keys) == (topic, "broker-a", "key-ZSTD")
    assert row.rocketmq_queue in (0, 1)
    assert row.rocketmq_offset in (0, 1)
    assert before <= row.rocketmq_time.astimezone(UTC) <= datetime.now(UTC)
    assert row.rocketmq_properties["KEYS"] == "key-ZSTD"
    assert row[REJECTED] is None


def test_a_body_that_cannot_be_unpacked_is_rejected_in_every_format(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    with RocketMq(rocketmq_server.settings) as client:
        line = client.line(client.route(topic).addresses["broker-a"])
        told = {"a": "p", "b": topic, "c": "TBW102", "d": 4, "e": 0, "f": 1, "g": 0, "h": 0, "i": "", "j": 0, "k": False, "m": False}
        line.ask(310, told, b"not compressed at all")
    send(rocketmq_server, topic, ["fine"])
    rows = read(spark, build, rocketmq_server, topic=topic, format="text").collect()
    assert [row.value for row in good(rows)] == ["fine"]
    (reason,) = [row[REJECTED] for row in rows if row[REJECTED] is not None]
    assert "the message's body cannot be decompressed" in reason


def test_only_messages_with_the_chosen_tags(spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str):
    # "AaBB" and "BBAa" have one hash, by which the broker chooses.
    for tag, values in {"AaBB": ["1", "2"], "BBAa": ["3"], "c": ["4"], "": ["5"]}.items():
        send(rocketmq_server, topic, values, tag=tag)
    send(rocketmq_server, topic, ["x"] * 400, tag="d")
    rows = read(spark, build, rocketmq_server, topic=topic, format="text", tags="AaBB, c").collect()
    assert sorted(row.value for row in rows) == ["1", "2", "4"]


def test_a_start_at_a_time_or_at_offsets(spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str):
    send(rocketmq_server, topic, ["old-1", "old-2"])
    sent = datetime.now(UTC)
    wait_until(lambda: datetime.now(UTC) > sent + timedelta(milliseconds=2), seconds=5, what="another millisecond")
    since = (sent + timedelta(milliseconds=1)).isoformat(timespec="milliseconds")
    send(rocketmq_server, topic, ["new"], queue=1)

    def found(**config: Any) -> list[str]:
        return sorted(row.value for row in read(spark, build, rocketmq_server, topic=topic, format="text", **config).collect())

    assert found(start="time", start_time=since) == ["new"]
    assert found(start="offsets", start_offsets='{"broker-a/0": 1}') == ["new", "old-2"]
    assert found(start="offsets", start_offsets='{"broker-a/0": -1, "broker-a/1": -2}') == ["new"]
    with pytest.raises(Exception, match="node error") as caught:
        found(start="offsets", start_offsets='{"broker-a/0": 1, "broker-a/9": 1}')
    carried = node_error_in(str(caught.value))
    assert carried is not None
    assert (carried.error.field, carried.error.permanent) == ("start_offsets", True)
    told = f"the start offsets name broker-a/9, but the queues of topic {topic} are now broker-a/0, broker-a/1; correct the start offsets"
    assert carried.error.message == told


def stream(build: Build, server: RocketmqServer, topic: str, **config: Any) -> Any:
    columns = [{"name": "id", "type": "long"}]
    return build(
        "source.rocketmq",
        {"connection": "db", "topic": topic, "columns": columns, **config},
        connections=connections(server),
        mode="stream",
    )


def numbered(*ids: int) -> list[str]:
    return [json.dumps({"id": number}) for number in ids]


def test_a_stream_goes_on_where_it_was_in_batches_and_takes_queues_that_are_new(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str, tmp_path: Path
):
    send(rocketmq_server, topic, numbered(0, 1, 2))
    send(rocketmq_server, topic, numbered(3), queue=1)
    source, drained = stream(build, rocketmq_server, topic, max_records_per_trigger=2), Drained()
    drained.run(source.node.read(spark, source.context), tmp_path / "live")
    assert sorted(drained.everything) == [0, 1, 2, 3]
    assert [len(rows) for rows in drained.batches.values()] == [2, 2]
    rocketmq_server.topic_create(topic, queues=3)
    send(rocketmq_server, topic, numbered(4, 5), queue=2)
    send(rocketmq_server, topic, numbered(6), queue=0)
    drained.failing = 2
    with pytest.raises(StreamingQueryException, match="the sink is away"):
        drained.run(source.node.read(spark, source.context), tmp_path / "live")
    drained.failing = None
    drained.run(source.node.read(spark, source.context), tmp_path / "live")
    assert sorted(drained.everything) == [0, 1, 2, 3, 4, 5, 6]
    assert drained.end_offset() == {"broker-a/0": 4, "broker-a/1": 1, "broker-a/2": 2}
    assert json.loads(drained.progress[-1]["sources"][0]["latestOffset"]) == drained.end_offset()


def test_a_start_behind_the_newest_stays_where_it_was_until_a_batch_is_committed(build: Build, rocketmq_server: RocketmqServer, topic: str):
    """Spark asks again in its first batch, and in the next attempt where that batch failed."""
    built = stream(build, rocketmq_server, topic, start="latest")
    options = reader_options(built.context, built.context.connection("db"), 2)

    def asked() -> int:
        reader = QueuesStreamReader(options)
        try:
            return reader.initialOffset()["broker-a/0"]
        finally:
            reader.stop()

    send(rocketmq_server, topic, numbered(1, 2))
    assert asked() == 2
    send(rocketmq_server, topic, numbered(3))
    assert asked() == 2


def rewound(folder: Path, offsets: Mapping[str, int]) -> None:
    """As if the last batch had ended elsewhere."""
    last = max((folder / "offsets").iterdir(), key=lambda entry: int(entry.name) if entry.name.isdigit() else -1)
    lines = last.read_text().splitlines()
    last.write_text("\n".join([*lines[:2], f"node:{json.dumps(offsets)}"]))
    (folder / "offsets" / f".{last.name}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("elsewhere", "words"), [(70, "the queue ends at 2"), (-5, "there is none before 0")], ids=["behind the newest", "before the oldest"]
)
def test_messages_that_are_not_there_fail_the_job_or_are_left_out_as_chosen(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str, tmp_path: Path, elsewhere: int, words: str
):
    send(rocketmq_server, topic, numbered(1, 2))
    source, drained = stream(build, rocketmq_server, topic), Drained()
    drained.run(source.node.read(spark, source.context), tmp_path / "live")
    rewound(tmp_path / "live", {"broker-a/0": elsewhere, "broker-a/1": 0})
    with pytest.raises(StreamingQueryException) as caught:
        drained.run(source.node.read(spark, source.context), tmp_path / "live")
    carried = node_error_in(str(caught.value))
    assert carried is not None
    assert carried.error.permanent
    assert f'({words}); set "Lost messages" to go on with what is left' in carried.error.message
    with pytest.raises(NodeError) as asked:
        source.node.check_input({"broker-a/0": elsewhere, "broker-a/1": 0}, source.context)
    assert (asked.value.message, asked.value.permanent) == (carried.error.message, True), "before a restore as well"
    source.node.check_input({"broker-a/0": 1, "broker-a/1": 0}, source.context)
    choosing = stream(build, rocketmq_server, topic, lost_messages="go_on")
    drained.batches.clear()
    drained.run(choosing.node.read(spark, choosing.context), tmp_path / "live")
    assert drained.everything == [1, 2]
    assert drained.end_offset() == {"broker-a/0": 2, "broker-a/1": 0}


def topic_remake(server: RocketmqServer, topic: str) -> None:
    """By RocketMQ's own codes: DELETE_TOPIC_IN_BROKER and DELETE_TOPIC_IN_NAMESRV."""
    with RocketMq(server.settings) as client:
        client.broker_asked(client.brokers()["broker-a"], 215, {"topic": topic})
        client.broker_asked(server.name_servers, 216, {"topic": topic})
    server.topic_create(topic, queues=2)
    with RocketMq(server.settings) as client:
        wait_until(lambda: set(newest(client, topic).values()) == {0}, seconds=30, what=f"topic {topic} made anew")


def remembered(source: Any, topic: str) -> dict[str, int]:
    """The offset of the message that is remembered of each queue."""
    note = json.loads((source.context.work_dir / "known_messages.json").read_text())
    return {queue: offset for queue, (offset, _) in note[topic]["messages"].items()}


def test_a_topic_made_anew_and_filled_past_the_position_is_not_read_on_unless_that_is_wanted(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str, tmp_path: Path
):
    source, drained = stream(build, rocketmq_server, topic), Drained()
    for number in (0, 10):
        send(rocketmq_server, topic, numbered(number, number + 1, number + 2))
        send(rocketmq_server, topic, numbered(number + 3), queue=1)
        drained.run(source.node.read(spark, source.context), tmp_path / "live")
        source.node.checkpointed(drained.end_offset(), source.context)
        assert remembered(source, topic) == {queue: offset - 1 for queue, offset in drained.end_offset().items()}
    assert sorted(drained.everything) == [0, 1, 2, 3, 10, 11, 12, 13], "the same topic goes on"
    source.node.check_input({"broker-a/0": 3, "broker-a/1": 0}, source.context)
    topic_remake(rocketmq_server, topic)
    send(rocketmq_server, topic, numbered(*range(100, 110)))
    send(rocketmq_server, topic, numbered(*range(200, 210)), queue=1)
    with pytest.raises(NodeError, match=rf"topic {topic} was deleted and made anew since it was read.*Lost messages") as caught:
        source.node.read(spark, source.context)
    assert (caught.value.permanent, caught.value.field) == (True, "lost_messages")
    with pytest.raises(NodeError) as asked:
        source.node.check_input({"broker-a/0": 3, "broker-a/1": 0}, source.context)
    assert asked.value.message == caught.value.message, "before a restore as well"
    choosing = stream(build, rocketmq_server, topic, lost_messages="go_on")
    drained.run(choosing.node.read(spark, choosing.context), tmp_path / "live")
    assert sorted(drained.everything)[8:] == [106, 107, 108, 109, *range(202, 210)]
    choosing.node.checkpointed(drained.end_offset(), choosing.context)
    source.node.read(spark, source.context)


def test_a_running_job_hears_at_a_checkpoint_that_its_topic_was_made_anew(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    source, beside = (stream(build, rocketmq_server, topic, tags="a") for _ in range(2))
    send(rocketmq_server, topic, numbered(1, 2), tag="b")
    source.node.read(spark, source.context)
    beside.node.checkpointed({"broker-a/0": 2, "broker-a/1": 0}, beside.context)
    source.node.check([])
    topic_remake(rocketmq_server, topic)
    send(rocketmq_server, topic, numbered(1, 2, 3), tag="b")
    beside.node.checkpointed({"broker-a/0": 3, "broker-a/1": 0}, beside.context)
    with pytest.raises(NodeError, match=rf"topic {topic} was deleted and made anew"):
        source.node.check([])


def test_a_message_that_is_remembered_may_lie_behind_the_position_or_be_deleted_or_its_broker_away(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(known_messages, "SETTLING_SECONDS", 0.0)
    source = stream(build, rocketmq_server, topic)
    send(rocketmq_server, topic, numbered(1, 2, 3))
    source.node.checkpointed({"broker-a/0": 3, "broker-a/1": 0}, source.context)
    source.node.read(spark, source.context)
    source.node.check_input({"broker-a/0": 1, "broker-a/1": 0}, source.context)
    away = replace(rocketmq_server.settings, config={**rocketmq_server.settings.config, "servers": "127.0.0.1:1"})
    source.node.checkpointed({"broker-a/0": 1, "broker-a/1": 0}, replace(source.context, connections={"db": away}))
    assert remembered(source, topic) == {"broker-a/0": 2}
    note = source.context.work_dir / "known_messages.json"
    note.write_text(json.dumps({topic: {"messages": {"broker-a/0": [-1, "it was before the oldest"]}, "made_anew": False}}))
    source.node.read(spark, source.context)
    note.write_text(json.dumps({topic: {"messages": {"broker-a/0": [70, "there were as many"]}, "made_anew": False}}))
    source.node.checkpointed({"broker-a/0": 3, "broker-a/1": 0}, source.context)
    with pytest.raises(NodeError, match=f"messages of topic {topic} that were read are not there any more, nor any behind them"):
        source.node.read(spark, source.context)


def test_the_group_goes_to_the_position_of_a_checkpoint_forwards_and_back(build: Build, rocketmq_server: RocketmqServer, topic: str):
    send(rocketmq_server, topic, ["a", "b", "c"])
    group = f"group-{topic}"
    source = build("source.rocketmq", {"connection": "db", "topic": topic, "group_id": group}, connections=connections(rocketmq_server))
    with pytest.raises(NodeError, match=f"the consumer group does not exist.*{group}.*create it on the brokers, or name another"):
        source.node.checkpointed({"broker-a/0": 3, "broker-a/1": 0}, source.context)
    rocketmq_server.group_create(group)
    with RocketMq(rocketmq_server.settings) as client:
        address = client.brokers()["broker-a"]
        for position in ({"broker-a/0": 3, "broker-a/1": 0}, {"broker-a/0": 1, "broker-a/1": 0}):
            source.node.checkpointed(position, source.context)
            assert [client.group_offset(address, group, topic, Queue("broker-a", number)) for number in (0, 1)] == list(position.values())
        source.node.read_to({"broker-a/0": 2, "broker-a/1": 0}, source.context)
        assert client.group_offset(address, group, topic, Queue("broker-a", 0)) == 2


def test_the_group_stands_where_a_whole_read_ended(spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str):
    send(rocketmq_server, topic, ["a", "b"])
    rocketmq_server.group_create(topic)
    config = {"connection": "db", "topic": topic, "format": "text", "group_id": topic}
    source = build("source.rocketmq", config, connections=connections(rocketmq_server), is_run=True)
    assert source.node.read(spark, source.context).count() == 2
    source.node.read_to(None, source.context)
    with RocketMq(rocketmq_server.settings) as client:
        assert client.group_offset(client.brokers()["broker-a"], topic, topic, Queue("broker-a", 0)) == 2


def test_a_topic_that_does_not_exist_is_named_with_those_there_are(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    with pytest.raises(NodeError, match=rf'rocketmq "main": topic no-such does not exist.*{topic}') as caught:
        read(spark, build, rocketmq_server, topic="no-such", columns=COLUMNS)
    assert caught.value.field == "topic"
    assert "SCHEDULE_TOPIC" not in caught.value.message


def test_a_wrong_secret_is_refused_and_not_told(spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str):
    wrong = replace(rocketmq_server.settings, secrets={"secret_key": "canary-0815"})
    source = build("source.rocketmq", {"connection": "db", "topic": topic, "format": "text"}, connections={"db": wrong})
    with pytest.raises(Exception, match="this is not allowed") as caught:
        source.node.read(spark, source.context).collect()
    carried = node_error_in(str(caught.value))
    assert carried is not None
    assert carried.error.permanent
    assert "correct access key and secret of the connection" in carried.error.message
    assert "canary-0815" not in str(caught.value)


STEPS = ("name", "port", "TLS", "name server", "broker", "sign-in")


@pytest.mark.parametrize(
    ("config", "secret", "failed"),
    [
        ({"servers": "no-such-host.invalid:9876"}, "", "name"),
        ({"servers": "127.0.0.1:1"}, "", "port"),
        ({"servers": "broker"}, None, "name server"),
        ({}, None, None),
        ({}, "wrong", "sign-in"),
        ({"access_key": ""}, "", "sign-in"),
        ({"tls": "verify-full"}, None, None),
        ({"tls": "verify-ca", "servers": "localhost"}, None, None),
        ({"tls": "verify-full", "servers": "localhost"}, None, "TLS"),
        ({"tls": "verify-ca", "certificate_authority": ""}, None, "TLS"),
    ],
)
def test_a_connection_test_says_which_step_failed(
    rocketmq_server: RocketmqServer, config: dict[str, Any], secret: str | None, failed: str | None
):
    """Its certificate is for 127.0.0.1."""
    places = {"broker": f"127.0.0.1:{rocketmq_server.port}", "localhost": f"localhost:{rocketmq_server.name_server}"}
    settings = rocketmq_server.encrypted("none") | config
    settings["servers"] = places.get(settings["servers"], settings["servers"])
    secrets = rocketmq_server.settings.secrets if secret is None else {"secret_key": secret}
    told = RocketmqConnection().check(ConnectionSettings("main", "rocketmq", settings, secrets), Limits())
    assert [(step.name, step.ok) for step in told] == [(step, step != failed) for step in STEPS[: STEPS.index(failed or STEPS[-1]) + 1]]
    if failed is None:
        assert ("encrypted by TLS" in told[2].message) == ("tls" in config)


def test_a_name_server_that_takes_encrypted_lines_only_is_told(mosquitto_server: MosquittoServer):
    config = {"servers": f"127.0.0.1:{mosquitto_server.tls_port}"}
    told = RocketmqConnection().check(ConnectionSettings("main", "rocketmq", config), Limits())
    assert (told[-1].name, told[-1].ok) == ("name server", False)
    assert "takes encrypted lines only; choose TLS in the connection" in told[-1].message


def test_a_name_server_that_takes_plain_and_encrypted_lines_and_knows_no_broker_is_told(
    rocketmq_server: RocketmqServer, monkeypatch: pytest.MonkeyPatch
):
    """As it is while no broker has registered; by default a name server takes both kinds of line."""
    monkeypatch.setattr(RocketMq, "brokers", lambda _: {})
    told = RocketmqConnection().check(rocketmq_server.settings, Limits())
    assert (told[-1].name, told[-1].ok) == ("name server", False)
    assert told[-1].message.endswith("the name server knows of no broker; check that the brokers run")


def test_rows_are_written_and_read_over_encrypted_lines(spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str):
    encrypted = {"db": replace(rocketmq_server.settings, config=rocketmq_server.encrypted("verify-full"))}
    frame = spark.range(3000).withColumn("text", F.repeat(F.lit("é"), 2000))
    sink = build("sink.rocketmq", {"connection": "db", "topic": topic}, connections=encrypted)
    sink.node.begin(spark, frame.schema, sink.context)
    assert sink.node.write(frame, Batch(0, "node"), sink.context) == Written(rows=3000)
    source = build("source.rocketmq", {"connection": "db", "topic": topic}, connections=encrypted)
    rows = source.node.read(spark, source.context).collect()
    assert sorted(row.id for row in rows) == list(range(3000))
    assert {row.text for row in rows} == {"é" * 2000}


def test_a_broker_whose_certificate_is_not_trusted_is_sent_nothing(build: Build, rocketmq_server: RocketmqServer, topic: str):
    other = rocketmq_server.encrypted("verify-ca") | {"certificate_authority": self_signed()[0]}
    with RocketMq(replace(rocketmq_server.settings, config=other)) as client, pytest.raises(NodeError, match="is not trusted") as caught:
        client.route(topic)
    assert caught.value.permanent


def test_a_broker_that_answers_nothing_is_waited_for(build: Build, rocketmq_server: RocketmqServer, topic: str):
    source = build("source.rocketmq", {"connection": "db", "topic": topic}, connections=connections(rocketmq_server))
    sink = build("sink.rocketmq", {"connection": "db", "topic": topic}, connections=connections(rocketmq_server))
    with rocketmq_server.frozen():
        assert source.node.waits_for(source.context) == source.node.needs_to_begin(source.context) == "rocketmq main"
    assert source.node.waits_for(source.context) == ""
    assert sink.node.waits_for(sink.context) == ""


def test_what_is_refused_before_a_run_begins_is_not_waited_for_but_told(build: Build, rocketmq_server: RocketmqServer):
    other = rocketmq_server.encrypted("verify-ca") | {"certificate_authority": self_signed()[0]}
    untrusted = {"db": replace(rocketmq_server.settings, config=other)}
    for kind, given in (("source", connections(rocketmq_server)), ("sink", connections(rocketmq_server)), ("source", untrusted)):
        built = build(f"{kind}.rocketmq", {"connection": "db", "topic": "is_not_there"}, connections=given)
        assert built.node.needs_to_begin(built.context) == ""


def write(
    spark: SparkSession,
    build: Build,
    server: RocketmqServer,
    frame: DataFrame,
    *,
    fails: bool = False,
    rejections: RejectedRows | None = None,
    **config: Any,
) -> Written:
    sink = build("sink.rocketmq", {"connection": "db", **config}, connections=connections(server))
    sink.node.begin(spark, frame.schema, sink.context)
    written: Written = sink.node.write(frame, Batch(0, "node", fails_at_rejected=fails, rejections=rejections), sink.context)
    return written


def test_rows_become_messages_that_rocketmqs_own_client_reads_with_keys_tags_and_ids(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    frame = spark.createDataFrame([(1, "Zoë", None), (2, "李", 2.5), (3, "a b", 1.0)], "id int, name string, status string")
    config: dict[str, Any] = {"key_columns": ["id", "name"], "tag": "new", "tag_column": "status", "id_columns": ["id"]}
    assert write(spark, build, rocketmq_server, frame, topic=topic, **config) == Written(rows=3)
    rocketmq_server.group_create("peer-reader")
    lines = [
        line.removeprefix("READ ").split("\t") for line in rocketmq_server.peer(topic, "read", "peer-reader") if line.startswith("READ ")
    ]
    found = {keys: (json.loads(base64.b64decode(value)), tag, told) for _, value, tag, keys, _, told in lines}
    assert set(found) == {"1 Zoë", "2 李", "3 a b"}
    assert found["1 Zoë"][:2] == ({"id": 1, "name": "Zoë", "status": None}, "new")
    assert found["2 李"][1] == "2.5"
    assert found["2 李"][2].endswith("/node/2")
    assert len({line[0] for line in lines}) == 3


def test_rows_with_one_key_stay_in_order_and_many_rows_arrive_once(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    frame = spark.range(0, 4000, 1, 1).selectExpr("id", "id % 7 AS customer")
    assert write(spark, build, rocketmq_server, frame, topic=topic, key_columns=["customer"]).rows == 4000
    with RocketMq(rocketmq_server.settings) as client:
        wait_until(lambda: sum(newest(client, topic).values()) == 4000, seconds=10, what="all messages")
    rows = read(spark, build, rocketmq_server, topic=topic, columns=[{"name": "id", "type": "long"}], metadata=True).collect()
    assert sorted(row.id for row in rows) == list(range(4000))
    for key in map(str, range(7)):
        of_key = sorted((row.rocketmq_queue, row.rocketmq_offset, row.id) for row in rows if row.rocketmq_keys == key)
        assert len({queue for queue, _, _ in of_key}) == 1
        assert [number for _, _, number in of_key] == sorted(number for _, _, number in of_key)


def test_what_the_broker_refuses_is_rejected_and_the_rest_is_sent(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str, tmp_path: Path
):
    rows = [
        (1, "fine", "k"),
        (2, None, "k"),
        (3, "x" * 4_300_000, "k"),
        (4, "fine too", "a\x01b"),
        (5, "also fine", "y" * 40_000),
        (6, "1 MB" * 250_000, "k"),
    ]
    frame = spark.createDataFrame(rows, "id int, value string, key string").coalesce(1)
    given: dict[str, Any] = {"topic": topic, "format": "text", "value_column": "value", "key_columns": ["key"]}
    written = write(spark, build, rocketmq_server, frame, **given)
    assert (written.rows, written.rejected) == (2, 4)
    rejections = rejections_in(tmp_path)
    write(spark, build, rocketmq_server, frame, rejections=rejections, **given)
    assert rows_led_on(rejections, frame) == rows[1:5]
    reasons = {json.loads(row[:20].partition(",")[0] + "}")["id"]: reason for reason, row in written.rejected_rows}
    assert reasons[2] == "the message has no value"
    assert "the broker refused the message: the message is illegal" in reasons[3]
    assert "hold a character by which RocketMQ keeps them apart" in reasons[4]
    assert "32,767 is the most" in reasons[5]
    stopped = write(spark, build, rocketmq_server, frame, fails=True, topic=topic, format="text", value_column="value")
    assert stopped.rejected == 1


@pytest.mark.parametrize(
    ("config", "least"),
    [
        ({"delay": "level", "delay_level": 1}, 900),
        # The broker's timer may be a second early.
        ({"delay": "seconds", "delay_seconds": 3}, 1900),
        ({"delay": "column", "delay_column": "due"}, 1900),
    ],
)
def test_delayed_messages_come_later(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str, config: dict[str, Any], least: int
):
    before = round(datetime.now(UTC).timestamp() * 1000)
    frame = spark.range(20).selectExpr("id", "current_timestamp() + INTERVAL 3 SECONDS AS due")
    assert write(spark, build, rocketmq_server, frame, topic=topic, **config).rows == 20
    with RocketMq(rocketmq_server.settings) as client:
        wait_until(lambda: sum(newest(client, topic).values()) == 20, seconds=30, what="delayed messages")
        address = client.brokers()["broker-a"]
        # The first that came is not before the time it was due.
        assert [client.at_time(address, topic, Queue("broker-a", number), before + least) for number in (0, 1)] == [0, 0]


def test_a_sink_into_a_missing_topic_or_column_is_refused_before_any_row(
    spark: SparkSession, build: Build, rocketmq_server: RocketmqServer, topic: str
):
    with pytest.raises(NodeError, match='rocketmq "main": topic no-such does not exist'):
        write(spark, build, rocketmq_server, spark.range(1), topic="no-such")
    with pytest.raises(NodeError, match="there is no column key; the columns are id") as caught:
        write(spark, build, rocketmq_server, spark.range(1), topic=topic, key_columns=["key"])
    assert caught.value.field == "key_columns"
    with pytest.raises(NodeError, match="id is no timestamp"):
        write(spark, build, rocketmq_server, spark.range(1), topic=topic, delay="column", delay_column="id")
    assert offsets_json({Queue("a", 1): 2}) == {"a/1": 2}
