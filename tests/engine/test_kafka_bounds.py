"""Messages that Kafka does not take for their size or their partition: rejected like other rows, and those beside them arrive."""

import json
import time
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest

from jobs.engine.events import RowsRejected
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import COLLECT, Bench, Heard, document, files, keep, numbers
from tests.engine.nodes import CollectSink
from tests.servers.kafka import KafkaServer

pytestmark = [pytest.mark.spark, pytest.mark.server]

LARGE = [7, 17, 27]


def values(server: KafkaServer, topic: str, count: int) -> list[bytes]:
    """All messages of `topic`, once there are at least `count`."""
    consumer = server.reader(topic)
    found: list[bytes] = []
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        message = consumer.poll(1 if len(found) >= count else 5)
        if message is None and len(found) >= count:
            break
        if message is not None and message.error() is None:
            found.append(message.value() or b"")
    consumer.close()
    return found


def connected(server: KafkaServer, options: str = "") -> dict[str, ConnectionSettings]:
    return {"main": ConnectionSettings("main", "kafka", {"servers": server.bootstrap, "options": options})}


def writing(bench: Bench, server: KafkaServer, topic: str, *, options: str, errors: str = "", **given: Any) -> Plan:
    """A job that sends thirty rows, of which the LARGE ones are of 60,000 bytes."""
    text = f"if(id in ({', '.join(map(str, LARGE))}), repeat('ü', 30000), 'small')"
    columns = {"columns": [{"name": "text", "expression": text}]}
    sink = ("sink.kafka", {"connection": "main", "topic": topic, "key_column": "id", "id_columns": ["id"]})
    nodes = {"gen": numbers(30, 10), "text": ("flow.compute_columns", columns), "out": sink, **({"bad": COLLECT} if errors else {})}
    plan = bench.plan(document(nodes, f"gen>text, text>out{errors}", **given))
    return replace(plan, connections=connected(server, options))


def ran(bench: Bench, plan: Plan) -> Heard:
    if plan.job_type == "STREAMING":
        return bench.drained(plan, 30)
    run, heard = bench.run(plan)
    assert run.wait(90) == "completed"
    return heard


@pytest.fixture
def topic(kafka_server: KafkaServer) -> str:
    name = f"sized-{uuid4().hex[:8]}"
    kafka_server.topic_create(name)
    return name


def arrived(server: KafkaServer, topic: str, count: int = 27) -> list[int]:
    return sorted(json.loads(value)["id"] for value in values(server, topic, count))


SMALL = [number for number in range(30) if number not in LARGE]


@pytest.mark.parametrize("job_type", ["STREAMING", "BATCH_ROLLER", "SQL_TASK"])
def test_they_are_kept_and_the_others_arrive(bench: Bench, kafka_server: KafkaServer, topic: str, job_type: str) -> None:
    plan = writing(bench, kafka_server, topic, options="max.request.size=50000", type=job_type)
    heard = ran(bench, plan)
    assert arrived(kafka_server, topic) == SMALL
    assert (heard.rows("out"), heard.rows("out", "rejected")) == (27, 3)
    kept = [row for event in heard.of(RowsRejected) for row in event.rows]
    why = "as a message it has more bytes than the 50000 that max.request.size of the connection allows"
    assert {row["reason"] for row in kept} == {why}
    assert [(row["row"][:5], len(row["row"])) for row in kept] == [('{"id"', 10_000)] * 3


@pytest.mark.parametrize("job_type", ["STREAMING", "BATCH_ROLLER", "SQL_TASK"])
def test_they_go_on_by_the_errors_port_as_they_came(bench: Bench, kafka_server: KafkaServer, job_type: str) -> None:
    name = f"sized-{uuid4().hex[:8]}"
    kafka_server.topic_create(name, max_message_bytes="40000")
    plan = writing(bench, kafka_server, name, options="", errors=", out.errors>bad", type=job_type, settings={"rejected_rows": "fail"})
    heard = ran(bench, plan)
    assert arrived(kafka_server, name) == SMALL
    rows = [row for rows in CollectSink.rows[plan.generation + "bad"].values() for row in rows]
    assert sorted((row.id, row.text) for row in rows) == [(number, "ü" * 30000) for number in LARGE]
    why = "as a message it has more bytes than the 40000 that max.message.bytes of the topic allows"
    assert {row.rejected_reason for row in rows} == {why}
    assert all(row.time is not None for row in rows)
    assert (heard.rows("out"), heard.rows("out", "rejected"), heard.rows("bad")) == (27, 3, 3)


