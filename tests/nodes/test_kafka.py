"""`source.kafka` and `sink.kafka` against a real broker: formats, starts, bad messages, sign-in, and what goes wrong said in a sentence."""

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from pydantic import ValidationError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.nodes.base import AS_IT_CAME, REJECTED, Batch, ConnectionSettings, Limits, NodeError, Written
from jobs.nodes.connections.kafka import KafkaConnection
from jobs.nodes.connections.kafka_settings import SECONDS
from jobs.nodes.misfits import reason_told
from jobs.nodes.node_error import SystemAway
from tests.nodes.api_server import Answer, Request, api_server, as_json
from tests.nodes.conftest import Build
from tests.servers.kafka import PASSWORD, USER, KafkaServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

COLUMNS = [{"name": "id", "type": "long"}, {"name": "amount", "type": "decimal(10, 2)"}]


@pytest.fixture
def topic(kafka_server: KafkaServer) -> str:
    name = f"orders-{uuid4().hex[:8]}"
    kafka_server.topic_create(name, partitions=2)
    return name


def connection(server: KafkaServer, **config: Any) -> dict[str, ConnectionSettings]:
    return {"db": ConnectionSettings("main", "kafka", {"servers": server.bootstrap, **config})}


def signed(server: KafkaServer, password: str = PASSWORD) -> dict[str, ConnectionSettings]:
    config = {"servers": server.bootstrap_sasl, "security": "sasl_plaintext", "mechanism": "PLAIN", "user": USER}
    return {"db": ConnectionSettings("main", "kafka", config, {"password": password})}


def produce(
    server: KafkaServer, topic: str, values: Sequence[str | bytes | None], *, key: str = "k", at: int = 0, partition: int = -1
) -> None:
    producer = Producer({"bootstrap.servers": server.bootstrap})
    for value in values:
        producer.produce(topic, value=value, key=key, headers={"trace": "t-1"}, timestamp=at, partition=partition)
    assert producer.flush(30) == 0


def consumed(server: KafkaServer, topic: str, count: int) -> list[Any]:
    consumer = server.reader(topic)
    found: list[Any] = []
    deadline = time.monotonic() + 30
    while len(found) < count and time.monotonic() < deadline:
        message = consumer.poll(0.5)
        if message is not None and message.error() is None:
            found.append(message)
    consumer.close()
    return found


def read(spark: SparkSession, build: Build, connections: dict[str, ConnectionSettings], **config: Any) -> DataFrame:
    source = build("source.kafka", {"connection": "db", **config}, connections=connections)
    frame: DataFrame = source.node.read(spark, source.context)
    return frame


