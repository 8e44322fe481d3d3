"""A person's own Python in whole jobs: counted, streamed, stopped, cut short, and never more than its own harm."""

import gc
import logging
import os
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.accumulators import _accumulatorRegistry

from jobs.engine.code_prints import MOST_CHARACTERS, CodePrints
from jobs.engine.compiler import PlanInvalid
from jobs.engine.events import RowsRejected
from jobs.engine.failure import ExecutionFailure
from jobs.engine.preview import preview
from jobs.engine.runner import Run
from jobs.engine.user_code import Cancelled
from jobs.engine.validation import analyse
from jobs.nodes.base import Limits
from jobs.nodes.user_python.worker_memory import memory_limit
from tests.engine.graphs import COLLECT, REGISTRY, Bench, Heard, document, files, numbers, windows
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

ODD_FAILS = "def process(row):\n    if row['id'] % 2:\n        raise ValueError(row['id'])\n    return row\n"


def python(code: str, **config: Any) -> tuple[str, dict[str, Any]]:
    return "flow.python", {"code": code, **config}


def failed(bench: Bench, nodes: Any, edges: str, **given: Any) -> ExecutionFailure:
    run, _ = bench.run(bench.plan(document(nodes, edges, **given)))
    with pytest.raises(ExecutionFailure) as caught:
        run.wait(90)
    return caught.value


def looked_at(bench: Bench, nodes: Any, edges: str, node_id: str, **given: Any) -> dict[str, Any]:
    limits = Limits(file_roots=(bench.files,), data_dir=bench.root)
    return preview(bench.spark, document(nodes, edges), node_id, rows=5, connections={}, limits=limits, registry=REGISTRY, **given)


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_rows_that_go_on_come_back_changed_or_are_rejected_and_all_are_counted(bench: Bench, kind: str) -> None:
    several = python("def process(row):\n    return [row] * (row['id'] % 3)\n")
    nodes = {"gen": numbers(1000), "odd": python(ODD_FAILS), "more": several, "out": files("out")}
    heard = bench.completed(document(nodes, "gen>odd, odd>more, more>out", type=kind))
    assert (heard.rows("odd", "rows_in"), heard.rows("odd"), heard.rows("odd", "rejected")) == (1000, 500, 500)
    expected = sorted(number for number in range(0, 1000, 2) for _ in range(number % 3))
    assert sorted(row.id for row in bench.parquet("out")) == expected
    assert heard.rows("more") == len(expected)
    kept = heard.of(RowsRejected)[0].rows
    assert {row["reason"].partition(", in line")[0] for row in kept} <= {f"ValueError: {number}" for number in range(1, 1000, 2)}
    assert all(row["reason"].endswith(", in line 3: raise ValueError(row['id'])") for row in kept)


def test_the_errors_port_carries_the_row_and_the_reason(bench: Bench) -> None:
    code = "def process(row):\n    return {'id': row['id'], 'share': 1 / row['id']}\n"
    columns = [{"name": "id", "type": "long"}, {"name": "share", "type": "double"}]
    nodes = {"gen": numbers(3), "share": python(code, columns=columns), "good": files("good"), "bad": files("bad")}
    bench.completed(document(nodes, "gen>share, share>good, share.errors>bad"))
    assert sorted((row.id, row.share) for row in bench.parquet("good")) == [(1, 1.0), (2, 0.5)]
    (bad,) = bench.parquet("bad")
    assert (bad.id, bad.share) == (0, None)
    assert bad.rejected_reason.startswith("ZeroDivisionError: division by zero, in line 2: return {'id'")
    assert '"value": ' in bad.rejected_reason  # the row as it came: the columns do not list all of it


