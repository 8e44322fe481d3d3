"""Offsets of a real topic that a person sets, and the rows that are read again because of them."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from django.contrib.auth.models import User
from django.test import Client

from checkpoints.models import Checkpoint
from jobs.models import Connection, Execution, Job, Project
from jobs.services.executions import checkpoint_request, execution_cancel
from jobs.services.jobs import job_create
from tests.checkpoints.test_checkpoint_api import send, signed_in
from tests.driver.conftest import status_reached
from tests.driver.worker import Worker
from tests.servers.kafka import KafkaServer
from tests.servers.waiting import wait_until

pytestmark = [
    pytest.mark.processes,
    pytest.mark.spark,
    pytest.mark.server,
    pytest.mark.slow,
    pytest.mark.one_database,
    pytest.mark.timeout(600),
]

TOPIC = "positions"
EARLY, LATE = 1_700_000_000_000, 1_700_000_600_000
START_OF_LATE = "2023-11-14T22:20:00Z"


def filled(server: KafkaServer) -> None:
    """Ids 0 to 99, even ones in partition 0: 60 with an early time, then 40 with a late one."""
    server.topic_create(TOPIC, partitions=2)
    producer = Producer({"bootstrap.servers": server.bootstrap})
    for number in range(100):
        time = EARLY if number < 60 else LATE
        producer.produce(TOPIC, json.dumps({"id": number}), partition=number % 2, timestamp=time + number)
    assert producer.flush(60) == 0


@pytest.fixture
def job(user: User, kafka_server: KafkaServer, data: Path) -> Job:
    filled(kafka_server)
    project = Project.objects.get(slug="default")
    Connection.objects.create(project=project, name="main", kind="kafka", config={"servers": kafka_server.bootstrap})
    Connection.objects.create(project=project, name="target", kind="sqlite", config={"path": str(data / "target.sqlite3")})
    columns = [{"name": "id", "type": "long"}]
    source = {"connection": "main", "topic": TOPIC, "columns": columns, "group_id": "positioned", "start": "earliest"}
    document = {
        "schema_version": 1,
        "name": TOPIC,
        "type": "STREAMING",
        "nodes": {
            "orders": {"type": "source.kafka", "name": "Orders", "config": source},
            "out": {"type": "sink.jdbc", "name": "Out", "config": {"connection": "target", "table": "rows"}},
        },
        "edges": {"e1": {"from": ["orders", "out"], "to": ["out", "in"]}},
        "settings": {"trigger_interval": "200ms", "parallelism": 1, "checkpoint_interval": "0s"},
    }
    return job_create(user=user, document=document)


def rows(data: Path) -> Counter[int]:
    with sqlite3.connect(data / "target.sqlite3", timeout=20) as target:
        try:
            return Counter(row[0] for row in target.execute("SELECT id FROM rows"))
        except sqlite3.OperationalError:
            return Counter()


def cancelled(execution: Execution, user: User) -> None:
    execution_cancel(execution=status_reached(execution, "RUNNING"), user=user)
    status_reached(execution, "CANCELLED")


def asked(client: Client, checkpoint: Checkpoint, wanted: dict[str, Any], expected: int = 200, **how: Any) -> Any:
    return send(client, "POST", f"/api/checkpoints/{checkpoint.pk}/positions", {"sources": {"orders": wanted}, **how}, expected=expected)


def test_rows_are_read_again_from_the_offsets_that_were_set(
    worker: Worker,
    kafka_server: KafkaServer,
    job: Job,
    data: Path,
    user: User,
    start: Callable[..., Execution],
    settings: Any,
) -> None:
    settings.DATA_DIR, settings.CHECKPOINT_ROOT = data, data / "checkpoints"
    client = signed_in(user)
    execution = start(job)
    wait_until(lambda: rows(data).total() == 100, seconds=150, what="all rows")
    checkpoint_request(execution=status_reached(execution, "RUNNING"), user=user, savepoint=True)
    wait_until(lambda: Checkpoint.objects.filter(status="COMPLETED").exists(), seconds=60, what="a savepoint")
    cancelled(execution, user)
    checkpoint = Checkpoint.objects.get(is_savepoint=True)

    after = {way: asked(client, checkpoint, {"to": way})["sources"][0]["after"] for way in ("earliest", "latest")}
    assert after == {"earliest": {TOPIC: {"0": 0, "1": 0}}, "latest": {TOPIC: {"0": 50, "1": 50}}}
    by_time = asked(client, checkpoint, {"to": "time", "time": START_OF_LATE})["sources"][0]
    assert (by_time["before"], by_time["after"]) == ({TOPIC: {"0": 50, "1": 50}}, {TOPIC: {"0": 30, "1": 30}})
    later = asked(client, checkpoint, {"to": "time", "time": "2100-01-01"})["sources"][0]
    assert later["after"] == {TOPIC: {"0": 50, "1": 50}}, "nothing is that late: behind the newest"
    wrong = [
        ({TOPIC: {"0": 51}}, f"{TOPIC}/0 has messages from 0 to before 50: there is no 51"),
        ({TOPIC: {"2": 0}}, f"the checkpoint has no position in {TOPIC}/2"),
        ({"others": {"0": 0}}, "the checkpoint has no position in others/0"),
        ({TOPIC: 5}, 'offsets are written as {"topic": {"0": 1200}}'),
    ]
    for values, words in wrong:
        assert words in asked(client, checkpoint, {"to": "values", "values": values}, expected=422)["error"]["message"]
    assert "no such time" in asked(client, checkpoint, {"to": "time", "time": "noon"}, expected=422)["error"]["message"]

    edited = asked(client, checkpoint, {"to": "values", "values": {TOPIC: {"0": 40}}}, dry_run=False)["checkpoint"]
    assert edited["state_data"]["source_state"]["kafka_offsets"] == {TOPIC: {"0": 40, "1": 50}}
    started = send(client, "POST", f"/api/checkpoints/{edited['id']}/restore", {}, expected=202)
    again = Execution.objects.get(execution_id=started["execution_id"])
    wait_until(lambda: rows(data).total() == 110, seconds=150, what="ten rows again")
    wait_until(
        lambda: kafka_server.group_offsets("positioned") == {(TOPIC, 0): 40, (TOPIC, 1): 50}, seconds=30, what="the group where it was set"
    )
    cancelled(again, user)
    assert {number for number, times in rows(data).items() if times == 2} == set(range(80, 100, 2))
    assert {number for number, times in rows(data).items() if times == 1} == set(range(100)) - set(range(80, 100, 2))
