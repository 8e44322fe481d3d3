"""A table beside a stream: kept between batches, read again in time, and still there when it cannot be read."""

import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import Row

from jobs.dag.graph import structure_problems
from jobs.engine.events import OUTDATED, BatchWritten, Noticed, Waiting
from jobs.engine.failure import ExecutionFailure
from jobs.engine.references import References
from jobs.engine.runner import Run
from jobs.engine.steps import Steps
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.flows.lookup import Lookup
from jobs.nodes.kept_references import Keeping
from jobs.nodes.registry import REGISTRY
from tests.engine.graphs import COLLECT, Bench, Heard, document, numbers, windows
from tests.engine.nodes import CollectSink
from tests.nodes.api_server import api_server, as_json
from tests.servers.waiting import wait_until

pytestmark = pytest.mark.spark

PARTS = ("flow.compute_columns", {"columns": [{"name": "part", "expression": "CAST(id % 3 AS int)"}]})
COLOURS = ("source.file", {"path": "colours", "columns": [{"name": "part", "type": "int"}, {"name": "colour"}]})
EDGES = "gen>parts, parts>look, colours>look.table, look>out"


def colours_write(bench: Bench, name: str, *colours: str) -> Path:
    folder = bench.files / "colours"
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.csv"
    lines = [f"{part},{colour}" for part, colour in enumerate(colours)]
    path.write_text("\n".join(["part,colour", *lines, ""]))
    return path


def lookup(**config: object) -> tuple[str, dict[str, object]]:
    return "flow.lookup", {"keys": [{"left": "part"}], "refresh": "300ms", **config}


def newest(batches: dict[int, list[Row]]) -> set[str]:
    """The colours of the newest batch."""
    return {row.colour for row in batches[max(batches)]} if batches else set()


def test_a_table_is_read_again_and_stays_as_it_was_when_it_cannot_be_read(bench: Bench) -> None:
    first = colours_write(bench, "a", "red", "green", "blue")
    nodes = {"gen": numbers(None, 9, 30), "parts": PARTS, "colours": COLOURS, "look": lookup(), "out": COLLECT}
    plan = bench.plan(document(nodes, EDGES, type="STREAMING"))
    batches = CollectSink.rows[plan.generation + "out"]
    run, heard = bench.run(plan)
    wait_until(lambda: newest(batches) == {"red", "green", "blue"}, seconds=60, what="the colours")
    colours_write(bench, "b", "cyan", "pink", "grey")
    first.unlink()
    wait_until(lambda: newest(batches) == {"cyan", "pink", "grey"}, seconds=60, what="the new colours")
    (bench.files / "colours").rename(bench.files / "away")
    notice = heard.wait_for(Noticed)[0]
    assert (notice.node_id, notice.severity) == ("look", "warning")
    assert notice.message.startswith("its table is as it was at 20")
    assert "reading it again failed" in notice.message
    assert notice.detail[OUTDATED][:19].replace("T", " ") in notice.message
    before = max(batches)
    wait_until(lambda: max(batches) > before + 2, seconds=60, what="more batches")
    assert newest(batches) == {"cyan", "pink", "grey"}
    (bench.files / "away").rename(bench.files / "colours")
    again = heard.wait_for(Noticed, 2)[1]
    assert (again.message, again.detail) == ("its table is up to date again", {OUTDATED: ""})
    run.stop()
    assert run.wait(30) == "stopped"
    rows = [row for number in sorted(batches) for row in batches[number]]
    assert sorted(row.id for row in rows) == list(range(len(rows)))