@pytest.mark.parametrize("columns", [[], [{"name": "id", "type": "long"}]])
def test_a_row_whose_result_does_not_fit_is_rejected_as_it_came(bench: Bench, columns: list[dict[str, str]]) -> None:
    keep = "row" if not columns else "{'id': row['id']}"
    code = f"def process(row):\n    if row['id'] == 1:\n        row['id'] = 'abc'\n    return [{keep}, {keep}]\n"
    nodes = {"gen": numbers(2), "own": python(code, columns=columns), "good": files("good"), "bad": files("bad")}
    bench.completed(document(nodes, "gen>own, own>good, own.errors>bad"))
    assert [row.id for row in bench.parquet("good")] == [0, 0]
    for bad in bench.parquet("bad"):
        assert bad.id == 1
        assert bad.rejected_reason.startswith("id: 'abc' is no bigint")
        assert ('"id": 1, ' in bad.rejected_reason) == bool(columns)


@pytest.mark.parametrize("shape", ["row", "pandas"])
def test_a_list_that_would_lose_something_is_not_written(bench: Bench, shape: str) -> None:
    columns = [{"name": "found", "type": "array<int>"}]
    if shape == "row":
        nodes = {"gen": numbers(2), "own": python("def process(row):\n    return {'found': [1, row['id'] + 0.5]}\n", columns=columns)}
        bench.completed(document({**nodes, "good": files("good"), "bad": files("bad")}, "gen>own, own>good, own.errors>bad"))
        assert bench.parquet("good") == []
        assert sorted(bad.rejected_reason.partition(":\n")[0] for bad in bench.parquet("bad")) == [
            f"found: [1, {n}.5] is no array<int>" for n in (0, 1)
        ]
    else:
        code = "def process(rows):\n    return pandas.DataFrame({'found': [[1, 0.5]] * len(rows)})\n"
        own = python(f"import pandas\n{code}", columns=columns, shape="pandas")
        error = failed(bench, {"gen": numbers(2), "own": own, "out": files("out")}, "gen>own, own>out")
        assert "the column found, as process returned it, does not fit array<int>: [1, 0.5] is no array<int>" in error.message


def test_a_job_that_fails_at_rejected_rows_tells_exception_and_line(bench: Bench) -> None:
    nodes = {"gen": numbers(10), "odd": python(ODD_FAILS), "out": files("out")}
    error = failed(bench, nodes, "gen>odd, odd>out", settings={"rejected_rows": "fail"})
    assert error.node_id == "odd"
    assert '"Odd": a row was rejected: ValueError: 1, in line 3: raise ValueError' in error.message


def test_lists_maps_bytes_and_times_go_in_and_out(bench: Bench) -> None:
    values = {"words": "array('a', null)", "known": "map('k', 1)", "raw": "cast('x' as binary)", "who": "named_struct('n', 1)"}
    values |= {"at": "timestamp'2026-03-01 12:00:00'", "day": "date'2026-03-01'"}
    made = ("flow.compute_columns", {"columns": [{"name": name, "expression": text} for name, text in values.items()]})
    code = """
def process(row):
    assert row["at"].isoformat() == "2026-03-01T12:00:00+00:00", row["at"]
    row["words"].append("z")
    row["known"]["k"] += 1
    row["raw"] += b"!"
    row["who"]["n"] += 1
    row["day"] = row["day"].replace(year=2027)
    return row
"""
    bench.completed(document({"gen": numbers(1), "made": made, "own": python(code), "out": files("out")}, "gen>made, made>own, own>out"))
    (row,) = bench.parquet("out")
    assert (row["words"], row.known, bytes(row.raw), row.who.n) == (["a", None, "z"], {"k": 2}, b"x!", 2)
    assert (str(row["at"])[:19], str(row.day)) == ("2026-03-01 12:00:00", "2027-03-01")


