"""A run that is killed again and again: no row twice, none missing, no count lost."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.engine.killed_run import REFUSED, ROWS

pytestmark = [pytest.mark.processes, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[2]


def attempt(
    folder: Path, number: int, dies_after: float | None, module: str = "tests.engine.killed_run"
) -> tuple[list[dict[str, Any]], str]:
    """What one attempt of `module` told, and its log. It is killed so many seconds after its first written batch."""
    log = folder / f"{number}.log"
    with log.open("wb") as errors:
        command = [sys.executable, "-m", module, str(folder), "generation_1", str(number)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True, start_new_session=True)
        assert process.stdout is not None
        told: list[dict[str, Any]] = []
        os.set_blocking(process.stdout.fileno(), True)
        for line in process.stdout:
            told.append(json.loads(line))
            if dies_after is not None and told[-1]["kind"] == "BatchWritten":
                time.sleep(dies_after)  # a moment chosen at random, not a wait for something
                os.killpg(process.pid, signal.SIGKILL)
                break
        for line in process.stdout:
            if line.endswith("\n"):
                told.append(json.loads(line))
        process.stdout.close()
        process.wait(60)
    return told, log.read_text(errors="replace")


@pytest.mark.parametrize("most", [2, pytest.param(10, marks=pytest.mark.faults)])
def test_kills_leave_no_row_twice_and_none_missing(spark: SparkSession, tmp_path: Path, most: int) -> None:
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    chance = random.Random(seed)
    batches: dict[tuple[str, int], dict[str, Any]] = {}
    kills, number = 0, 0
    while True:
        number += 1
        told, log = attempt(tmp_path, number, chance.uniform(0, 1.5) if kills < most else None)
        batches |= {(event["query"], event["batch_id"]): event for event in told if event["kind"] == "BatchWritten"}
        if told and told[-1]["kind"] == "outcome":
            assert told[-1]["outcome"] == "completed", log[-3000:]
            break
        assert any(event["kind"] == "BatchWritten" for event in told), f"attempt {number} wrote nothing: {log[-3000:]}"
        kills += 1
    assert kills == most, "the run must be long enough to be killed that often"
    written = Counter(row.id for row in spark.read.parquet(str(tmp_path / "files" / "out")).collect())
    assert written == Counter(range(1, ROWS, 2))
    gathered = Counter(row.id for row in spark.read.parquet(str(tmp_path / "files" / "wide")).collect())
    assert gathered == written
    files = [len(list((tmp_path / "files" / sink).glob("*.parquet"))) for sink in ("wide", "out")]
    assert files[0] < files[1], f"{files}: rows of several batches share a file"
    with sqlite3.connect(tmp_path / "files" / "numbers.sqlite") as database:
        stored = Counter(row[0] for row in database.execute("select id from numbers"))
    refused = Counter(range(3, ROWS, REFUSED))
    assert stored == Counter(range(ROWS)) - refused
    led_on = Counter(row.id for row in spark.read.parquet(str(tmp_path / "files" / "bad")).collect())
    assert led_on == refused, "what the table refused is behind its errors port, once"
    assert sum(event["rows_in"] for event in batches.values()) == ROWS, "no batch's count is lost or told twice"
    assert sum(event["nodes"]["odd"]["rows_out"] for event in batches.values()) == ROWS // 2
    assert sum(event["nodes"]["table"]["rejected"] for event in batches.values()) == refused.total()