def test_a_job_that_is_to_end_at_rejected_rows_ends(bench: Bench, kafka_server: KafkaServer, topic: str) -> None:
    plan = writing(bench, kafka_server, topic, options="max.request.size=50000", settings={"rejected_rows": "fail"})
    run, _ = bench.run(plan)
    with pytest.raises(ExecutionFailure, match="a message is too large") as failed:
        run.wait(90)
    assert (failed.value.node_id, failed.value.permanent) == ("out", True)


@pytest.mark.parametrize("policy", ["drop", "fail"])
@pytest.mark.parametrize("job_type", ["STREAMING", "SQL_TASK"])
def test_rows_that_a_fork_leads_to_a_topic_are_counted(
    bench: Bench, kafka_server: KafkaServer, topic: str, job_type: str, policy: str
) -> None:
    nodes = {"gen": numbers(30, 10), "odd": keep("id % 2 = 1"), "all": files("all")}
    out = ("sink.kafka", {"connection": "main", "topic": topic})
    drawn = document({**nodes, "out": out}, "gen>all, gen>odd, odd>out", type=job_type, settings={"rejected_rows": policy})
    heard = ran(bench, replace(bench.plan(drawn), connections=connected(kafka_server)))
    assert (heard.rows("odd", "rows_in"), heard.rows("odd"), heard.rows("out")) == (30, 15, 15)
    assert arrived(kafka_server, topic, 15) == list(range(1, 30, 2))


#: Some want more bits than Kafka has for a number.
ELSEWHERE = {3: -1, 13: 1, 23: 3_000_000_000}


def asking_for_partitions(bench: Bench, server: KafkaServer, topic: str, *, errors: str = "", **given: Any) -> Plan:
    """A job that sends thirty rows to a topic of one partition, of which ELSEWHERE ask for others, and some for none."""
    asked = " ".join(f"when id = {number} then {place}" for number, place in ELSEWHERE.items())
    columns = {"columns": [{"name": "shard", "expression": f"case {asked} when id % 2 = 0 then 0 end"}]}
    sink = ("sink.kafka", {"connection": "main", "topic": topic, "partition_column": "shard"})
    nodes = {"gen": numbers(30, 10), "shard": ("flow.compute_columns", columns), "out": sink, **({"bad": COLLECT} if errors else {})}
    return replace(bench.plan(document(nodes, f"gen>shard, shard>out{errors}", **given)), connections=connected(server))


THERE = [number for number in range(30) if number not in ELSEWHERE]
REASONS = {f"it asks for partition {place}, and the topic has 1, counted from 0" for place in ELSEWHERE.values()}


@pytest.mark.parametrize("job_type", ["STREAMING", "SQL_TASK"])
def test_rows_that_ask_for_a_partition_that_is_not_there_are_kept(
    bench: Bench, kafka_server: KafkaServer, topic: str, job_type: str
) -> None:
    heard = ran(bench, asking_for_partitions(bench, kafka_server, topic, type=job_type))
    assert arrived(kafka_server, topic) == THERE
    assert (heard.rows("out"), heard.rows("out", "rejected")) == (27, 3)
    assert {row["reason"] for event in heard.of(RowsRejected) for row in event.rows} == REASONS


def test_rows_that_ask_for_a_partition_that_is_not_there_go_on_by_the_errors_port(
    bench: Bench, kafka_server: KafkaServer, topic: str
) -> None:
    plan = asking_for_partitions(bench, kafka_server, topic, errors=", out.errors>bad")
    heard = ran(bench, plan)
    assert arrived(kafka_server, topic) == THERE
    rows = [row for rows in CollectSink.rows[plan.generation + "bad"].values() for row in rows]
    assert {row.id: row.shard for row in rows} == ELSEWHERE
    assert {row.rejected_reason for row in rows} == REASONS
    assert (heard.rows("out"), heard.rows("bad")) == (27, 3)


def test_a_job_that_is_to_end_at_rejected_rows_ends_at_a_partition_that_is_not_there(
    bench: Bench, kafka_server: KafkaServer, topic: str
) -> None:
    run, _ = bench.run(asking_for_partitions(bench, kafka_server, topic, settings={"rejected_rows": "fail"}))
    with pytest.raises(ExecutionFailure, match="it asks for partition -1, and the topic has 1") as failed:
        run.wait(90)
    assert (failed.value.node_id, failed.value.permanent) == ("out", True)