def test_a_stream_through_python_feeds_windows(bench: Bench) -> None:
    nodes = {
        "gen": numbers(None, per_second=200, batch=50),
        "own": python("def process(row):\n    return row\n"),
        "sum": windows(),
        "out": COLLECT,
    }
    heard = bench.drained(bench.plan(document(nodes, "gen>own, own>sum, sum>out", type="STREAMING")), 200)
    assert heard.rows("own") >= 200
    assert heard.rows("sum") > 0


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_a_batch_that_raises_fails_with_the_lines_of_the_code_alone(bench: Bench, kind: str) -> None:
    code = "def share(frame):\n    return frame['id'] / frame['nope']\n\ndef process(frame):\n    return share(frame)\n"
    error = failed(bench, {"gen": numbers(10), "own": python(code, shape="pandas"), "out": COLLECT}, "gen>own, own>out", type=kind)
    first, *lines = error.message.splitlines()
    assert first == "\"Own\": its Python failed: KeyError: 'nope', in line 2: return frame['id'] / frame['nope']"
    places = [line.strip() for line in lines if line.startswith("  File")]
    assert places == ['File "Own", line 5, in process', 'File "Own", line 2, in share']
    assert (error.node_id, error.kind, error.permanent) == ("own", "user", True)
    assert "pyspark" not in error.message + error.stack_trace


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_the_errors_port_of_code_over_batches_is_there_and_empty(bench: Bench, kind: str) -> None:
    nodes = {
        "gen": numbers(10),
        "own": python("def process(batch):\n    return batch\n", shape="arrow"),
        "out": files("out"),
        "bad": files("bad"),
    }
    heard = bench.completed(document(nodes, "gen>own, own>out, own.errors>bad", type=kind))
    assert (heard.rows("own"), heard.rows("out"), heard.rows("bad")) == (10, 10, 0)


@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), 9)"])
def test_a_worker_that_dies_is_told_on_its_node(bench: Bench, end: str) -> None:
    nodes = {"gen": numbers(10), "own": python(f"import os\ndef process(row):\n    {end}\n    return row\n"), "out": COLLECT}
    error = failed(bench, nodes, "gen>own, own>out")
    assert error.message.startswith('"Own": its Python worker died: its code ended it, or the system killed it')
    assert (error.node_id, error.permanent) == ("own", False)
    assert bench.completed(document({"gen": numbers(10), "out": COLLECT}, "gen>out")).rows_in() == 10


def test_a_worker_that_crashes_is_told_with_its_line(bench: Bench) -> None:
    code = "import ctypes\ndef process(row):\n    ctypes.string_at(0)\n    return row\n"
    error = failed(bench, {"gen": numbers(10), "own": python(code), "out": COLLECT}, "gen>own, own>out")
    assert '"Own": its Python worker died in line 3' in error.message