def test_of_a_table_it_is_told_how_many_rows_are_kept_and_that_it_is_read_again_by_itself(
    bench: Bench, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Lookup, "keeping", lambda self, config: Keeping(seconds=0, most_rows=1000))
    caplog.set_level(logging.INFO, "pipeline.job")
    heard = Heard()
    nodes = {"gen": numbers(9), "parts": PARTS, "colours": COLOURS, "look": lookup(), "out": ("sink.none", {})}
    steps = Steps(bench.plan(document(nodes, EDGES)))
    (arrow,) = (arrow for arrow in steps.arrows if arrow.reference)
    references = References(steps, heard.report)
    for name, colours in {"a": ["red", "green"], "b": ["cyan", "pink"], "c": ["cyan", "pink", "grey"]}.items():
        path = str(colours_write(bench, name, *colours))
        references.frame(arrow, lambda path=path: bench.spark.read.csv(path, header=True))  # type: ignore[misc]
    references.frame(arrow, lambda: bench.spark.read.csv("/nowhere/colours.csv", header=True))
    references.close()
    told = [record.getMessage() for record in caplog.records if getattr(record, "node_id", "") == "look"]
    assert told == [f"its table was read: {rows} rows are kept, of at most 1,000" for rows in (2, 3)], "once for each number"
    (notice,) = heard.of(Noticed)
    assert notice.message.endswith("(the file or folder /nowhere/colours.csv is no longer there; put it back)")


def test_a_table_whose_columns_change_stays_as_it_was_and_one_with_more_gives_no_more(bench: Bench) -> None:
    database = bench.files / "shop.db"
    with closing(sqlite3.connect(database)) as shop, shop:
        shop.execute("CREATE TABLE colours (part INTEGER, colour TEXT)")
        shop.executemany("INSERT INTO colours VALUES (?, ?)", [(0, "red"), (1, "green"), (2, "blue")])
    table = ("source.jdbc", {"connection": "shop", "table": "colours"})
    nodes = {"gen": numbers(None, 9, 30), "parts": PARTS, "colours": table, "look": lookup(), "out": COLLECT}
    plan = bench.plan(document(nodes, EDGES, type="STREAMING"))
    plan = replace(plan, connections={"shop": ConnectionSettings("shop", "sqlite", {"path": str(database)})})
    batches = CollectSink.rows[plan.generation + "out"]
    run, heard = bench.run(plan)
    wait_until(lambda: newest(batches) == {"red", "green", "blue"}, seconds=60, what="the colours")
    with closing(sqlite3.connect(database)) as shop, shop:
        shop.execute("ALTER TABLE colours RENAME COLUMN colour TO hue")
    notice = heard.wait_for(Noticed)[0]
    assert (notice.node_id, notice.severity) == ("look", "warning")
    missing = "the column colour is not in its table any more; set it back, or start the job again"
    between = "the table has no column colour any more"  # it was renamed between the look at its columns and the reading of its rows
    assert missing in notice.message or between in notice.message
    with closing(sqlite3.connect(database)) as shop, shop:
        shop.execute("ALTER TABLE colours ADD COLUMN colour TEXT")
        shop.execute("UPDATE colours SET colour = upper(hue)")
    wait_until(lambda: newest(batches) == {"RED", "GREEN", "BLUE"}, seconds=60, what="the new colours")
    assert heard.wait_for(Noticed, 2)[1].message == "its table is up to date again"
    run.stop()
    assert run.wait(30) == "stopped"
    assert {tuple(row.asDict()) for rows in batches.values() for row in rows} == {("id", "time", "key", "value", "part", "colour")}


def test_of_a_table_that_has_a_key_twice_one_row_is_kept_for_all_batches(bench: Bench) -> None:
    colours_write(bench, "a", "red", "green", "blue")
    colours_write(bench, "b", "red", "green", "blue")
    nodes = {"gen": numbers(90, 30), "parts": PARTS, "colours": COLOURS, "look": lookup(most_rows=3, refresh="1 h"), "out": COLLECT}
    assert bench.completed(document(nodes, EDGES)).rows("out") == 90
    nodes["look"] = lookup(several="all", refresh="1 h")
    assert bench.completed(document(nodes, EDGES)).rows("out") == 180


