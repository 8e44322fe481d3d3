"""Jobs by what they keep, into sinks of several kinds, run to their end; then gone back to a batch of that run, and run again."""

from __future__ import annotations

import json
import os
import sqlite3
import uuid
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from checkpoints.job_cut import JobCut, Phases, job_queries, run_facts
from checkpoints.ledger import Ticket
from checkpoints.spark_folder import last_committed
from checkpoints.storage import checkpoint_restore
from jobs.engine.events import Noticed
from jobs.engine.plan import Plan, RollBackPlan
from jobs.nodes.base import ConnectionSettings
from tests.engine.graphs import REGISTRY, Bench, Heard, document
from tests.servers.kafka import KafkaServer

FILES, ROWS_A_FILE = 3, 6
START = datetime(2024, 3, 1, tzinfo=UTC)
_COLUMNS = [{"name": "key", "type": "long"}, {"name": "at", "type": "timestamp"}, {"name": "id", "type": "long"}]
COUNTED = """
def process(key, rows, state, timers):
    for row in rows:
        state.ids.put(row["id"], state.ids.get(row["id"], 0) + 1)
        state.total.set(state.total.get(0) + row["id"])
        yield {"id": row["id"], "times": state.ids.get(row["id"], 0), "total": state.total.get(0)}
"""
_STATE = [{"name": "ids", "kind": "map", "key_type": "long", "type": "long"}, {"name": "total", "type": "long"}]
_OUT = [{"name": name, "type": "long"} for name in ("id", "times", "total")]
REDUCED = """
def start():
    return {"ids": [], "times": {}}


def add(value, row):
    value["ids"].append(row["id"])
    value["times"][row["id"]] = value["times"].get(row["id"], 0) + 1
    return value


def result(value):
    return {"ids": ",".join(map(str, sorted(value["ids"]))), "most": max(value["times"].values())}
"""
_REDUCED_OUT = [{"name": "ids"}, {"name": "most", "type": "long"}]
_BY_FIVE = {"time_column": "at", "window": "5 min", "group_by": ["key"], "emit": "close"}
CLOSED: Mapping[str, tuple[str, dict[str, Any]]] = {"closed": ("sink.file", {"path": "closed", "format": "json"})}


@dataclass(frozen=True)
class Shape:
    """What stands between the sources and the sinks. `keys`: the columns that tell its rows apart.

    `port`: which port the sinks read; of another one than `out` those of `beside` read that. `reach`, `again`: from so many files
    before each file repeats so many rows.
    """

    node: tuple[str, dict[str, Any]]
    keys: tuple[str, ...]
    joins: bool = False
    port: str = "out"
    beside: Mapping[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    reach: int = 1
    again: int = 1


SHAPES: Mapping[str, Shape] = {
    "stateless": Shape(("flow.filter_rows", {"condition": "id % 4 <> 1"}), ("id", "at")),
    "window": Shape(("flow.window_aggregate", {**_BY_FIVE, "aggregates": [{"name": "n"}]}), ("window_start", "key")),
    "reduce": Shape(("flow.window_reduce", {**_BY_FIVE, "code": REDUCED, "columns": _REDUCED_OUT}), ("window_start", "key")),
    "late": Shape(
        ("flow.window_aggregate", {**_BY_FIVE, "aggregates": [{"name": "n"}]}), ("id", "at"), port="late", beside=CLOSED, reach=2, again=4
    ),
    "mail": Shape(
        (
            "flow.for_each_mail",
            {"connection": "office", "to": "ops@example.com", "subject": "${id}", "text": "No. ${id}", "mails_per_minute": 100_000},
        ),
        ("id", "at"),
    ),
    "deduplicate": Shape(("flow.deduplicate", {"keys": ["id"], "time_column": "at", "within": "4 h"}), ("id",)),
    "join": Shape(
        ("flow.join", {"keys": [{"left": "id"}], "left_time": "at", "right_time": "at", "before": "0 s", "after": "0 s", "late": "4 h"}),
        ("id",),
        joins=True,
    ),
    "stateful": Shape(
        ("flow.stateful", {"keys": ["key"], "time_column": "at", "state": _STATE, "columns": _OUT, "code": COUNTED}), ("id", "times")
    ),
}
_TABLE = ("sink.jdbc", {"connection": "db", "table": "appended"})
SINKS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "lake": ("sink.file", {"path": "lake", "format": "json"}),
    "appended": _TABLE,
    "keyed": ("sink.jdbc", {"connection": "db", "table": "keyed", "mode": "upsert"}),
    "topic": ("sink.kafka", {"connection": "main"}),
}
#: Sinks that keep what they wrote, beside those that a restore leaves as if it had not been.
ROLLED_BACK, REPLACED, SENT = ("lake", "appended", *CLOSED), ("keyed",), ("topic",)