def test_what_is_printed_stands_in_the_log_once_and_cut_short(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    code = "import os\nprint('begun')\ndef process(row):\n    print('y' * 1_000_000)\n    os.write(1, b'z' * 1_000_000)\n    return row\n"
    plan = bench.plan(document({"gen": numbers(20, batch=20), "own": python(code), "out": COLLECT}, "gen>own, own>out"))
    told: list[str] = []
    log = logging.Logger("job")
    log.addHandler(_Kept(told))
    heard = Heard()
    run = Run(bench.spark, plan, heard.report, log=log, registry=REGISTRY)
    run.start()
    assert run.wait(90) == "completed"
    printed = [text for text in told if "printed" in text]
    assert printed
    assert all(text.startswith("printed: begun\n") and len(text) < 21_000 for text in printed)
    assert any(" characters more" in text for text in printed)
    out, error = capfd.readouterr()
    assert "zzz" not in out + error


def test_a_preview_tells_what_was_printed_once_and_cut_short(bench: Bench) -> None:
    code = "def process(row):\n    print('row', row['id'])\n    return row\n"
    told = looked_at(bench, {"gen": numbers(3), "own": python(code), "out": COLLECT}, "gen>own, own>out", "own")["printed"]
    assert [one["node_id"] for one in told] == ["own"] * len(told)
    assert sorted("\n".join(one["text"] for one in told).splitlines()) == ["row 0", "row 1", "row 2"]
    prints = CodePrints()
    for text in ("a" * MOST_CHARACTERS, "b", "b"):
        prints.logger().info("printed: " + text, extra={"node_id": "own"})
    assert [one["text"] for one in prints.found()] == ["a" * MOST_CHARACTERS]


class _Kept(logging.Handler):
    def __init__(self, told: list[str]) -> None:
        super().__init__()
        self._told = told

    def emit(self, record: logging.LogRecord) -> None:
        self._told.append(record.getMessage())


def test_the_columns_stand_at_the_port_without_running_the_code(bench: Bench) -> None:
    trace = bench.root / "ran"
    code = f"open({str(trace)!r}, 'w')\ndef process(row):\n    return row\n"
    drawn = document({"gen": numbers(), "own": python(code, columns=[{"name": "n", "type": "long"}]), "out": COLLECT}, "gen>own, own>out")
    found = analyse(bench.spark, drawn, connections={}, limits=Limits(), parameters={}, registry=REGISTRY)
    assert found.problems == []
    assert found.schemas["own"]["out"] == [{"name": "n", "type": "bigint", "nullable": True}]
    assert not trace.exists()


def test_a_preview_leaves_nothing_behind_in_the_driver(bench: Bench) -> None:
    known = set(_accumulatorRegistry)
    looked_at(bench, {"gen": numbers(), "odd": python(ODD_FAILS), "out": COLLECT}, "gen>odd, odd>out", "odd")
    gc.collect()
    assert set(_accumulatorRegistry) <= known


def test_a_preview_shows_rows_and_those_that_are_rejected(bench: Bench) -> None:
    found = looked_at(bench, {"gen": numbers(), "odd": python(ODD_FAILS), "out": COLLECT}, "gen>odd, odd>out", "odd")
    assert [row["id"] for row in found["out"]["rows"]] == [0, 2, 4]
    assert [row["id"] for row in found["rejected"]["rows"]] == [1, 3]


def test_a_preview_behind_code_that_fails_blames_the_code(bench: Bench) -> None:
    nodes = {"gen": numbers(), "own": python("def process(batch):\n    return batch.nope()\n", shape="arrow"), "out": COLLECT}
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, nodes, "gen>own, own>out", "out")
    (problem,) = caught.value.problems
    assert (problem.node_id, problem.pointer) == ("own", "/nodes/own/config/code")
    assert problem.message.startswith('"Own": its Python failed: AttributeError: ')
    assert "in line 2: return batch.nope()" in problem.message


def test_a_preview_that_prints_on_and_on_is_stopped_with_the_reason(bench: Bench) -> None:
    code = "def process({}):\n    for _ in range(100_000):\n        print('x' * 1_000_000)\n    return {}\n"
    told = "more than 10,000,000 characters have been printed here and before; print less"
    nodes = {"gen": numbers(), "own": python(code.format("row", "row")), "out": COLLECT}
    found = looked_at(bench, nodes, "gen>own, own>out", "own", code_seconds=60)
    assert not found["out"]["rows"]
    assert all(told in row["rejected_reason"] for row in found["rejected"]["rows"])
    nodes["own"] = python(code.format("batch", "batch"), shape="arrow")
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, nodes, "gen>own, own>out", "own", code_seconds=60)
    (problem,) = caught.value.problems
    assert (problem.node_id, told in problem.message, "in line 3" in problem.message) == ("own", True, True)


def test_a_preview_of_an_endless_loop_is_stopped_its_process_killed_and_the_next_one_answered(bench: Bench) -> None:
    place = bench.root / "pid"
    code = f"""
import os
def process(row):
    with open({str(place)!r}, "w") as told:
        told.write(str(os.getpid()))
    while True:
        pass
    return row
"""
    begun = time.monotonic()
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, {"gen": numbers(), "own": python(code), "out": COLLECT}, "gen>own, own>out", "own", code_seconds=8)
    assert time.monotonic() - begun < 60
    (problem,) = caught.value.problems
    assert problem.message.startswith('"Own": its Python did not end within 8 s and was stopped in line ')
    assert problem.node_id == "own"
    pid = int(place.read_text())
    wait_until(lambda: not _runs(pid), seconds=30, what="the end of the worker")
    found = looked_at(bench, {"gen": numbers(), "own": python(ODD_FAILS), "out": COLLECT}, "gen>own, own>out", "own")
    assert len(found["out"]["rows"]) == 3
    assert bench.spark.range(3).count() == 3


HUNGRY = """
kept = []
def process(row):
    while True:
        kept.append(b"x" * 10_000_000)
    return row
"""


