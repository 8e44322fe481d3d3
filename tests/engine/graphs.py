"""Documents by shape, and what it takes to run them on the test session."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from jobs.dag.document import DagDocument, parse_document
from jobs.engine.compiler import plan_compile, settings_resolve
from jobs.engine.events import BatchCommitted, BatchWritten, EngineEvent
from jobs.engine.plan import Locations, Plan
from jobs.engine.runner import Run
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from jobs.nodes.registry import NODE_TYPES, NodeRegistry

REGISTRY = NodeRegistry(
    {
        **NODE_TYPES,
        "sink.collect": "tests.engine.nodes:CollectSink",
        "sink.hang": "tests.engine.nodes:HangingSink",
        "sink.refuses": "tests.engine.nodes:RefusingSink",
        "sink.slow": "tests.engine.nodes:SlowSink",
        "sink.fail": "tests.engine.nodes:FailingSink",
        "flow.rejects": "tests.engine.nodes:RejectRows",
        "source.vanishing": "tests.engine.nodes:VanishingFiles",
        "source.restless": "tests.engine.nodes:RestlessNumbers",
        "source.broken": "tests.engine.nodes:BrokenSource",
    }
)

Nodes = Mapping[str, tuple[str, dict[str, Any]]]


def document(nodes: Nodes, edges: str, *, type: str = "BATCH_ROLLER", settings: dict[str, Any] | None = None, **given: Any) -> DagDocument:
    """`edges`: "a>b, b.errors>c": from a's port out (or the named one) to b's port in, in this order."""
    drawn: dict[str, Any] = {}
    for number, text in enumerate(edges.split(","), 1):
        start, _, end = text.strip().partition(">")
        source, _, port = start.partition(".")
        target, _, into = end.partition(".")
        drawn[f"e{number}"] = {"from": [source, port or "out"], "to": [target, into or "in"]}
    raw = {
        "name": "try-it",
        "type": type,
        "nodes": {node_id: {"type": kind, "name": node_id.capitalize(), "config": config} for node_id, (kind, config) in nodes.items()},
        "edges": drawn,
        "settings": {"trigger_interval": "100ms", **(settings or {})},
        **given,
    }
    read, problems = parse_document(raw)
    assert read is not None, problems
    return read


def numbers(rows: int | None = 1000, batch: int = 250, per_second: int | None = None) -> tuple[str, dict[str, Any]]:
    return "source.generator", {"total_rows": rows, "rows_per_batch": batch, "rows_per_second": per_second}


def keep(condition: str) -> tuple[str, dict[str, Any]]:
    return "flow.filter_rows", {"condition": condition}


def files(path: str, format: str = "parquet") -> tuple[str, dict[str, Any]]:
    return "sink.file", {"path": path, "format": format}


def told_problems(bench: Bench, nodes: Any, edges: str, **given: Any) -> list[tuple[str | None, str, str]]:
    """(node, severity, message) of what is told of it while it is drawn."""
    read = document(nodes, edges, **{"type": "STREAMING", **given})
    found = analyse(bench.spark, read, connections={}, limits=Limits(), parameters={}, registry=REGISTRY).problems
    return [(problem.node_id, problem.severity, problem.message) for problem in found]


def windows(length: str = "1 min", emit: str = "update", **more: Any) -> tuple[str, dict[str, Any]]:
    return "flow.window_aggregate", {"time_column": "time", "window": length, "emit": emit, "aggregates": [{"name": "n"}], **more}


COLLECT: tuple[str, dict[str, Any]] = ("sink.collect", {})


@dataclass
class Heard:
    """Everything a run told."""

    events: list[EngineEvent] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def report(self, event: EngineEvent) -> None:
        with self.changed:
            self.events.append(event)
            self.changed.notify_all()

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def wait_for(self, kind: type[Any], count: int = 1, timeout: float = 60) -> list[Any]:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.of(kind)) >= count, timeout), f"no {count} {kind.__name__} within {timeout} s"
            return self.of(kind)

    def batches(self) -> dict[tuple[str, int], BatchWritten]:
        """The last word about each batch of each query."""
        return {(event.query, event.batch_id): event for event in self.of(BatchWritten)}

    def rows(self, node_id: str, what: str = "rows_out") -> int:
        return sum(getattr(batch.nodes[node_id], what) or 0 for batch in self.batches().values() if node_id in batch.nodes)

    def rows_in(self) -> int:
        return sum(batch.rows_in for batch in self.batches().values())

    def committed(self) -> list[BatchCommitted]:
        return self.of(BatchCommitted)


@dataclass
class Bench:
    """A folder for files and live folders, and the session."""

    spark: SparkSession
    root: Path

    @property
    def files(self) -> Path:
        folder = self.root / "files"
        folder.mkdir(exist_ok=True)
        return folder

    def plan(self, read: DagDocument, *, generation: str = "", attempt: int = 1, parameters: dict[str, Any] | None = None) -> Plan:
        generation = generation or str(uuid.uuid4())
        return plan_compile(
            read,
            job_uid="5d0f6c3e-0000-4000-8000-000000000001",
            generation=generation,
            attempt=attempt,
            fresh=True,
            parameters=parameters or {},
            settings=settings_resolve(read, {}),
            connections={},
            locations=Locations(live=self.root / "live" / generation, work=self.root / "work" / generation),
            limits=Limits(file_roots=(self.files,), data_dir=self.root),
            registry=REGISTRY,
            is_run=True,
        )

    def run(self, plan: Plan) -> tuple[Run, Heard]:
        heard = Heard()
        run = Run(self.spark, plan, heard.report, registry=REGISTRY)
        run.start()
        return run, heard

    def completed(self, read: DagDocument, **given: Any) -> Heard:
        run, heard = self.run(self.plan(read, **given))
        assert run.wait(90) == "completed"
        return heard

    def drained(self, plan: Plan, rows: int) -> Heard:
        """Runs a stream until it has read so many rows, then stops it."""
        run, heard = self.run(plan)
        with heard.changed:
            assert heard.changed.wait_for(lambda: heard.rows_in() >= rows, 90), f"only {heard.rows_in()} rows came in"
        run.stop()
        assert run.wait(30) == "stopped"
        return heard

    def parquet(self, name: str) -> list[Any]:
        return self.spark.read.parquet(str(self.files / name)).collect()
