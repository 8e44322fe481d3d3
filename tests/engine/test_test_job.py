"""`manage.py test_job` from outside: exit codes and what stands on the terminal."""

import threading
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from pyspark.sql import SparkSession

from jobs.driver.spark import chatter_left_out
from tests.engine.commands import Commands

pytestmark = [pytest.mark.processes, pytest.mark.spark, pytest.mark.timeout(300)]

DOCUMENT = """
name: orders
type: STREAMING
nodes:
  orders: {type: source.kafka, name: Orders, config: {connection: main, topic: orders, columns: [{name: id, type: long},
           {name: amount, type: double}]}}
  big: {type: flow.filter_rows, name: Big, config: {condition: "amount >= 100"}}
  out: {type: sink.kafka, name: Out, config: {connection: main, topic: big}}
edges:
  e1: {from: [orders, out], to: [big, in]}
  e2: {from: [big, out], to: [out, in]}
tests:
  - name: a big order comes through
    given: {orders: [{id: 1, amount: 100}, {id: 2, amount: 99.9}]}
    expect: {out: [{id: 1, amount: 100}]}
  - name: amounts are right
    given: {orders: [{id: 1, amount: 100}, {id: 2, amount: 120}]}
    expect: {out: [{id: 1, amount: 101}, {id: 7, amount: 700}]}
  - name: one order comes through
    given: {orders: [{id: 1, amount: 100}]}
    expect: {out: [{id: 1, amount: 101}]}
  - name: a row that does not fit
    given: {orders: [{id: one}]}
    expect: {out: []}
"""


WITH_STATE = """
name: counts
type: STREAMING
nodes:
  orders: {type: source.generator, name: Orders}
  count:
    type: flow.stateful
    name: Count
    config:
      keys: [id]
      state: [{name: count}]
      columns: [{name: count, type: long}]
      code: |
        def process(key, rows, state, timers):
            yield {"count": len(rows)}
  out: {type: sink.print, name: Out}
edges:
  e1: {from: [orders, out], to: [count, in]}
  e2: {from: [count, out], to: [out, in]}
tests:
  - name: both are counted
    given: {orders: [{id: 1}, {id: 1}]}
    expect: {count: [{id: 1, count: 2}]}
"""


def run_tests(commands: Commands, folder: Path, *arguments: str, document: str = DOCUMENT) -> CompletedProcess[str]:
    (folder / "job.yml").write_text(document)
    return commands.run(folder, "test_job", str(folder / "job.yml"), *arguments)


def test_each_test_is_a_line_and_what_differs_stands_below(commands: Commands, tmp_path: Path) -> None:
    done = run_tests(commands, tmp_path)
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert done.returncode == 2, done.stdout + done.stderr
    assert [line.partition(" (")[0] for line in lines if " s)" in line] == [
        "passed a big order comes through",
        "failed amounts are right",
        "failed one order comes through",
        "error  a row that does not fit",
    ]
    assert "out: 2 rows expected, 2 came" in lines
    assert "out: 1 row expected, 1 came" in lines
    assert 'different: amount: 100 instead of 101 in {"id": 1}' in lines
    assert 'missing: {"id": 7, "amount": 700}' in lines
    assert 'unexpected: {"id": 2, "amount": 120}' in lines
    assert '/tests/3/given/orders/0/id: "a row that does not fit": orders, row 1, column id: "one" is no bigint' in done.stdout
    assert lines[-1] == "orders: 1 of 4 tests passed"


@pytest.mark.parametrize(("name", "code"), [("a big order comes through", 0), ("amounts are right", 1), ("nothing", 2)])
def test_the_exit_code_says_how_it_went(commands: Commands, tmp_path: Path, name: str, code: int) -> None:
    done = run_tests(commands, tmp_path, "--test", name)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize("seconds", ["0", "-5", "nan"])
def test_no_time_for_a_test_is_refused_before_anything_is_read(tmp_path: Path, seconds: str) -> None:
    with pytest.raises(CommandError, match=r"^--seconds must be more than 0$") as refused:
        call_command("test_job", str(tmp_path / "job.yml"), f"--seconds={seconds}")
    assert refused.value.returncode == 2


def test_nothing_but_the_result_is_said_of_a_job_with_state(commands: Commands, tmp_path: Path) -> None:
    done = run_tests(commands, tmp_path, document=WITH_STATE)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line for line in done.stderr.splitlines() if line and not line.startswith("WARNING: Using incubator modules")] == []


def test_all_else_that_java_and_its_workers_say_is_heard(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    java: Any = spark
    chatter = "Streaming TransformWithStateInPandas Python worker"
    said = [
        f"Starting {chatter}.",
        "",
        f"{chatter} finish init stage",
        "",
        "java.lang.OutOfMemoryError: Java heap space",
        "",
        "Fatal error",
    ]
    with chatter_left_out(spark, tmp_path):
        for line in said:
            java._jvm.java.lang.System.err.println(line)
    assert capsys.readouterr().err.splitlines() == said[4:]
    assert "stderr of Spark" not in [thread.name for thread in threading.enumerate()]