def test_json_messages_become_columns_and_bad_ones_are_rejected_with_their_text(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    good = ['{"id": 1, "amount": 10.25}', '{"id": 2, "amount": null, "more": {"é": 1}}']
    produce(kafka_server, topic, [*good, '{"id": "x"', '{"id": [1]}', "", None])
    rows = read(spark, build, connection(kafka_server), topic=topic, columns=COLUMNS).collect()
    kept = sorted((row.id, str(row.amount)) for row in rows if row[REJECTED] is None)
    assert kept == [(1, "10.25"), (2, "None")]
    reasons = sorted(row[REJECTED] for row in rows if row[REJECTED] is not None)
    assert len(reasons) == 4
    assert reasons[-1] == "the message has no value"
    assert any('{"id": "x"' in reason for reason in reasons)


def test_names_and_types_come_from_the_newest_messages_and_no_group_is_left(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    produce(kafka_server, topic, ['{"id": 1, "name": "Zoë", "tags": ["a"]}'])
    frame = read(spark, build, connection(kafka_server), topic=topic)
    assert dict(frame.dtypes) == {"id": "bigint", "name": "string", "tags": "array<string>", REJECTED: "string"}
    assert frame.first()["name"] == "Zoë"  # type: ignore[index]
    groups = kafka_server.admin.list_consumer_groups().result(30).valid
    assert "pipeline-web-sample" not in [group.group_id for group in groups]


def test_csv_text_and_bytes(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    produce(kafka_server, topic, ['7;"1,5"', "x;y;z"])
    columns = [{"name": "id", "type": "long"}, {"name": "text", "type": "string"}]
    rows = read(spark, build, connection(kafka_server), topic=topic, format="csv", delimiter=";", columns=columns).collect()
    assert [(row.id, row.text) for row in rows if row[REJECTED] is None] == [(7, "1,5")]
    assert sum(row[REJECTED] is not None for row in rows) == 1
    assert {row.value for row in read(spark, build, connection(kafka_server), topic=topic, format="text").collect()} == {'7;"1,5"', "x;y;z"}
    assert b'7;"1,5"' in {bytes(row.value) for row in read(spark, build, connection(kafka_server), topic=topic, format="binary").collect()}


AVRO = """{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}, {"name": "note", "type": ["null", "string"]},
    {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}}]}"""


def test_avro_messages_become_columns_and_other_bytes_are_rejected(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    from pyspark.sql.avro.functions import to_avro

    rows = spark.sql(
        "SELECT struct(7L AS id, CAST(NULL AS string) AS note, CAST(1.25 AS decimal(10, 2)) AS amount, timestamp_micros(5) AS at) r"
    )
    written = rows.select(to_avro("r", AVRO)).collect()[0][0]
    produce(kafka_server, topic, [bytes(written), b"\x01", bytes(written) + b"\x00"])
    found = read(spark, build, connection(kafka_server), topic=topic, format="avro", avro_schema=AVRO).collect()
    (good,) = [row for row in found if row[REJECTED] is None]
    assert (good.id, good.note, str(good.amount), good.at.microsecond) == (7, None, "1.25", 5)
    left = [f"the message does not fit the columns{AS_IT_CAME}{body.hex().upper()}" for body in (b"\x01", bytes(written) + b"\x00")]
    assert sorted(row[REJECTED] for row in found if row[REJECTED] is not None) == sorted(left)


def framed(number: int, body: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + body


def test_avro_messages_of_several_versions_are_read_as_the_newest_of_the_registry(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    from pyspark.sql.avro.functions import to_avro

    def record(*fields: dict[str, Any]) -> str:
        return json.dumps({"type": "record", "name": "Order", "fields": list(fields)})

    number, note = {"name": "id", "type": "long"}, {"name": "note", "type": "string", "default": "none"}
    versions = {1: {"id": 7, "schema": record(number)}, 2: {"id": 300, "schema": record(note, number)}}

    def answer(request: Request) -> Answer:
        begins = f"/subjects/{topic}-value/versions"
        if request.path == begins:
            return as_json(list(versions))
        version = request.path.removeprefix(f"{begins}/")
        return as_json(versions[int(version)]) if version.isdecimal() else as_json({"error_code": 40401}, 404)

    old, new = (
        bytes(spark.sql(sql).select(to_avro("r", str(versions[version]["schema"]))).collect()[0][0])
        for version, sql in ((1, "SELECT struct(1L AS id) r"), (2, "SELECT struct('é' AS note, 2L AS id) r"))
    )
    produce(kafka_server, topic, [framed(7, old), framed(300, new), b"no frame", framed(300, b""), framed(7, new)])
    with api_server(answer) as server:
        known = connection(kafka_server) | {"registry": ConnectionSettings("registry", "http_api", {"base_url": server.url})}
        limits = Limits(http_allowed_hosts=(server.host,))
        config = {"connection": "db", "topic": topic, "format": "avro", "registry_connection": "registry"}
        source = build("source.kafka", config, connections=known, limits=limits)
        rows = source.node.read(spark, source.context).collect()
        assert sorted((row.id, row.note) for row in rows if row[REJECTED] is None) == [(1, "none"), (2, "é")]
        assert sum(row[REJECTED] is not None for row in rows) == 3, (
            "one names a schema of fewer fields than it has: Avro would take its first"
        )
        produce(kafka_server, topic, [framed(9, old)], at=int(1000 * (time.time() - 60)))
        rejected = [row[REJECTED] for row in source.node.read(spark, source.context).collect() if row[REJECTED] is not None]
        told = "the message was written with schema 9, which the registry does not list for this subject"
        assert [reason for reason in rejected if reason.startswith(told)] == [f"{told}{AS_IT_CAME}{framed(9, old).hex().upper()}"]
        assert len(rejected) == 4
        produce(kafka_server, topic, [framed(9, old)])  # so young that another look may know it
        with pytest.raises(Exception, match="unknown_avro_schema:9"):
            source.node.read(spark, source.context).collect()
        assert source.node.needs_to_begin(source.context) == ""
        unknown = build("source.kafka", config | {"subject": "other"}, connections=known, limits=limits)
        with pytest.raises(
            NodeError, match='asking registry "registry" for other: it has no such subject; name another in "Subj'
        ) as caught:
            unknown.node.read(spark, unknown.context)
    assert caught.value.field == "subject"
    with pytest.raises(SystemAway, match=f'asking registry "registry" for {topic}-value: '):
        source.node.read(spark, source.context)
    assert (source.node.needs_to_begin(source.context), source.node.waits_for(source.context)) == ("HTTP API registry", "")


def test_json_messages_have_the_columns_that_the_registry_tells(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    told = {"id": {"type": "integer"}, "at": {"type": "string", "format": "date-time"}, "tags": {"type": "array", "items": {}}}
    schema = {"id": 12, "schemaType": "JSON", "schema": json.dumps({"type": "object", "properties": told})}

    def answer(request: Request) -> Answer:
        begins = f"/subjects/{topic}-value/versions"
        return as_json([1]) if request.path == begins else as_json(schema, 200 if request.path == f"{begins}/latest" else 404)

    good = b'{"id": 7, "at": "2026-01-31T06:00:00Z", "tags": ["\xc3\xa9"], "more": 1}'
    produce(kafka_server, topic, [framed(12, good), good, framed(12, b'{"id": "x"}')])
    with api_server(answer) as server:
        known = connection(kafka_server) | {"registry": ConnectionSettings("registry", "http_api", {"base_url": server.url})}
        limits = Limits(http_allowed_hosts=(server.host,))
        config = {"connection": "db", "topic": topic, "registry_connection": "registry"}
        source = build("source.kafka", config, connections=known, limits=limits)
        frame = source.node.read(spark, source.context)
        rows = frame.withColumn(REJECTED, reason_told(frame)).collect()
        assert [(row.id, row.at.astimezone(UTC), row.tags) for row in rows if row[REJECTED] is None] == [
            (7, datetime(2026, 1, 31, 6, tzinfo=UTC), ["é"])
        ] * 2
        assert [row[REJECTED] for row in rows if row[REJECTED] is not None] == [
            f'the message does not fit the columns: id should be bigint, not "x"{AS_IT_CAME}{{"id": "x"}}'
        ]
        text = schema.pop("schema")
        with pytest.raises(
            NodeError, match=r'registry "registry" answers for .*-value with what is no schema: check its address'
        ) as caught:
            source.node.read(spark, source.context)
        assert caught.value.field == "registry_connection"
        schema["schema"] = text
        schema["schemaType"] = "PROTOBUF"
        with pytest.raises(NodeError, match=r'asking registry "registry" for .*-value: .* is of type PROTOBUF, not JSON') as caught:
            source.node.read(spark, source.context)
    assert caught.value.field == "format"


def test_topics_by_pattern_some_partitions_and_an_end(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    other = f"{topic}-more"
    kafka_server.topic_create(other)
    for partition, values in enumerate((["a0", "a1", "a2"], ["b0"])):
        produce(kafka_server, topic, values, partition=partition)
    produce(kafka_server, other, ["c0"])

    def found(**config: Any) -> list[str]:
        return sorted(row.value for row in read(spark, build, connection(kafka_server), format="text", **config).collect())

    assert found(topic=f"{topic}.*", topic_is="pattern") == ["a0", "a1", "a2", "b0", "c0"]
    assert found(topic=topic, partitions="1") == ["b0"]
    end = json.dumps({topic: {"0": 2, "1": 0}})
    assert found(topic=topic, end="offsets", end_offsets=end) == ["a0", "a1"]
    with pytest.raises(NodeError, match=rf"topic {topic} has no partition 7 \(it has 2\)"):
        found(topic=topic, partitions="0-1, 7")


def test_the_group_goes_to_the_position_of_a_checkpoint_forwards_and_back(build: Build, kafka_server: KafkaServer, topic: str):
    produce(kafka_server, topic, ["a", "b", "c"], partition=0)
    group = f"group-{topic}"
    source = build("source.kafka", {"connection": "db", "topic": topic, "group_id": group}, connections=connection(kafka_server))
    for offsets in ({"0": 3, "1": 0}, {"0": 1, "1": 0}):
        source.node.checkpointed({topic: offsets}, source.context)
        assert kafka_server.group_offsets(group) == {(topic, int(number)): offset for number, offset in offsets.items()}


def test_a_group_in_which_another_consumes_stays_where_it_is(build: Build, kafka_server: KafkaServer, topic: str):
    produce(kafka_server, topic, ["a"], partition=0)
    source = build("source.kafka", {"connection": "db", "topic": topic, "group_id": topic}, connections=connection(kafka_server))
    consumer = Consumer({"bootstrap.servers": kafka_server.bootstrap, "group.id": topic, "auto.offset.reset": "earliest"})
    consumer.subscribe([topic])
    wait_until(lambda: consumer.poll(0.5) is not None, seconds=30, what="a member of the group")
    try:
        with pytest.raises(NodeError, match=f"moving group {topic}.*does something else consume in this group"):
            source.node.checkpointed({topic: {"0": 1, "1": 0}}, source.context)
    finally:
        consumer.close()


def test_where_a_message_comes_from_can_be_had_as_columns(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    produce(kafka_server, topic, ["hello"], key="key-1", at=1_700_000_000_000)
    (row,) = read(spark, build, connection(kafka_server), topic=topic, format="text", metadata=True).collect()
    assert (row.kafka_key, row.kafka_topic, row.kafka_offset) == ("key-1", topic, 0)
    assert row.kafka_partition in (0, 1)
    assert [(header.key, header.value) for header in row.kafka_headers] == [("trace", "t-1")]


def test_a_start_at_a_time_or_at_offsets(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    old, new = 1_600_000_000_000, 1_700_000_000_000
    produce(kafka_server, topic, ["old-1", "old-2"], at=old)
    produce(kafka_server, topic, ["new"], at=new)
    since = datetime.fromtimestamp(new / 1000, UTC).isoformat()
    timed = read(spark, build, connection(kafka_server), topic=topic, format="text", start="time", start_time=since)
    assert [row.value for row in timed.collect()] == ["new"]
    (place,) = {
        (row.kafka_partition) for row in read(spark, build, connection(kafka_server), topic=topic, format="text", metadata=True).collect()
    }
    offsets = json.dumps({topic: {str(place): 1, str(1 - place): -2}})
    placed = read(spark, build, connection(kafka_server), topic=topic, format="text", start="offsets", start_offsets=offsets)
    assert sorted(row.value for row in placed.collect()) == ["new", "old-2"]


def test_a_topic_that_does_not_exist_is_named_with_those_there_are(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    first = f"0-{topic}"  # only the first twenty are named
    kafka_server.topic_create(first, partitions=1)
    with pytest.raises(NodeError, match=rf'reading kafka "main": topic no-such does not exist.*{first}') as caught:
        read(spark, build, connection(kafka_server), topic="no-such", columns=COLUMNS)
    assert caught.value.field == "topic"


def test_signing_in_and_a_wrong_password(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    produce(kafka_server, topic, ["hello"])
    assert [row.value for row in read(spark, build, signed(kafka_server), topic=topic, format="text").collect()] == ["hello"]
    with pytest.raises(NodeError, match="the sign-in was refused") as caught:
        read(spark, build, signed(kafka_server, "canary-0815"), topic=topic, format="text")
    assert "canary-0815" not in str(caught.value)
    assert caught.value.permanent


def over_tls(server: KafkaServer, authority: str) -> dict[str, ConnectionSettings]:
    config = {"security": "tls", "certificate_authority": authority, "client_certificate": server.certificate}
    return {"db": ConnectionSettings("main", "kafka", {"servers": server.bootstrap_tls, **config}, {"client_key": server.key})}


def test_certificates_of_both_sides_over_tls(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    produce(kafka_server, topic, ["hello"])
    connections = over_tls(kafka_server, kafka_server.certificate)
    assert [row.value for row in read(spark, build, connections, topic=topic, format="text").collect()] == ["hello"]
    with pytest.raises(NodeError, match="the brokers' certificate is not trusted"):
        read(spark, build, over_tls(kafka_server, ""), topic=topic, format="text")


@pytest.mark.parametrize(
    ("port", "config", "words"),
    [
        ("tls", {"security": "tls"}, "the certificate is not trusted"),
        ("tls", {"security": "tls", "certificate_authority": "its own"}, "the brokers ask for a client certificate; enter it"),
        ("tls", {"security": "plaintext"}, "the port speaks TLS"),
        ("tls", {"security": "sasl_plaintext", "user": USER}, "the port speaks TLS"),
        ("plain", {"security": "tls"}, "the port does not speak TLS"),
        ("plain", {"security": "sasl_plaintext", "user": USER}, "the port lets in without a sign-in"),
        ("sasl", {"security": "sasl_plaintext", "user": USER}, "the brokers know no SCRAM-SHA-512, but PLAIN"),
        ("sasl", {"security": "plaintext"}, "the port asks for a sign-in; take a security with SASL"),
    ],
)
def test_a_security_that_does_not_fit_the_port_is_told_at_once(kafka_server: KafkaServer, port: str, config: dict[str, Any], words: str):
    if "certificate_authority" in config:
        config = config | {"certificate_authority": kafka_server.certificate}
    settings = ConnectionSettings("main", "kafka", {"servers": f"127.0.0.1:{getattr(kafka_server, port)}"} | config, {"password": PASSWORD})
    begun = time.monotonic()
    told = KafkaConnection().check(settings, Limits())[-1]
    assert (told.ok, words in told.message) == (False, True), told.message
    assert time.monotonic() - begun < SECONDS, "not only when the client gives up"


def test_a_sign_in_without_a_password_asks_for_it(kafka_server: KafkaServer):
    (settings,) = signed(kafka_server, "").values()
    told = KafkaConnection().check(settings, Limits())[-1]
    assert told.message.endswith("signing in by SASL needs a password; enter it")


def test_a_client_certificate_without_its_key_is_told(kafka_server: KafkaServer):
    (settings,) = over_tls(kafka_server, kafka_server.certificate).values()
    told = KafkaConnection().check(replace(settings, secrets={}), Limits())[-1]
    assert told.message.endswith("the client certificate has no key; enter it in the connection")


REACHED = [("name", True), ("port", True), ("TLS", True)]


@pytest.mark.parametrize(
    ("config", "password", "steps"),
    [
        ({"servers": "no-such-host.invalid:9092"}, "", [("name", False)]),
        ({"servers": "127.0.0.1:1"}, "", [("name", True), ("port", False)]),
        ({}, "", [*REACHED, ("sign-in", True)]),
        ({"security": "sasl_plaintext", "mechanism": "PLAIN", "user": USER}, "wrong", [*REACHED, ("sign-in", False)]),
    ],
)
def test_a_connection_test_says_which_step_failed(kafka_server: KafkaServer, config: dict[str, Any], password: str, steps: list[Any]):
    server = kafka_server.bootstrap_sasl if "security" in config else kafka_server.bootstrap
    settings = ConnectionSettings("main", "kafka", {"servers": server, **config}, {"password": password})
    assert [(step.name, step.ok) for step in KafkaConnection().check(settings, Limits())] == steps


def test_a_key_that_is_none_is_told(kafka_server: KafkaServer):
    right = over_tls(kafka_server, kafka_server.certificate)["db"]
    assert [step.ok for step in KafkaConnection().check(right, Limits())] == [True] * 4
    cut = replace(right, secrets={"client_key": right.secrets["client_key"].replace("\n", "")})
    step = KafkaConnection().check(cut, Limits())[-1]
    assert not step.ok
    assert 'connecting to "main": the client refuses its settings (ssl.key.pem failed: not in PEM format?' in step.message
    assert cut.secrets["client_key"][60:100] not in step.message


def test_rows_become_messages_with_key_and_id(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    frame = spark.createDataFrame([(1, "Zoë", None), (2, "李", 2.5)], "id int, name string, amount double")
    config = {"connection": "db", "topic": topic, "key_column": "name", "id_columns": ["id"]}
    sink = build("sink.kafka", config, connections=connection(kafka_server))
    sink.node.begin(spark, frame.schema, sink.context)
    assert sink.node.write(frame, Batch(0, "node", rows=2), sink.context) == Written(rows=2)
    found = {message.key().decode(): message for message in consumed(kafka_server, topic, 2)}
    assert json.loads(found["Zoë"].value()) == {"id": 1, "name": "Zoë", "amount": None}
    assert dict(found["李"].headers())["message-id"].decode().endswith("/node/2")


def test_what_is_just_not_too_large_is_what_the_client_takes(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
) -> None:
    """With a key, headers and values around a length at which a longer number tells it."""
    given = {"headers": [{"name": "tënant", "column": "tenant"}], "key_column": "key", "id_columns": ["id"]}
    config = {"connection": "db", "topic": topic, "format": "text", "value_column": "text", **given}

    def sink(most: int) -> Any:
        made = build("sink.kafka", config, connections=connection(kafka_server, options=f"max.request.size={most}"))
        made.node.begin(spark, frame(1, 2).schema, made.context)
        return made

    def frame(first: int, behind: int) -> DataFrame:
        some = spark.range(first, behind, 1, 1)
        return some.select("id", F.expr("repeat('x', int(id))").alias("text"), F.lit("kéy").alias("key"), F.lit("acme").alias("tenant"))

    sized = sink(8400)
    written = sized.node.write(frame(8100, 8400), Batch(0, "node", rows=300), sized.context)
    lengths = sorted(len(message.value()) for message in consumed(kafka_server, topic, written.rows))
    longest = lengths[-1]
    assert lengths == list(range(8100, longest + 1))
    assert (written.rows, written.rejected, len(written.rejected_rows)) == (longest - 8099, 8399 - longest, min(100, 8399 - longest))
    ends = Batch(1, "node", rows=1, fails_at_rejected=True)
    assert sized.node.write(frame(longest, longest + 1), ends, sized.context).rows == 1
    with pytest.raises(Exception, match="RecordTooLargeException"):
        sized.node.write(frame(longest + 1, longest + 2), ends, sized.context)


def test_a_column_names_the_partition_and_others_become_headers(spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str):
    frame = spark.createDataFrame([(1, 1, "acme", None), (2, 0, None, 7), (3, 1, "zoë", 8)], "id int, shard long, tenant string, size int")
    headers = [{"name": "tenant", "column": "tenant"}, {"name": "size", "column": "size"}]
    config = {"connection": "db", "topic": topic, "partition_column": "shard", "headers": headers, "id_columns": ["id"]}
    sink = build("sink.kafka", config, connections=connection(kafka_server))
    sink.node.begin(spark, frame.schema, sink.context)
    sink.node.write(frame, Batch(0, "node", rows=3), sink.context)
    found = {json.loads(message.value())["id"]: message for message in consumed(kafka_server, topic, 3)}
    assert {number: message.partition() for number, message in found.items()} == {1: 1, 2: 0, 3: 1}
    given = {number: [(name, value.decode()) for name, value in message.headers()][:-1] for number, message in found.items()}
    assert given == {1: [("tenant", "acme")], 2: [("size", "7")], 3: [("tenant", "zoë"), ("size", "8")]}
    assert all(message.headers()[-1][0] == "message-id" for message in found.values())


def test_a_partition_that_is_no_number_and_a_header_that_the_ids_make_are_refused(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    frame = spark.createDataFrame([(1, "one")], "id int, shard string")
    sink = build("sink.kafka", {"connection": "db", "topic": topic, "partition_column": "shard"}, connections=connection(kafka_server))
    with pytest.raises(NodeError, match="the partition column shard is string, no whole number"):
        sink.node.begin(spark, frame.schema, sink.context)
    with pytest.raises(ValidationError, match="the header message-id is made of the id columns"):
        build("sink.kafka", {"connection": "db", "topic": topic, "id_columns": ["id"], "headers": [{"name": "message-id", "column": "id"}]})


def test_a_topic_that_was_made_anew_is_not_read_on_unless_that_is_wanted(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    produce(kafka_server, topic, ["a"])
    config = {"connection": "db", "topic": topic, "format": "text"}
    source = build("source.kafka", config, connections=connection(kafka_server), mode="stream")
    source.node.read(spark, source.context)
    source.node.read(spark, source.context)
    kafka_server.topic_remake(topic, partitions=2)
    with pytest.raises(NodeError, match=rf"topic {topic} was deleted and made anew since it was read.*Lost messages") as caught:
        source.node.read(spark, source.context)
    assert (caught.value.permanent, caught.value.field) == (True, "lost_messages")
    going_on = build("source.kafka", config | {"lost_messages": "go_on"}, connections=connection(kafka_server), mode="stream")
    going_on.node.read(spark, going_on.context)
    source.node.read(spark, source.context)


def test_messages_that_were_deleted_are_missed_before_a_job_goes_back_to_them(build: Build, kafka_server: KafkaServer, topic: str):
    produce(kafka_server, topic, ["a", "b", "c"], partition=0)
    config = {"connection": "db", "topic": topic}
    source = build("source.kafka", config, connections=connection(kafka_server))
    source.node.check_input({topic: {"0": 1, "1": 0}}, source.context)
    (deleted,) = kafka_server.admin.delete_records([TopicPartition(topic, 0, 2)]).values()
    deleted.result(30)
    with pytest.raises(NodeError, match=rf"messages of {topic}/0 from 1 on were deleted .*none before 2.*Lost messages") as missed:
        source.node.check_input({topic: {"0": 1, "1": 0}}, source.context)
    assert missed.value.permanent
    source.node.check_input({topic: {"0": 2, "1": 0}}, source.context)
    going_on = build("source.kafka", config | {"lost_messages": "go_on"}, connections=connection(kafka_server))
    going_on.node.check_input({topic: {"0": 1, "1": 0}}, going_on.context)


def test_a_sink_into_a_missing_topic_or_column_is_refused_before_any_row(
    spark: SparkSession, build: Build, kafka_server: KafkaServer, topic: str
):
    frame = spark.range(1)
    missing = build("sink.kafka", {"connection": "db", "topic": "no-such"}, connections=connection(kafka_server))
    with pytest.raises(NodeError, match='writing to kafka "main": topic no-such does not exist'):
        missing.node.begin(spark, frame.schema, missing.context)
    wrong = build("sink.kafka", {"connection": "db", "topic": topic, "key_column": "key"}, connections=connection(kafka_server))
    with pytest.raises(NodeError, match="there is no column key; the columns are id"):
        wrong.node.begin(spark, frame.schema, wrong.context)
