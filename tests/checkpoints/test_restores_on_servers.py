"""What a job that goes back leaves in real servers, as the documents promise: brokers, a webhook of this product, HBase."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from pyspark.sql import SparkSession

from jobs.models import Connection, Job, Project
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.spool import Spool, spool_path
from jobs.services.jobs import job_create
from jobs.services.secrets import secret_encrypt
from tests.checkpoints.readers import Came, Reader, mqtt_reader, rabbitmq_reader, rocketmq_reader
from tests.checkpoints.restores import SHAPES, SINKS, Restores, Shape
from tests.engine.graphs import Bench
from tests.nodes.test_hbase import Table
from tests.servers.hbase import HbaseServer
from tests.servers.waiting import wait_until

#: The first test of a server also starts it.
pytestmark = [pytest.mark.spark, pytest.mark.server, pytest.mark.slow, pytest.mark.timeout(300)]

BROKERS: dict[str, tuple[str, Callable[[Any], AbstractContextManager[Reader]]]] = {
    "rabbitmq": ("rabbitmq_server", rabbitmq_reader),
    "rocketmq": ("rocketmq_server", rocketmq_reader),
    "mqtt": ("mosquitto_server", mqtt_reader),
}
KEYS = ["id", "at"]
#: Back to the middle, leaving everything; then to the first, rolling back what can be.
JOURNEY = ((1, False), (0, True))


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)


def ids(rows: Iterable[str | bytes]) -> Counter[int]:
    return Counter(int(json.loads(row)["id"]) for row in rows)


def arrived(reader: Reader, count: int) -> list[Came]:
    wait_until(lambda: len(reader.came()) >= count, seconds=30, what=f"{count} messages")
    return reader.came()


@pytest.mark.parametrize("broker", BROKERS)
def test_messages_come_again_with_their_ids(bench: Bench, request: pytest.FixtureRequest, broker: str) -> None:
    """A reader that takes each id once has neither more nor less than before, and every repeat is as it came first."""
    server, opened = BROKERS[broker]
    with opened(request.getfixturevalue(server)) as reader:
        kind, form = reader.sink
        sinks = {"lake": SINKS["lake"], "sent": (kind, form | {"id_columns": KEYS})}
        restores = Restores(bench, SHAPES["stateless"], sinks, connections={"broker": reader.connection})
        restores.first_run()
        reference = ids(restores.contents()["lake"])
        first = set(arrived(reader, reference.total()))
        assert len({told for told, _ in first}) == len(first) == len(reference), "an id for each row, a row for each id"

        expected = reference.copy()
        for batch, roll_back in JOURNEY:
            behind = reference - ids(restores.rows_upto(batch))
            assert behind
            restores.restored(batch, roll_back=roll_back)
            expected += behind
            came = arrived(reader, expected.total())
            assert ids(value for _, value in came) == expected
            assert set(came) == first, "the same once repeats are dropped by their id"
        assert restores.rolled_back()["sent"] == {"roll_back": "repeated", "unit": "rows", "count": None, "hindrance": "sent"}


@pytest.fixture
def receiving(transactional_db: None, settings: Any, tmp_path: Path) -> Job:
    """A job of this product with two webhooks, "keyed" and "bare"."""
    settings.DATA_DIR = tmp_path / "receiver"
    project, _ = Project.objects.get_or_create(slug="default", defaults={"title": "Default"})
    Connection.objects.create(project=project, name="shop", kind="webhook", config={}, secrets=secret_encrypt({"secret": "shared"}))
    hook = {"type": "source.webhook", "config": {"connection": "shop", "columns": [{"name": "id", "type": "long"}]}}
    nodes = {"keyed": hook, "bare": hook, "out": {"type": "sink.print", "config": {}}, "more": {"type": "sink.print", "config": {}}}
    edges = {"e1": {"from": ["keyed", "out"], "to": ["out", "in"]}, "e2": {"from": ["bare", "out"], "to": ["more", "in"]}}
    document = {"schema_version": 1, "name": "receiving", "type": "STREAMING", "nodes": nodes, "edges": edges}
    return job_create(user=User.objects.create_superuser("olga", password="x" * 12), document=document)


@pytest.mark.one_database
def test_a_webhook_keeps_what_is_posted_again_once_where_keys_are_named(
    bench: Bench, receiving: Job, live_server: Any, settings: Any
) -> None:
    def kept(hook: str) -> Counter[int]:
        spool = Spool(spool_path(settings.DATA_DIR, str(receiving.job_uid), hook))
        return ids(message.value or b"" for message in spool.read(0, spool.newest()))

    address = urlsplit(live_server.url)
    addresses = {hook: f"{live_server.url}/hooks/{receiving.job_uid}/{hook}" for hook in ("keyed", "bare")}
    connections = {
        hook: ConnectionSettings(hook, "webhook_receiver", {"url": url}, {"secret": "shared"}) for hook, url in addresses.items()
    }
    posts: dict[str, dict[str, Any]] = {"keyed": {"connection": "keyed", "keys": KEYS}, "bare": {"connection": "bare"}}
    sinks = {"lake": SINKS["lake"], **{hook: ("sink.webhook", form) for hook, form in posts.items()}}
    hosts = (f"{address.hostname}:{address.port}",)
    restores = Restores(bench, SHAPES["stateless"], sinks, connections=connections, hosts=hosts)
    restores.first_run()
    reference = ids(restores.contents()["lake"])
    once, expected = Counter(dict.fromkeys(reference, 1)), reference.copy()
    assert (kept("keyed"), kept("bare")) == (once, reference)
    for batch, roll_back in JOURNEY:
        behind = reference - ids(restores.rows_upto(batch))
        assert behind
        restores.restored(batch, roll_back=roll_back)
        expected += behind
        assert restores.told.rows("keyed") == behind.total(), "posted again"
        assert (kept("keyed"), kept("bare")) == (once, expected)


#: Rows that later ones replace, and some that later ones delete: keys 2 and 7 come again after that, 1 and 4 stay away.
_REPLACING = Shape(("flow.compute_columns", {"columns": [{"name": "gone", "expression": "id % 5 = 2"}]}), ("id",))


def test_hbase_has_the_same_rows_at_the_end_and_further_versions(bench: Bench, hbase_server: HbaseServer) -> None:
    table = Table(hbase_server.settings, f"restores-{uuid4().hex[:8]}")
    table.make("cf")
    form = {"connection": "main", "table": table.name, "row_key": "id % 8", "family": "cf", "delete_flag": "gone"}
    restores = Restores(bench, _REPLACING, {"table": ("sink.hbase", form)}, connections={"main": table.settings})

    def rows() -> dict[bytes, dict[bytes, bytes]]:
        return {key: table.row(key) for key in table.row_keys()}

    def versions() -> list[bytes]:
        return [value for _, value in table.versions(b"3", b"cf:id")]

    restores.first_run()
    reference = rows()
    assert {key: row[b"cf:id"] for key, row in reference.items()} == {
        b"0": b"16", b"2": b"10", b"3": b"11", b"5": b"13", b"6": b"6", b"7": b"15",
    }  # fmt: skip
    assert versions() == [b"11", b"3"]
    for batch, roll_back in JOURNEY:
        restores.restored(batch, roll_back=roll_back)
        assert restores.told.rows("table") > 0
        assert rows() == reference
    assert versions() == [b"11", b"11", b"3"]
    assert restores.rolled_back()["table"]["roll_back"] == "replaced"