def test_a_stream_looks_up_in_an_api_and_in_a_table_without_a_key_and_sorts_it_on_the_way(bench: Bench) -> None:
    """None of these could be read as a stream; beside one they are read whole."""
    database = bench.files / "shop.db"
    with closing(sqlite3.connect(database)) as shop, shop:
        shop.execute("CREATE TABLE sizes (part INTEGER, size TEXT)")
        shop.executemany("INSERT INTO sizes VALUES (?, ?)", [(0, "S"), (1, "M"), (2, "L")])
    nodes = {
        "gen": numbers(None, 9, 30),
        "parts": PARTS,
        "api": ("source.http_api", {"connection": "api", "path": "colours", "paging": "none", "columns": COLOURS[1]["columns"]}),
        "colour": lookup(),
        "sizes": ("source.jdbc", {"connection": "shop", "table": "sizes"}),
        "sorted": ("flow.sort", {"order_by": [{"column": "size"}]}),
        "size": lookup(),
        "out": COLLECT,
    }
    edges = "gen>parts, parts>colour, api>colour.table, sizes>sorted, sorted>size.table, colour>size, size>out"
    read = document(nodes, edges, type="STREAMING")
    assert "node.job_type" not in [problem.code for problem in structure_problems(read, REGISTRY.catalogue())]
    with api_server(lambda request: as_json([{"part": part, "colour": f"colour {part}"} for part in range(3)])) as server:
        plan = bench.plan(read)
        connections = {
            "api": ConnectionSettings("api", "http_api", {"base_url": server.url}),
            "shop": ConnectionSettings("shop", "sqlite", {"path": str(database)}),
        }
        plan = replace(plan, connections=connections, limits=replace(plan.limits, http_allowed_hosts=(server.host,)))
        batches = CollectSink.rows[plan.generation + "out"]
        run, heard = bench.run(plan)
        wait_until(lambda: len(batches) > 1, seconds=60, what="two batches")
        server.answer = lambda request: as_json({"reason": "it is being mended"}, 503)
        notice = heard.wait_for(Noticed)[0]
        assert not any(event.given_up for event in heard.of(Waiting) if event.what)
        over = next(event for event in heard.wait_for(Waiting, 2) if not event.what)
        assert (over.node_id, over.given_up) == ("api", True), "it is waited for no longer, and does not answer"
        asked, before = len(server.requests), max(batches)
        wait_until(lambda: max(batches) > before + 3, seconds=60, what="batches that do not wait for it")
        assert len(server.requests) == asked
        run.stop()
        assert run.wait(30) == "stopped"
    assert notice.node_id == "colour"
    assert '"Api": ' in notice.message
    assert "503 Service Unavailable" in notice.message
    found = {(row.part, row.colour, row.size) for rows in batches.values() for row in rows}
    assert found == {(0, "colour 0", "S"), (1, "colour 1", "M"), (2, "colour 2", "L")}


def test_rows_that_are_not_in_the_table_are_counted_as_rejected(bench: Bench) -> None:
    colours_write(bench, "a", "red", "green")
    nodes = {"gen": numbers(300, 100), "parts": PARTS, "colours": COLOURS, "look": lookup(unmatched="reject"), "out": COLLECT}
    heard = bench.completed(document(nodes, EDGES))
    assert (heard.rows("look"), heard.rows("look", "rejected"), heard.rows("out")) == (200, 100, 200)


ABOVE_A_WINDOW = EDGES.replace("look>out", "look>sum, sum>out")


@pytest.mark.parametrize(
    ("type", "edges"), [("BATCH_ROLLER", EDGES), ("SQL_TASK", EDGES), ("STREAMING", ABOVE_A_WINDOW), ("SQL_TASK", ABOVE_A_WINDOW)]
)
def test_a_table_that_is_too_large_says_so(bench: Bench, type: str, edges: str) -> None:
    colours_write(bench, "a", "red", "green", "blue")
    nodes = {"gen": numbers(30, 10), "parts": PARTS, "colours": COLOURS, "look": lookup(most_rows=2), "out": COLLECT}
    nodes |= {"sum": windows(group_by=["colour"])} if "sum" in edges else {}
    run, heard = bench.run(bench.plan(document(nodes, edges, type=type)))
    with pytest.raises(ExecutionFailure, match="its table has more than 2 rows; raise the limit") as failure:
        run.wait(60)
    assert (failure.value.node_id, failure.value.permanent) == ("look", True)
    assert not heard.of(BatchWritten)