@dataclass
class Restores:
    """One job, its runs one after the other in generations of their own, into the same targets."""

    bench: Bench
    shape: Shape
    sinks: Mapping[str, tuple[str, dict[str, Any]]]
    kafka: KafkaServer | None = None
    connections: Mapping[str, ConnectionSettings] = field(default_factory=dict)
    hosts: tuple[str, ...] = ()
    generations: list[str] = field(default_factory=list)
    told: Heard = field(default_factory=Heard)

    def __post_init__(self) -> None:
        self.sinks = {**self.sinks, **self.shape.beside}
        self._topic = f"restores-{uuid.uuid4().hex[:12]}"
        if self.kafka is not None:
            self.kafka.topic_create(self._topic)
        self._plan = self._planned(str(uuid.uuid4()), 1)

    def first_run(self) -> None:
        """Uninterrupted: what all others are measured against."""
        _feed(self.bench, "orders", ids_of_files(self.shape))
        if self.shape.joins:
            _feed(self.bench, "payments", ids_of_files(self.shape, late=1))
        self._run(self._plan)

    @property
    def query(self) -> str:
        (key,) = job_queries(self._plan, registry=REGISTRY)
        return key

    @property
    def newest(self) -> int:
        return last_committed(job_queries(self._plan, registry=REGISTRY)[self.query].folder)

    def restored(self, batch: int, *, roll_back: bool, savepoint: bool = False) -> None:
        """From a checkpoint behind `batch` of the first run to the end of the input."""
        folder = self.bench.root / "checkpoints" / f"{len(self.generations)}"
        queries = job_queries(self._plan, registry=REGISTRY)
        cut = JobCut(run_facts(self._plan, execution_id="first", version=1))
        cut.take(Ticket(1, folder, 1), queries, {self.query: batch}, Phases(60), savepoint=savepoint)
        generation = str(uuid.uuid4())
        wanted = RollBackPlan(self._plan.generation, dict.fromkeys(self.sinks, batch), tuple(self.generations[1:]))
        again = self._planned(generation, len(self.generations) + 1)
        checkpoint_restore(folder, again.locations.live)
        self._run(replace(again, fresh=False, roll_back=wanted if roll_back else None))

    def rolled_back(self) -> dict[str, Any]:
        """Sink → what the last run told of its roll-back."""
        return {event.node_id: event.detail for event in self.told.of(Noticed) if "roll_back" in event.detail}

    def contents(self) -> dict[str, list[str]]:
        """Sink → its rows as texts, in order; of messages with one id the first."""
        readers = {"sink.file": self._files, "sink.jdbc": self._table, "sink.kafka": self._messages, "sink.delta": self._delta}
        return {sink: sorted(readers[kind](config)) for sink, (kind, config) in self.sinks.items() if kind in readers}

    def rows_upto(self, batch: int) -> list[str]:
        """What the first run wrote into the files of sink `lake` up to a batch."""
        begins = f"part-{self.generations[0].replace('-', '')[:12]}-lake-"
        names = [file for file in (self.bench.files / "lake").glob(f"{begins}*") if int(file.name[len(begins) :][:8]) <= batch]
        return [line for file in names for line in file.read_text().splitlines()]

    def _planned(self, generation: str, attempt: int) -> Plan:
        shape = self.shape
        nodes: dict[str, tuple[str, dict[str, Any]]] = {"orders": _source("orders"), "kept": shape.node}
        edges = ["orders>kept.left", "payments>kept.right"] if shape.joins else ["orders>kept"]
        if shape.joins:
            nodes["payments"] = _source("payments")
        for sink, (kind, config) in self.sinks.items():
            nodes[sink] = (kind, config | self._keyed(kind, config))
            edges.append(f"kept>{sink}" if sink in shape.beside else f"kept.{shape.port}>{sink}")
        drawn = document(nodes, ", ".join(edges), type="STREAMING", settings={"parallelism": 1})
        plan = self.bench.plan(drawn, generation=generation, attempt=attempt)
        database = ConnectionSettings("db", "sqlite", {"path": "restores.sqlite3"})
        servers = {"servers": self.kafka.bootstrap} if self.kafka is not None else {}
        connections = {"db": database, "main": ConnectionSettings("main", "kafka", servers), **self.connections}
        limits = replace(plan.limits, http_allowed_hosts=self.hosts)
        return replace(plan, connections=connections, limits=limits, until_drained=True)

    def _keyed(self, kind: str, config: Mapping[str, Any]) -> dict[str, Any]:
        if kind == "sink.kafka":
            return {"topic": self._topic, "id_columns": list(self.shape.keys)}
        return {"keys": list(self.shape.keys)} if config.get("mode") == "upsert" or kind == "sink.http_api" else {}

    def _run(self, plan: Plan) -> None:
        self.generations.append(plan.generation)
        run, self.told = self.bench.run(plan)
        assert run.wait(240) == "completed"

    def _files(self, config: Mapping[str, Any]) -> list[str]:
        files = (self.bench.files / config["path"]).glob("*.json")
        return [line for file in files for line in file.read_text().splitlines()]

    def _table(self, config: Mapping[str, Any]) -> list[str]:
        with closing(sqlite3.connect(self.bench.files / "restores.sqlite3", timeout=20)) as database:
            asked = database.execute(f"SELECT * FROM {config['table']}")
            names = [column[0] for column in asked.description]
            rows = [dict(zip(names, row, strict=True)) for row in asked]
        return [json.dumps({name: value for name, value in row.items() if not name.startswith("_")}) for row in rows]

    def _delta(self, config: Mapping[str, Any]) -> list[str]:
        rows = self.bench.spark.read.format("delta").load(str(self.bench.files / config["path"])).collect()
        return [json.dumps(row.asDict(), default=str) for row in rows]

    def _messages(self, config: Mapping[str, Any]) -> list[str]:
        """What a reader has that takes each message id once; the values of one id never differ."""
        found: dict[bytes, bytes] = {}
        for told, value in self.messages():
            assert found.setdefault(told, value) == value
        return [value.decode() for value in found.values()]

    def messages(self) -> list[tuple[bytes, bytes]]:
        """(message id, value) of every message in the topic."""
        assert self.kafka is not None
        consumer = Consumer({"bootstrap.servers": self.kafka.bootstrap, "group.id": uuid.uuid4().hex})
        place = TopicPartition(self._topic, 0, 0)
        _, end = consumer.get_watermark_offsets(place, timeout=30)
        consumer.assign([place])
        found: list[tuple[bytes, bytes]] = []
        while len(found) < end:
            message = consumer.poll(30)
            assert message is not None
            assert message.error() is None
            headers: Any = message.headers()
            value = message.value()
            assert value is not None
            found.append((dict(headers)["message-id"], bytes(value)))
        consumer.close()
        return found


def _source(folder: str) -> tuple[str, dict[str, Any]]:
    return "source.file", {"path": folder, "format": "json", "columns": _COLUMNS, "max_files_per_trigger": 1}


def ids_of_files(shape: Shape, late: int = 0) -> list[list[int]]:
    """Of each file: the ids of its rows, which are also the minutes at which they happened. Files are six minutes apart, and each
    repeats rows of one before.

    `late`: so many files later than its ids say.
    """
    found = []
    for number in range(FILES):
        first = max(0, number - late) * ROWS_A_FILE
        repeated = first - shape.reach * ROWS_A_FILE
        again = range(repeated, repeated + shape.again) if first and repeated >= 0 else ()
        found.append([*range(first, first + ROWS_A_FILE), *again])
    return found


def _feed(bench: Bench, folder: str, files: list[list[int]]) -> None:
    """Files in the order in which they are read."""
    target = bench.files / folder
    target.mkdir()
    for number, ids in enumerate(files):
        rows = [{"key": one % 3, "at": (START + timedelta(minutes=one)).isoformat(), "id": one} for one in ids]
        (target / f"{number}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        os.utime(target / f"{number}.json", (1_700_000_000 + number, 1_700_000_000 + number))
