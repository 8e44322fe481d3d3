"""At which node a failure is told whose text fits several, and what is said of files that are no node's."""

import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.engine import awaiting
from jobs.engine.events import Waiting
from jobs.engine.failure import AtNode, ExecutionFailure, failure_of
from jobs.engine.plan import Plan
from jobs.engine.steps import Steps
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import Bench, Heard, Nodes, document
from tests.servers.waiting import wait_until

COLUMNS = [{"name": "id", "type": "long"}]
TOPICS: Nodes = {
    "orders": ("source.kafka", {"connection": "main", "topic": "orders", "columns": COLUMNS}),
    "clicks": ("source.kafka", {"connection": "other", "topic": "clicks, views", "columns": COLUMNS}),
    "all": ("flow.union", {}),
    "out": ("sink.kafka", {"connection": "third", "topic": "out"}),
}
FILES: Nodes = {"files": ("source.file", {"path": "in", "columns": COLUMNS}), "out": TOPICS["out"]}


def planned(folder: Path, nodes: Nodes, edges: str) -> Plan:
    nobody: Any = None
    return Bench(nobody, folder).plan(document(nodes, edges, type="STREAMING"))


def told(plan: Plan, text: str, away: frozenset[str] = frozenset()) -> ExecutionFailure:
    """Of what comes up while the sink writes."""
    return failure_of(AtNode("out", RuntimeError(text)), plan, away)


@pytest.mark.parametrize(
    ("text", "node_id"),
    [
        ("[KAFKA_DATA_LOSS] Some data may have been lost.\nReason: Partitions Set(clicks-1) have been deleted.\n", "clicks"),
        ("kafka: Partition orders-0's offset was changed from 5 to 3, some data may have been missed", "orders"),
        (
            "org.apache.kafka.clients.consumer.OffsetOutOfRangeException: out of range for partition orders-0",
            "orders",
        ),
        ("org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [views]", "clicks"),
        ("org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [out]", "out"),
        ("org.apache.kafka.common.errors.TimeoutException: Topic out not present in metadata after 60000 ms.", "out"),
        ("org.apache.kafka.common.errors.RecordTooLargeException: The message is 9 bytes", "out"),
    ],
)
def test_of_several_nodes_of_a_cluster_the_one_whose_topic_is_named_is_told(tmp_path: Path, text: str, node_id: str) -> None:
    found = told(planned(tmp_path, TOPICS, "orders>all, clicks>all, all>out"), text)
    connection = {"orders": 'reading kafka "main"', "clicks": 'reading kafka "other"', "out": 'writing kafka "third"'}[node_id]
    assert found.node_id == node_id
    assert connection in found.message


def test_where_no_broker_answers_the_node_that_is_away_is_told(tmp_path: Path) -> None:
    plan = planned(tmp_path, TOPICS, "orders>all, clicks>all, all>out")
    text = "org.apache.kafka.common.errors.TimeoutException: Timed out waiting for a node assignment"
    assert told(plan, text).node_id == "out"
    assert told(plan, text, frozenset({"clicks"})).node_id == "clicks"


def test_what_is_said_of_one_of_two_delta_tables_is_told_at_that_one(tmp_path: Path) -> None:
    nodes: Nodes = {"table": ("source.delta", {"path": "lake/a"}), "out": ("sink.delta", {"path": "lake/b"})}
    plan = planned(tmp_path, nodes, "table>out")
    assert told(plan, "[DELTA_SOURCE_IGNORE_DELETE] Detected deleted data").node_id == "table"
    assert told(plan, f"[DELTA_FILE_NOT_FOUND] {tmp_path}/lake/a/part-1.parquet").node_id == "table"
    assert told(plan, f"[DELTA_FILE_NOT_FOUND] {tmp_path}/lake/b/part-1.parquet").node_id == "out"


def test_a_file_is_the_sources_only_below_its_own_path(tmp_path: Path) -> None:
    plan = planned(tmp_path, FILES, "files>out")
    root = plan.limits.file_roots[0].resolve()
    gone = "java.io.FileNotFoundException: File file:{} does not exist"
    assert told(plan, gone.format(root / "in" / "1.csv")).node_id == "files"
    elsewhere = told(plan, gone.format(root / "inner" / "1.csv"))
    assert (elsewhere.node_id, elsewhere.kind) == ("out", "external")
    assert told(plan, f"java.io.FileNotFoundException: {root}/in/1.csv (Permission denied)").node_id == "files"


def test_files_of_our_own_and_those_that_do_not_open_are_told_as_that(tmp_path: Path) -> None:
    plan = planned(tmp_path, TOPICS, "orders>all, clicks>all, all>out")
    plan = replace(plan, steps=tuple(step for step in plan.steps if step.node_id != "clicks"))  # one source
    state = plan.locations.live.resolve() / "out/state/0/1/12.zip"
    lost = told(plan, f"[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error\njava.io.FileNotFoundException: File {state} does not exist")
    assert (lost.node_id, lost.kind) == ("", "system")
    assert lost.message.startswith(f"the file {state}, which Pipeline Web keeps for itself, is gone; ")
    shuffled = "/tmp/blockmgr-0a1b2c3d-0000-4000-8000-000000000001/0c/shuffle_1"
    assert told(plan, f"java.io.FileNotFoundException: {shuffled} (No such file or directory)").kind == "system"
    many = told(plan, f"java.io.FileNotFoundException: {shuffled} (Too many open files)")
    assert "too many files are open at once" in many.message
    assert many.node_id == "out"
    denied = told(plan, "java.io.FileNotFoundException: /data/out/part-1 (Permission denied)")
    assert denied.message.startswith('"Out": the file /data/out/part-1 may not be opened; ')


def test_of_two_systems_that_are_away_one_is_told_again_once_the_other_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaiting, "_LOOK_SECONDS", 0.05)
    plan = planned(tmp_path, TOPICS, "orders>all, clicks>all, all>out")
    with socket.socket() as one, socket.socket() as other:
        places = {"main": one, "other": other, "third": other}
        for line in (one, other):
            line.bind(("127.0.0.1", 0))  # and refuses until it listens
        away = {name: ConnectionSettings(name, "kafka", {"servers": f"127.0.0.1:{line.getsockname()[1]}"}) for name, line in places.items()}
        heard = Heard()
        with awaiting.awaited(Steps(replace(plan, connections=away)), heard.report):
            last = heard.wait_for(Waiting, 2)[-1]
            places[last.what.removeprefix("kafka ")].listen()
            wait_until(lambda: heard.of(Waiting)[-1].what not in ("", last.what), seconds=30, what="the other one")