@pytest.mark.parametrize("several", ["one", "all"])
def test_a_table_that_is_just_not_too_large_is_looked_up_in_a_whole_job(bench: Bench, several: str) -> None:
    colours_write(bench, "a", "red", "green", "blue")
    (bench.files / "colours" / "b.csv").write_text("part,colour\n0,red\n1,green\n")
    most = 3 if several == "one" else 5
    nodes = {"gen": numbers(30), "parts": PARTS, "colours": COLOURS, "look": lookup(most_rows=most, several=several), "out": COLLECT}
    heard = bench.completed(document(nodes, EDGES, type="SQL_TASK"))
    assert (heard.rows("colours"), heard.rows("out")) == (5, 30 if several == "one" else 50)


def test_a_table_above_a_window_is_looked_up_in_a_stream(bench: Bench) -> None:
    colours_write(bench, "a", "red", "green", "blue")
    nodes = {"gen": numbers(None, 9, 30), "parts": PARTS, "colours": COLOURS, "look": lookup(most_rows=3), "out": COLLECT}
    plan = bench.plan(document({**nodes, "sum": windows(group_by=["colour"])}, ABOVE_A_WINDOW, type="STREAMING"))
    bench.drained(plan, 9)
    batches = CollectSink.rows[plan.generation + "out"]
    assert {row.colour for rows in batches.values() for row in rows} == {"red", "green", "blue"}


def looking_above_state(bench: Bench) -> tuple[Run, dict[int, list[Any]]]:
    """A stream that looks colours up above a Deduplicate and has written the first ones, and its batches."""
    nodes = {"gen": numbers(None, 9, 30), "parts": PARTS, "colours": COLOURS, "look": lookup(), "out": COLLECT}
    nodes["once"] = ("flow.deduplicate", {"keys": ["id"], "time_column": "time", "within": "1 min"})
    plan = bench.plan(document(nodes, EDGES.replace("look>out", "look>once, once>out"), type="STREAMING"))
    batches = CollectSink.rows[plan.generation + "out"]
    run, _ = bench.run(plan)
    wait_until(lambda: newest(batches) == {"red", "green", "blue"}, seconds=60, what="the colours")
    return run, batches


def test_a_table_above_what_keeps_state_is_looked_up_as_it_is_now(bench: Bench) -> None:
    first = colours_write(bench, "a", "red", "green", "blue")
    run, batches = looking_above_state(bench)
    colours_write(bench, "b", "cyan", "pink", "grey")
    first.write_text("part,colour\n")
    wait_until(lambda: newest(batches) == {"cyan", "pink", "grey"}, seconds=60, what="the new colours")
    run.stop()
    assert run.wait(30) == "stopped"


def test_a_table_above_what_keeps_state_that_goes_away_ends_the_attempt_and_no_row_is_without_it(bench: Bench) -> None:
    colours_write(bench, "a", "red", "green", "blue")
    run, batches = looking_above_state(bench)
    (bench.files / "colours").rename(bench.files / "away")
    with pytest.raises(ExecutionFailure, match="a\\.csv") as failure:
        run.wait(60)
    assert not failure.value.permanent
    rows = [row for number in sorted(batches) for row in batches[number]]
    assert sorted(row.id for row in rows) == list(range(len(rows)))


def test_what_a_query_finds_is_looked_up_and_found_again(bench: Bench) -> None:
    first = colours_write(bench, "a", "red", "green", "blue")
    (bench.files / "signs.csv").write_text("part,sign\n0,x\n1,y\n2,z\n")
    inputs = [{"name": name, "kind": "files", "path": path} for name, path in (("colours", "colours"), ("signs", "signs.csv"))]
    query = "SELECT part, concat(colour, sign) AS colour FROM colours JOIN signs USING (part)"
    nodes = {"gen": numbers(None, 9, 30), "parts": PARTS, "look": lookup(), "out": COLLECT}
    nodes["colours"] = ("source.sql", {"query": query, "inputs": inputs})
    plan = bench.plan(document(nodes, EDGES, type="STREAMING"))
    batches = CollectSink.rows[plan.generation + "out"]
    run, _ = bench.run(plan)
    wait_until(lambda: newest(batches) == {"redx", "greeny", "bluez"}, seconds=60, what="the colours")
    colours_write(bench, "b", "cyan", "pink", "grey")
    first.unlink()
    wait_until(lambda: newest(batches) == {"cyanx", "pinky", "greyz"}, seconds=60, what="the new colours")
    run.stop()
    assert run.wait(30) == "stopped"
