"""A job that goes back to any of its checkpoints ends with what it would have ended with, sink by sink as the documents promise."""

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.nodes.base import ConnectionSettings
from tests.checkpoints.restore_references import ordered, references
from tests.checkpoints.restores import REPLACED, ROLLED_BACK, SENT, SHAPES, SINKS, Restores, ids_of_files
from tests.engine.graphs import Bench
from tests.nodes.api_server import api_server
from tests.servers.kafka import KafkaServer
from tests.servers.smtp import SmtpServer

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(400)]

POSITIONS = ("newest", "middle", "first")
#: What keeps state as "stateful" does, and what keeps none: mails have a test of their own.
LIKE_OTHERS = ("reduce", "mail")


@pytest.fixture
def bench(spark: SparkSession, tmp_path: Path) -> Bench:
    return Bench(spark, tmp_path)


@pytest.fixture
def mails() -> Iterator[SmtpServer]:
    with SmtpServer() as server:
        yield server


def office(server: SmtpServer) -> dict[str, ConnectionSettings]:
    return {"office": ConnectionSettings("office", "smtp", server.config())}


def batch_at(restores: Restores, position: str) -> int:
    return {"first": 0, "middle": restores.newest // 2, "newest": restores.newest}[position]


def gone_back(restores: Restores, position: str, *, savepoint: bool = False) -> None:
    """The newest first: what a roll-back removed cannot be gone forward to."""
    reference = restores.contents()
    batch = batch_at(restores, position)
    restores.restored(batch, roll_back=True, savepoint=savepoint)
    assert restores.contents() == reference
    told = restores.rolled_back()
    for sink in restores.sinks:
        expected = "removed" if sink in ROLLED_BACK else "replaced" if sink in REPLACED else "repeated"
        assert told[sink]["roll_back"] == expected
    removed = [told[sink]["count"] for sink in restores.sinks if sink in ROLLED_BACK]
    assert all(count > 0 for count in removed) == (position != "newest" or not removed)


def assert_first_run_is_right(restores: Restores, shape: str) -> None:
    for sink, expected in references(shape).items():
        if sink in restores.sinks:
            assert ordered([json.loads(row) for row in restores.contents()[sink]]) == ordered(expected), sink


@pytest.mark.server
@pytest.mark.parametrize("shape", [pytest.param(shape, marks=pytest.mark.faults if shape in LIKE_OTHERS else ()) for shape in SHAPES])
def test_a_restore_to_any_position_equals_the_run_that_was_never_restored(
    bench: Bench, kafka_server: KafkaServer, mails: SmtpServer, shape: str
) -> None:
    """All sinks beside one another, so that each pair of position, sink and shape is met."""
    restores = Restores(bench, SHAPES[shape], SINKS, kafka_server, connections=office(mails))
    restores.first_run()
    assert all(restores.contents().values())
    assert_first_run_is_right(restores, shape)
    sent = len(restores.messages())
    for position in POSITIONS:
        gone_back(restores, position, savepoint=position == "middle")
    assert len(restores.messages()) > sent, "messages come again, and readers tell them by their ids"


def test_mails_behind_a_checkpoint_are_sent_again_under_ids_of_their_own(bench: Bench, mails: SmtpServer) -> None:
    """Two sinks read the rows behind the mails, of which there is one for each row."""
    files = ids_of_files(SHAPES["mail"])
    restores = Restores(bench, SHAPES["mail"], {"lake": SINKS["lake"], "keyed": SINKS["keyed"]}, connections=office(mails))
    restores.first_run()
    expected = [one for ids in files for one in ids]
    assert [int(mail.message["Subject"]) for mail in mails.mails] == expected
    for position in POSITIONS:
        gone_back(restores, position)
        expected += [one for ids in files[batch_at(restores, position) + 1 :] for one in ids]
        assert [int(mail.message["Subject"]) for mail in mails.mails] == expected
    assert len({mail.message["Message-ID"] for mail in mails.mails}) == len(expected)


KEEPING: dict[str, tuple[str, dict[str, Any]]] = {
    "lake": SINKS["lake"],
    "appended": SINKS["appended"],
    "own": ("sink.jdbc", {"connection": "db", "table": "own"}),
    "added": ("sink.delta", {"path": "added"}),
    "keyed": SINKS["keyed"],
    "merged": ("sink.delta", {"path": "merged", "mode": "upsert"}),
    "api": ("sink.http_api", {"connection": "api", "idempotency_header": "Idempotency-Key"}),
}
ALL_APPEND, UPSERT = ("lake", "appended", "own", "added"), ("keyed", "merged")


def ids(contents: dict[str, list[str]], sink: str) -> Counter[int]:
    return Counter(int(json.loads(row)["id"]) for row in contents[sink])


def test_what_is_written_of_each_sink_holds(bench: Bench) -> None:
    """Without a roll-back what appends has rows behind the checkpoint twice; with one only where the documents say that it can."""
    with closing(sqlite3.connect(bench.files / "restores.sqlite3")) as database:
        database.execute("CREATE TABLE own (key bigint, at text, id bigint)")
    with api_server(lambda request: (200, {}, b"")) as server:
        connections = {"api": ConnectionSettings("api", "http_api", {"base_url": server.url})}
        restores = Restores(bench, SHAPES["stateless"], KEEPING, connections=connections, hosts=(server.host,))
        restores.first_run()
        reference = restores.contents()
        sent = {request.headers["Idempotency-Key"]: request.document for request in server.requests}
        assert len(server.requests) == len(reference["lake"])
        behind = ids(reference, "lake") - ids({"lake": restores.rows_upto(1)}, "lake")
        assert behind

        restores.restored(1, roll_back=False)
        assert restores.rolled_back() == {}
        repeated = restores.contents()
        for sink in ALL_APPEND:
            assert ids(repeated, sink) == ids(reference, sink) + behind, sink
        for sink in UPSERT:
            assert repeated[sink] == reference[sink]

        restores.restored(1, roll_back=True)
        after = restores.contents()
        assert {sink: told["roll_back"] + told["hindrance"] for sink, told in restores.rolled_back().items()} == {
            "lake": "removed",
            "appended": "removed",
            "own": "repeatedcolumns",
            "added": "repeateddelta",
            "keyed": "replaced",
            "merged": "replaced",
            "api": "repeatedsent",
        }
        for sink in ("lake", "appended", *UPSERT):
            assert after[sink] == reference[sink], sink
        for sink in ("own", "added"):
            assert ids(after, sink) == ids(reference, sink) + behind + behind, sink
        again = [(request.headers["Idempotency-Key"], request.document) for request in server.requests]
        assert len(again) == len(reference["lake"]) + 2 * behind.total()
        assert all(sent[told] == row for told, row in again), "equal after dropping repeats by their key"


@pytest.mark.faults
@pytest.mark.server
@pytest.mark.parametrize("sink", SINKS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("position", POSITIONS)
def test_a_restore_of_a_job_with_one_sink_equals_the_run_that_was_never_restored(
    bench: Bench, kafka_server: KafkaServer, mails: SmtpServer, shape: str, sink: str, position: str
) -> None:
    restores = Restores(bench, SHAPES[shape], {sink: SINKS[sink]}, kafka_server if sink in SENT else None, connections=office(mails))
    restores.first_run()
    assert_first_run_is_right(restores, shape)
    gone_back(restores, position)
