"""Streams in real time from Kafka to Kafka: each row goes its way as it comes; what was written is committed, counted and gone on from."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, Producer, TopicPartition

from checkpoints.cut import cut_restore, query_cut
from checkpoints.verification import cut_verify
from jobs.engine.events import BatchCommitted, QueryStarted, RowsRejected
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan
from jobs.engine.progress import last_committed
from tests.engine.graphs import Bench, Heard, Nodes, document
from tests.engine.kafka_numbers import connected
from tests.servers.kafka import KafkaServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.spark, pytest.mark.server]

REAL_TIME = {"trigger": "real_time", "trigger_interval": "5s", "rejected_rows": "dead_letter"}
COLUMNS = [{"name": "id", "type": "long"}, {"name": "name", "type": "string"}]


class Topics:
    """Topics of one partition each on the server; what is written to them can be read while it is written."""

    def __init__(self, server: KafkaServer) -> None:
        self.server = server
        self.came: dict[str, list[dict[str, Any]]] = {}
        self._producer = Producer({"bootstrap.servers": server.bootstrap, "linger.ms": 0, "log_level": 0})
        self._consumers: dict[str, Consumer] = {}

    def new(self, partitions: int = 1) -> str:
        topic = f"real-{uuid4().hex[:8]}"
        self.server.topic_create(topic, partitions=partitions)
        consumer = Consumer({"bootstrap.servers": self.server.bootstrap, "group.id": uuid4().hex, "auto.offset.reset": "earliest"})
        # Not by subscription: a client that is closed while its group gives out partitions may wait for ever.
        consumer.assign([TopicPartition(topic, partition, OFFSET_BEGINNING) for partition in range(partitions)])
        self._consumers[topic] = consumer
        self.came[topic] = []
        return topic

    def send(self, topic: str, *values: str) -> None:
        for value in values:
            self._producer.produce(topic, value)
        assert self._producer.flush(30) == 0

    def send_ids(self, topic: str, ids: range) -> None:
        self.send(topic, *(json.dumps({"id": number, "name": f"n{number}"}) for number in ids))

    def rows(self, topic: str) -> list[dict[str, Any]]:
        for message in self._consumers[topic].consume(1000, timeout=0.2):
            if (error := message.error()) is not None:
                assert error.code() == KafkaError.UNKNOWN_TOPIC_OR_PART, "a new topic may not be known yet"
                continue
            self.came[topic].append(json.loads(message.value() or b"null"))
        return self.came[topic]

    def wait_for(self, topic: str, holds: Callable[[list[dict[str, Any]]], bool], what: str) -> list[dict[str, Any]]:
        wait_until(lambda: holds(self.rows(topic)), seconds=60, what=f"{what} in {topic}")
        return self.came[topic]

    def close(self) -> None:
        for consumer in self._consumers.values():
            consumer.close()


@pytest.fixture
def topics(kafka_server: KafkaServer) -> Iterator[Topics]:
    made = Topics(kafka_server)
    yield made
    made.close()


def source(topic: str, **config: Any) -> tuple[str, dict[str, Any]]:
    return "source.kafka", {"connection": "main", "topic": topic, "columns": COLUMNS, **config}


def sink(topic: str, **config: Any) -> tuple[str, dict[str, Any]]:
    return "sink.kafka", {"connection": "main", "topic": topic, **config}


def planned(bench: Bench, server: KafkaServer, nodes: Nodes, edges: str, **settings: Any) -> Plan:
    drawn = document(nodes, edges, type="STREAMING", settings={**REAL_TIME, **settings})
    return connected(bench.plan(drawn), server)


def copying(bench: Bench, topics: Topics, **settings: Any) -> tuple[Plan, str, str]:
    taken, given = topics.new(), topics.new()
    return planned(bench, topics.server, {"in": source(taken), "out": sink(given)}, "in>out", **settings), taken, given


def stopped(bench: Bench, plan: Plan, committed: Callable[[Heard], bool]) -> Heard:
    run, heard = bench.run(plan)
    with heard.changed:
        assert heard.changed.wait_for(lambda: committed(heard), 90), [type(event).__name__ for event in heard.events]
    run.stop()
    assert run.wait(60) == "stopped"
    return heard


@pytest.mark.slow
def test_a_row_is_written_long_before_its_batch_ends(bench: Bench, topics: Topics) -> None:
    plan, taken, given = copying(bench, topics, trigger_interval="10 min")
    run, heard = bench.run(plan)
    heard.wait_for(QueryStarted)
    for number in range(3):
        topics.send_ids(taken, range(number, number + 1))
        topics.wait_for(given, lambda rows, number=number: rows[-1:] == [{"id": number, "name": f"n{number}"}], "the row")  # type: ignore[misc]
    assert heard.committed() == []
    run.interrupt()
    assert run.wait(30) == "stopped"
    assert last_committed(plan.locations.live / "out") == -1


@pytest.mark.slow
def test_a_stop_waits_for_the_end_of_the_batch_and_a_start_goes_on_behind_it(bench: Bench, topics: Topics) -> None:
    plan, taken, given = copying(bench, topics)
    topics.send_ids(taken, range(100))
    first = stopped(bench, plan, lambda heard: bool(heard.of(QueryStarted)))
    topics.send_ids(taken, range(100, 150))
    by_batches = replace(plan, attempt=2, settings=replace(plan.settings, trigger="interval", trigger_interval=0.1))
    second = bench.drained(by_batches, 50)
    topics.send_ids(taken, range(150, 200))
    third = stopped(bench, replace(plan, attempt=3), lambda heard: heard.rows_in() >= 50)
    rows = topics.wait_for(given, lambda rows: len(rows) >= 200, "all")
    assert sorted(row["id"] for row in rows) == list(range(200)), "none twice, none missing"
    assert [heard.rows_in() for heard in (first, second, third)] == [100, 50, 50]
    batches = [event.batch_id for heard in (first, second, third) for event in heard.committed()]
    assert batches == sorted(set(batches))
    assert third.of(QueryStarted)[0].resumed_batch == second.committed()[-1].batch_id


@pytest.mark.slow
def test_what_was_written_and_not_committed_comes_again(bench: Bench, topics: Topics) -> None:
    plan, taken, given = copying(bench, topics, trigger_interval="10 min")
    run, heard = bench.run(plan)
    heard.wait_for(QueryStarted)
    topics.send_ids(taken, range(20))
    topics.wait_for(given, lambda rows: len(rows) == 20, "the rows")
    run.interrupt()
    assert run.wait(30) == "stopped"
    again = replace(plan, attempt=2, settings=replace(plan.settings, trigger_interval=5.0))
    stopped(bench, again, lambda heard: heard.rows_in() >= 20)
    rows = topics.wait_for(given, lambda rows: len(rows) >= 40, "them once more")
    assert set(Counter(row["id"] for row in rows).values()) == {2}


@pytest.mark.slow
def test_each_flow_that_can_does_in_real_time_what_it_does_in_batches(bench: Bench, topics: Topics) -> None:
    taken, other, given = topics.new(), topics.new(), topics.new()
    nodes: Nodes = {
        "in": source(taken, metadata=True),
        "beside": source(other),
        "all": ("flow.union", {"missing_columns": True}),
        "keep": ("flow.filter_rows", {"condition": "id % 2 = 0"}),
        "sampled": ("flow.sample", {"percent": 100}),
        "add": ("flow.compute_columns", {"columns": [{"name": "twice", "expression": "id * 2"}]}),
        "masked": ("flow.mask", {"fields": [{"column": "name", "method": "redact"}]}),
        "lines": ("flow.script", {"script": "thrice = twice + id"}),
        "rules": ("flow.expectations", {"rules": [{"name": "small", "condition": "id < 8", "action": "drop"}]}),
        "chosen": ("flow.select_fields", {"fields": [{"column": "id"}, {"column": "thrice"}, {"column": "name"}]}),
        "asked": ("flow.sql", {"query": "select id, thrice, name, array(id, thrice) as both from input"}),
        "each": ("flow.flat_map", {"column": "both", "output": "one"}),
        "ways": ("flow.split", {"branches": [{"name": "small", "condition": "id < 100"}]}),
        "text": ("flow.format", {"format": "json", "output": "text"}),
        "read": (
            "flow.parse",
            {"column": "text", "format": "json", "columns": [{"name": "id", "type": "long"}, {"name": "one", "type": "long"}]},
        ),
        "out": sink(given),
    }
    edges = "in>all, beside>all, all>keep, keep>sampled, sampled>add, add>masked, masked>lines, lines>rules, rules>chosen, chosen>asked"
    plan = planned(bench, topics.server, nodes, f"{edges}, asked>each, each>ways, ways.small>text, text>read, read>out")
    topics.send_ids(taken, range(6))
    topics.send_ids(other, range(6, 12))
    heard = stopped(bench, plan, lambda heard: heard.rows_in() >= 12)
    rows = topics.wait_for(given, lambda rows: len(rows) >= 8, "what came through")
    assert sorted((row["id"], row["one"]) for row in rows) == [(number, number * way) for number in (0, 2, 4, 6) for way in (1, 3)]
    assert {node: heard.rows(node) for node in ("all", "keep", "rules", "each", "out")} == {
        "all": 12,
        "keep": 6,
        "rules": 4,
        "each": 8,
        "out": 8,
    }


@pytest.mark.slow
def test_sinks_have_a_query_each_and_rejected_rows_are_kept(bench: Bench, topics: Topics) -> None:
    taken, good, bad = topics.new(), topics.new(), topics.new()
    flows = {"text": ("flow.compute_columns", {"columns": [{"name": "n", "expression": "id + 1"}]})}
    nodes: Nodes = {"in": source(taken), **flows, "out": sink(good, id_columns=["id"]), "errors": sink(bad)}
    plan = planned(bench, topics.server, nodes, "in>text, text>out, in.errors>errors")
    topics.send(taken, "no json", *(json.dumps({"id": number}) for number in range(10)))
    heard = stopped(bench, plan, lambda heard: {event.query for event in heard.committed()} == {"out", "errors"})
    assert sorted(row["n"] for row in topics.wait_for(good, lambda rows: len(rows) == 10, "the good")) == list(range(1, 11))
    (row,) = topics.wait_for(bad, bool, "the bad one")
    assert "no json" in row["rejected_reason"]
    assert (heard.rows("in"), heard.rows("in", "rejected"), heard.rows("out"), heard.rows("errors")) == (10, 1, 10, 1)

    alone = planned(bench, topics.server, {"in": source(taken), "out": sink(topics.new())}, "in>out")
    kept = stopped(bench, alone, lambda heard: bool(heard.of(BatchCommitted)))
    (told,) = kept.of(RowsRejected)
    assert (told.node_id, told.total, "no json" in told.rows[0]["row"]) == ("in", 1, True)

    failing = replace(alone, generation=str(uuid4()), settings=replace(alone.settings, rejected_rows="fail"))
    failing = replace(failing, locations=replace(failing.locations, live=bench.root / "live" / failing.generation))
    run, _ = bench.run(failing)
    with pytest.raises(ExecutionFailure, match=r'^"In": a row was rejected: .*no json') as failed:
        run.wait(60)
    assert (failed.value.node_id, failed.value.permanent) == ("in", True)


@pytest.mark.slow
def test_a_checkpoint_taken_while_rows_run_through_is_whole_and_gone_on_from(bench: Bench, topics: Topics, tmp_path: Path) -> None:
    plan, taken, given = copying(bench, topics)
    topics.send_ids(taken, range(30))
    run, heard = bench.run(plan)
    heard.wait_for(BatchCommitted)
    batch = heard.committed()[0].batch_id
    query_cut(plan.locations.live / "out", batch, tmp_path / "cut", real_copy=True, digests={})
    topics.send_ids(taken, range(30, 60))
    topics.wait_for(given, lambda rows: len(rows) >= 60, "all")
    run.interrupt()
    run.wait(30)
    assert cut_verify(tmp_path / "cut") == []
    restored = replace(plan, generation="0f9b1c52-0000-4000-8000-000000000002")
    restored = replace(restored, locations=replace(plan.locations, live=bench.root / "live" / restored.generation))
    cut_restore(tmp_path / "cut", restored.locations.live / "out")
    stopped(bench, restored, lambda heard: heard.rows_in() >= 30)
    rows = topics.wait_for(given, lambda rows: len(rows) >= 90, "those behind the checkpoint once more")
    assert Counter(row["id"] for row in rows) == Counter([*range(60), *range(30, 60)])


def test_partitions_that_would_find_no_task_are_refused(bench: Bench, topics: Topics) -> None:
    wide = topics.new(partitions=3)
    plan = planned(bench, topics.server, {"in": source(wide), "out": sink(topics.new())}, "in>out")
    run, _ = bench.run(plan)
    with pytest.raises(ExecutionFailure, match="at least 3 here, and Spark runs 2 at a time; read fewer partitions") as failed:
        run.wait(60)
    assert (failed.value.node_id, failed.value.permanent, failed.value.kind) == ("in", True, "user")
    fewer = planned(bench, topics.server, {"in": source(wide, partitions="0, 2"), "out": sink(topics.new())}, "in>out")
    topics.send_ids(wide, range(60))
    assert stopped(bench, fewer, lambda heard: bool(heard.committed())).rows_in() < 60


@pytest.mark.slow
def test_a_stream_without_rows_ends_its_batches_and_stops_like_any_other(bench: Bench, topics: Topics) -> None:
    plan, _, _ = copying(bench, topics)
    heard = stopped(bench, plan, lambda heard: bool(heard.of(QueryStarted)))
    again = stopped(bench, replace(plan, attempt=2), lambda heard: bool(heard.committed()))
    assert again.rows_in() == 0
    assert again.committed()[-1].batch_id == last_committed(plan.locations.live / "out") > heard.committed()[-1].batch_id


@pytest.mark.slow
def test_a_message_that_the_topic_does_not_take_is_told_of_at_the_sink(bench: Bench, topics: Topics) -> None:
    plan, taken, _ = copying(bench, topics)
    small = {"servers": topics.server.bootstrap, "options": "max.request.size=2000"}
    plan = replace(plan, connections={"main": replace(plan.connections["main"], config=small)})
    topics.send(taken, json.dumps({"id": 1, "name": "x" * 5000}))
    run, _ = bench.run(plan)
    with pytest.raises(ExecutionFailure, match=r'^"Out": writing kafka "main": a message is too large') as failed:
        run.wait(60)
    assert (failed.value.node_id, failed.value.permanent) == ("out", True)
