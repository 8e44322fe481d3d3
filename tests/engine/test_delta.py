"""Delta tables in whole runs: every row counted once, whatever the sink's actions on a batch."""

import pytest

from tests.engine.graphs import COLLECT, Bench, document, files, keep, numbers
from tests.engine.nodes import CollectSink

pytestmark = pytest.mark.spark


def table(**config: object) -> tuple[str, dict[str, object]]:
    return "sink.delta", {"path": "table", **config}


def test_rows_into_and_out_of_tables_are_counted_once(bench: Bench) -> None:
    """Both ways of counting: a line that Spark's operators count, and a batch that several sinks share."""
    upsert = table(mode="upsert", keys=["id"])
    heard = bench.completed(document({"gen": numbers(600, 600), "odd": keep("id % 2 = 1"), "out": upsert}, "gen>odd, odd>out"))
    assert (heard.rows_in(), heard.rows("odd", "rows_in"), heard.rows("odd"), heard.rows("out")) == (600, 600, 300, 300)
    nodes = {"all": ("source.delta", {"path": "table"}), "low": keep("id < 100"), "again": table(path="copy"), "rest": files("rest")}
    heard = bench.completed(document(nodes, "all>low, low>again, all>rest"))
    assert (heard.rows_in(), heard.rows("low"), heard.rows("again"), heard.rows("rest")) == (300, 50, 50, 300)
    copy = bench.spark.read.format("delta").load(str(bench.files / "copy"))
    assert sorted(row.id for row in copy.collect()) == list(range(1, 100, 2))


@pytest.mark.parametrize("kind", [pytest.param("SQL_TASK", marks=pytest.mark.faults), "BATCH_ROLLER"])
def test_rows_hidden_by_deletion_vectors_do_not_come_in(bench: Bench, kind: str) -> None:
    folder = str(bench.files / "table")
    bench.spark.range(0, 1000, 1, 1).write.format("delta").option("delta.enableDeletionVectors", "true").save(folder)
    jvm = bench.spark._jvm
    assert jvm is not None
    jvm.io.delta.tables.DeltaTable.forPath(bench.spark._jsparkSession, folder).delete("id < 10")
    nodes = {"all": ("source.delta", {"path": "table"}), "odd": keep("id % 2 = 1"), "out": COLLECT}
    plan = bench.plan(document(nodes, "all>odd, odd>out", type=kind))
    run, heard = bench.run(plan)
    assert run.wait(90) == "completed"
    assert (heard.rows_in(), heard.rows("odd"), heard.rows("out")) == (990, 495, 495)
    assert sum(len(rows) for rows in CollectSink.rows[plan.generation + "out"].values()) == 495
