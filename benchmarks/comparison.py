"""Variants of one piece of work, run in turns on one machine in one process, printed side by side."""

from __future__ import annotations

import os
import statistics
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from jobs.dag.document import parse_document
from jobs.engine.compiler import plan_compile, settings_resolve
from jobs.engine.events import BatchWritten, EngineEvent, Report, each
from jobs.engine.plan import Locations, Plan
from jobs.engine.prepared import jars_in
from jobs.engine.runner import Run
from jobs.engine.session import SessionOptions, session_build
from jobs.nodes.base import ConnectionSettings, Limits

JARS = Path(__file__).resolve().parents[1] / ".venv" / "spark-jars"


def session(folder: Path) -> SparkSession:
    spark = session_build(SessionOptions(master="local[2]", memory="3g", jars=jars_in(JARS), local_dir=folder / "spark", prepared=JARS))
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory(prefix="pipeline-benchmark-")


def numbered_csv(spark: SparkSession, path: Path, rows: int, files: int = 4) -> None:
    """id, amount, country, note: about 45 bytes a row."""
    (
        spark.range(0, rows, 1, files)
        .selectExpr(
            "id",
            "cast(pmod(hash(id), 100000) / 100.0 as double) amount",
            "substr('DEFRITES', 1 + 2 * pmod(id, 4), 2) country",
            "concat('note ', id) note",
        )
        .write.option("header", "true")
        .csv(str(path))
    )


def plan_of(raw: dict[str, Any], root: Path, connections: dict[str, ConnectionSettings] | None = None, job_uid: str = "") -> Plan:
    """Of a document, as a driver gets it. `job_uid`: of a job that ran before, else of a new one."""
    document, problems = parse_document(raw)
    assert document, problems
    generation = str(uuid.uuid4())
    return plan_compile(
        document,
        job_uid=job_uid or str(uuid.uuid4()),
        generation=generation,
        attempt=1,
        fresh=True,
        parameters={},
        settings=settings_resolve(document, {}),
        connections=connections or {},
        locations=Locations(root / "live" / generation, root / "work" / generation),
        limits=Limits(file_roots=(root,), data_dir=root),
    )


def run_document(
    spark: SparkSession,
    raw: dict[str, Any],
    root: Path,
    connections: dict[str, ConnectionSettings] | None = None,
    job_uid: str = "",
    *,
    until_drained: bool = False,
) -> dict[str, int]:
    """Runs a document as a driver does, with counters; rows in and out.

    `until_drained`: a stream, too, ends once it has read all that is there.
    """
    return run_plan(spark, replace(plan_of(raw, root, connections, job_uid), until_drained=until_drained))


def run_plan(spark: SparkSession, plan: Plan, *reports: Report) -> dict[str, int]:
    """Rows in and out; `reports` hear what the run tells, as a coordinator of checkpoints does."""
    written: dict[tuple[str, int], BatchWritten] = {}

    def hear(event: EngineEvent) -> None:
        if isinstance(event, BatchWritten):
            written[(event.query, event.batch_id)] = event

    run = Run(spark, plan, each(hear, *reports))
    run.start()
    assert run.wait() == "completed"
    return {"in": sum(one.rows_in for one in written.values()), "out": sum(one.rows_out for one in written.values())}


@dataclass(frozen=True)
class Variant:
    name: str
    work: Callable[[int], object]


def cpu_seconds() -> float:
    """Of this process and all below it: Spark's JVM and the Python workers that are still there."""
    children: dict[int, list[int]] = {}
    taken: dict[int, float] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:  # it ended meanwhile
            continue
        process = int(stat.parent.name)
        children.setdefault(int(fields[1]), []).append(process)
        taken[process] = sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")
    waiting, total = [os.getpid()], 0.0
    while waiting:
        process = waiting.pop()
        total += taken.get(process, 0.0)
        waiting.extend(children.get(process, []))
    return total


def compare(title: str, rows: int, variants: list[Variant], rounds: int = 5) -> None:
    """One unmeasured round, then `rounds` in alternating order; medians, and each against the first.

    On a machine that others use too, the ratio of processor time says more than that of the clock.
    """
    seconds: dict[str, list[float]] = {variant.name: [] for variant in variants}
    processor: dict[str, list[float]] = {variant.name: [] for variant in variants}
    for number in range(rounds + 1):
        for variant in variants if number % 2 else reversed(variants):
            begun, spent = time.perf_counter(), cpu_seconds()
            variant.work(number)
            if number:
                seconds[variant.name].append(time.perf_counter() - begun)
                processor[variant.name].append(cpu_seconds() - spent)
    first = variants[0].name
    print(f"\n{title}, {rows:,} rows, {rounds} rounds, load {os.getloadavg()[0]:.1f}")
    for name, taken in seconds.items():
        clock, cpu = statistics.median(taken), statistics.median(processor[name])
        by_clock, by_cpu = statistics.median(seconds[first]) / clock, statistics.median(processor[first]) / cpu
        print(
            f"  {name:<36} {clock:7.2f} s ({min(taken):.2f} to {max(taken):.2f}), {cpu:6.2f} s cpu, {rows / clock / 1000:7.0f} k rows/s",
            end="",
        )
        print(f": {by_clock:5.2f} x by the clock, {by_cpu:5.2f} x by processor")