#: Of small pieces there may not even be room left for the line.
EATERS = {
    "large": (HUNGRY, " in line 5: kept.append"),
    "small": (HUNGRY.replace('b"x" * 10_000_000', "[row]"), ""),
    "at once": (f"kept = b'x' * 10**10\n{HUNGRY}", " in line 1: kept = b'x'"),
}


@pytest.mark.parametrize("eater", EATERS)
def test_a_preview_that_takes_all_memory_is_stopped(bench: Bench, monkeypatch: pytest.MonkeyPatch, eater: str) -> None:
    code, line = EATERS[eater]
    environment = bench.spark.sparkContext.environment
    monkeypatch.setattr(bench.spark.sparkContext, "environment", {**environment})
    memory_limit(bench.spark.sparkContext.environment, 300)
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, {"gen": numbers(), "own": python(code), "out": COLLECT}, "gen>own, own>out", "own", code_seconds=60)
    (problem,) = caught.value.problems
    wanted = '"Own": its Python wanted more than the 300 MB of memory that it gets in a preview or a test, and was stopped'
    assert problem.message.startswith(wanted + line)
    assert problem.message.endswith("; let it hold fewer rows at a time")
    found = looked_at(bench, {"gen": numbers(), "own": python(ODD_FAILS), "out": COLLECT}, "gen>own, own>out", "own")
    assert len(found["out"]["rows"]) == 3


def test_a_preview_that_nobody_waits_for_is_stopped(bench: Bench) -> None:
    place = bench.root / "begun"
    code = f"def process(row):\n    open({str(place)!r}, 'w').close()\n    while True:\n        pass\n    return row\n"
    nodes = {"gen": numbers(), "own": python(code), "out": COLLECT}
    begun = time.monotonic()
    with pytest.raises(Cancelled):
        looked_at(bench, nodes, "gen>own, own>out", "own", code_seconds=100, is_cancelled=place.exists)
    assert time.monotonic() - begun < 100
    assert len(looked_at(bench, {**nodes, "own": python(ODD_FAILS)}, "gen>own, own>out", "own")["out"]["rows"]) == 3


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_what_hangs_outside_of_python_is_stopped_too(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jobs.engine.preview._START_SECONDS", 10)
    code = "import re\ndef process(row):\n    return re.match('(a+)+b', 'a' * 60)\n"
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, {"gen": numbers(), "own": python(code), "out": COLLECT}, "gen>own, own>out", "own", code_seconds=1)
    (problem,) = caught.value.problems
    assert '"Own": its Python did not end within' in problem.message


def test_files_whose_columns_are_looked_for_are_not_blamed_for_code_that_no_signal_reaches(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobs.engine.preview._START_SECONDS", 10)
    (bench.files / "some.json").write_text('{"id": 1}\n')
    deaf = "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})"
    code = f"import signal, time\ndef process(row):\n    {deaf}\n    time.sleep(600)\n    return row\n"
    nodes = {"gen": ("source.file", {"path": "some.json", "format": "json"}), "own": python(code), "out": COLLECT}
    with pytest.raises(PlanInvalid) as caught:
        looked_at(bench, nodes, "gen>own, own>out", "own", code_seconds=1)
    (problem,) = caught.value.problems
    assert (problem.node_id, '"Own": its Python did not end within 11 s' in problem.message) == ("own", True)


def test_code_of_two_projects_never_meets_in_a_process(bench: Bench) -> None:
    code = "import os\ndef process(row):\n    return {'pid': os.getpid(), 'parent': os.getppid()}\n"
    columns = [{"name": "pid", "type": "long"}, {"name": "parent", "type": "long"}]
    nodes = {"gen": numbers(), "own": python(code, columns=columns), "out": COLLECT}

    def processes(workers: str) -> set[int]:
        found = looked_at(bench, nodes, "gen>own, own>out", "own", workers=workers)
        return {number for row in found["out"]["rows"] for number in row.values()}

    one, other = processes("1"), processes("2")
    assert one
    assert not (one & other) - {os.getpid()}
    assert not one.isdisjoint(processes("1"))
