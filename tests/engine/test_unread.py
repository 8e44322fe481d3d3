"""Columns that come up in a source's system while it is read are told: the run goes on without them."""

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Producer

from jobs.engine import unread
from jobs.engine.events import Noticed
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.unread_columns import TellsUnread
from tests.engine.graphs import COLLECT, Bench, Heard, document
from tests.engine.kafka_numbers import reading
from tests.servers.kafka import KafkaServer
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark


@pytest.fixture(autouse=True)
def looks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The nodes that were looked at; the first look shows what was there before, and a slow machine takes it after the first rows."""
    asked, done = unread._asked, list[str]()

    def _asked(steps: Any, node_id: str, source: TellsUnread) -> str:
        words = asked(steps, node_id, source)
        done.append(node_id)
        return words

    monkeypatch.setattr(unread, "_asked", _asked)
    monkeypatch.setattr(unread, "LOOK_SECONDS", 0.2)
    return done


def told(heard: Heard, words: str) -> bool:
    with heard.changed:
        return heard.changed.wait_for(lambda: any(words in event.message for event in heard.of(Noticed)), 30)


def test_a_column_that_a_table_gets_while_it_is_read_is_told(bench: Bench, looks: list[str]) -> None:
    path = bench.files / "orders.sqlite3"
    with closing(sqlite3.connect(path)) as orders:
        orders.execute("CREATE TABLE orders (id INTEGER PRIMARY KEY)")
        orders.execute("INSERT INTO orders VALUES (1)")
        orders.commit()
    nodes = {"table": ("source.jdbc", {"connection": "orders", "table": "orders", "key_column": "id"}), "out": COLLECT}
    plan = bench.plan(document(nodes, "table>out", type="STREAMING"))
    plan = replace(plan, connections={"orders": ConnectionSettings("orders", "sqlite", {"path": str(path)})})
    run, heard = bench.run(plan)
    with heard.changed:
        assert heard.changed.wait_for(lambda: heard.rows_in() == 1, 60)
    wait_until(lambda: bool(looks), seconds=60, what="the first look")
    assert not heard.of(Noticed)
    with closing(sqlite3.connect(path)) as orders:
        orders.execute("ALTER TABLE orders ADD COLUMN note TEXT")
        orders.commit()
    assert told(heard, "columns came that are not read: note; stop and resume the job")
    run.stop()
    assert run.wait(30) == "stopped"


@pytest.mark.server
@pytest.mark.parametrize("columns", [[], [{"name": "id", "type": "long"}]], ids=["found", "listed"])
def test_a_field_that_messages_get_while_they_are_read_is_told(
    bench: Bench, kafka_server: KafkaServer, looks: list[str], columns: list[Any]
) -> None:
    topic = f"orders-{uuid4().hex[:8]}"
    kafka_server.topic_create(topic)
    producer = Producer({"bootstrap.servers": kafka_server.bootstrap})

    def send(**message: object) -> None:
        producer.produce(topic, json.dumps(message))
        assert producer.flush(30) == 0

    send(id=1, place="here")
    run, heard = bench.run(reading(bench, kafka_server, topic, columns=columns))
    with heard.changed:
        assert heard.changed.wait_for(lambda: heard.rows_in() == 1, 60)
    wait_until(lambda: bool(looks), seconds=60, what="the first look")
    send(id=2, place="here", note="new")
    assert told(heard, "the newest messages hold fields that are not read: note; list them")
    send(id=3, place="here", note="new", more="newer")
    assert told(heard, "are not read: more; list them"), "each is told once"
    run.stop()
    assert run.wait(30) == "stopped"


class _EverOther(TellsUnread):
    def __init__(self, *, new: bool) -> None:
        self.new, self.asked = new, 0

    def unread(self, context: Any) -> str:
        self.asked += 1
        return f"a field {self.asked}" if self.new else "a field"


def test_a_source_that_brings_ever_other_fields_is_told_of_a_few_times() -> None:
    restless, quiet = _EverOther(new=True), _EverOther(new=False)
    steps: Any = SimpleNamespace(
        types={"restless": restless, "quiet": quiet}, plan=SimpleNamespace(job_type="STREAMING"), context=lambda *asked: None
    )
    heard = Heard()
    with unread.unread_told(steps, heard.report):
        wait_until(lambda: quiet.asked > 8, seconds=60, what="many looks")
    assert restless.asked == 5
    assert [event.node_id for event in heard.of(Noticed)].count("restless") == 5
    assert [event.node_id for event in heard.of(Noticed)].count("quiet") == 1
