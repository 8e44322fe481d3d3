"""Going back to a checkpoint: what each sink takes away, what it leaves, and that a crash in it does no harm."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import Batch, SinkFenced
from jobs.nodes.registry import REGISTRY
from jobs.nodes.roll_back import RollBack, RollBackPoint
from tests.nodes.conftest import Build, Built, Database

pytestmark = pytest.mark.spark

FIRST = "a1b2c3d4-0000-4000-8000-000000000001"
SECOND = "b2c3d4e5-0000-4000-8000-000000000002"
THIRD = "c3d4e5f6-0000-4000-8000-000000000003"
TABLE = {"connection": "db", "table": "numbers"}


def begun(build: Build, spark: SparkSession, type: str, config: dict[str, Any], **given: Any) -> Built:
    sink = build(type, config, **given)
    sink.node.begin(spark, spark.range(1).schema, sink.context)
    return sink


def write(sink: Built, frame: DataFrame, batch_id: int) -> None:
    sink.node.write(frame.coalesce(1), Batch(batch_id, "node"), sink.context)


def numbered(sink: Built, spark: SparkSession, batches: range) -> Built:
    """Batch n holds the number n."""
    for batch in batches:
        write(sink, spark.range(batch, batch + 1), batch)
    return sink


def rolled_back(sink: Built, point: RollBackPoint) -> RollBack:
    """What it did, which it announced before, and which it does only once."""
    view = sink.node.roll_back_view(sink.context, point)
    done: RollBack = sink.node.roll_back(sink.context, point)
    assert (view.way, view.unit, view.hindrance) == (done.way, done.unit, done.hindrance)
    assert view.count in (None, done.count)
    if done.way == "removed":
        assert sink.node.roll_back(sink.context, point).count == 0
    return done


def files(root: Path) -> list[str]:
    return sorted(file.name[:31] for file in (root / "out").glob("*.parquet"))


def visible(spark: SparkSession, root: Path) -> list[int]:
    return sorted(row["id"] for row in spark.read.schema("id long").parquet(str(root / "out")).collect())


def test_files_of_later_batches_and_later_generations_go(spark: SparkSession, build: Build, root: Path):
    numbered(begun(build, spark, "sink.file", {"path": "out"}, generation=FIRST), spark, range(4))
    numbered(begun(build, spark, "sink.file", {"path": "out"}, generation=SECOND, attempt=2), spark, range(2, 4))
    third = begun(build, spark, "sink.file", {"path": "out"}, generation=THIRD, attempt=3)
    assert rolled_back(third, RollBackPoint(FIRST, 1, (SECOND,))) == RollBack("removed", "files", 4)
    numbered(third, spark, range(2, 4))
    assert visible(spark, root) == [0, 1, 2, 3]


def test_of_a_sink_that_had_no_part_in_the_checkpoint_only_later_generations_go(spark: SparkSession, build: Build, root: Path):
    numbered(begun(build, spark, "sink.file", {"path": "out"}, generation=FIRST), spark, range(2))
    numbered(begun(build, spark, "sink.file", {"path": "out"}, generation=SECOND, attempt=2), spark, range(2, 4))
    third = begun(build, spark, "sink.file", {"path": "out"}, generation=THIRD, attempt=3)
    assert rolled_back(third, RollBackPoint(FIRST, None, (SECOND,))).count == 2
    assert visible(spark, root) == [0, 1]


def test_files_that_are_not_provably_its_own_stay(spark: SparkSession, build: Build, root: Path):
    old = numbered(begun(build, spark, "sink.file", {"path": "out"}, generation=FIRST), spark, range(3))
    own = files(root)[2]
    assert own == "part-a1b2c3d40000-node-00000002"
    one = next((root / "out").glob(f"{own}*")).read_bytes()
    kept = [own.replace("node", "other"), own.replace("a1b2", "ffff"), f"copy-of-{own}", f"{own}x", "part-00000-3f.c000"]
    for name in kept:
        (root / "out" / f"{name}-00000.snappy.parquet").write_bytes(one)
    new = begun(build, spark, "sink.file", {"path": "out"}, generation=SECOND, attempt=2)
    assert rolled_back(new, RollBackPoint(FIRST, 0)).count == 2
    assert visible(spark, root) == [0, *[2] * len(kept)]
    with pytest.raises(SinkFenced):
        old.node.roll_back(old.context, RollBackPoint(SECOND, -1))


def test_files_in_folders_of_their_own_go_too(spark: SparkSession, build: Build, root: Path):
    config = {"path": "out", "partition_by": ["kind"]}
    frame = spark.createDataFrame([(1, "a"), (2, "b")], "id long, kind string")
    old = build("sink.file", config, generation=FIRST)
    old.node.begin(spark, frame.schema, old.context)
    for batch in range(2):
        write(old, frame, batch)
    new = build("sink.file", config, generation=SECOND, attempt=2)
    new.node.begin(spark, frame.schema, new.context)
    assert rolled_back(new, RollBackPoint(FIRST, 0)).count == 2
    assert visible(spark, root) == [1, 2]


@pytest.mark.parametrize("removed_before_death", [0, 1, 2])
def test_a_roll_back_that_was_cut_short_is_done_again(spark: SparkSession, build: Build, root: Path, removed_before_death: int):
    numbered(begun(build, spark, "sink.file", {"path": "out"}, generation=FIRST), spark, range(4))
    new = begun(build, spark, "sink.file", {"path": "out"}, generation=SECOND, attempt=2)
    unlink, gone = Path.unlink, 0

    def dying(path: Path, **given: Any) -> None:
        nonlocal gone
        if path.suffix == ".parquet":
            if gone == removed_before_death:
                raise KeyboardInterrupt
            gone += 1
        unlink(path, **given)

    with patch.object(Path, "unlink", dying), pytest.raises(KeyboardInterrupt):
        new.node.roll_back(new.context, RollBackPoint(FIRST, 0))
    again = begun(build, spark, "sink.file", {"path": "out"}, generation=SECOND, attempt=3)
    assert rolled_back(again, RollBackPoint(FIRST, 0)).count == 3 - removed_before_death
    assert visible(spark, root) == [0]


def test_a_batch_that_was_left_half_in_place_stays_away(spark: SparkSession, build: Build, root: Path):
    """The attempt that was moving it is frozen, and wakes up behind the roll-back."""
    old = numbered(begun(build, spark, "sink.file", {"path": "out"}, generation=FIRST), spark, range(1))
    new: list[Built] = []
    replace = os.replace

    def frozen(source: Any, target: Any) -> None:
        if str(target).endswith(".parquet") and not new:
            new.append(begun(build, spark, "sink.file", {"path": "out"}, generation=SECOND, attempt=2))
            new[0].node.roll_back(new[0].context, RollBackPoint(FIRST, 0))
        replace(source, target)

    with patch("os.replace", frozen), pytest.raises(Exception, match="vanished"):
        write(old, spark.range(1, 3), 1)
    assert visible(spark, root) == [0]


def numbers_in(database: Database) -> list[int]:
    return [row[0] for row in database.rows("SELECT id FROM numbers ORDER BY id")]


def test_rows_of_later_batches_and_later_generations_are_deleted(spark: SparkSession, build: Build, database: Database):
    given = {"connections": database.connections}
    numbered(begun(build, spark, "sink.jdbc", TABLE, generation=FIRST, **given), spark, range(4))
    database.run("INSERT INTO numbers (id) VALUES (100)")
    numbered(begun(build, spark, "sink.jdbc", TABLE, generation=SECOND, attempt=2, **given), spark, range(2, 4))
    third = begun(build, spark, "sink.jdbc", TABLE, generation=THIRD, attempt=3, **given)
    assert rolled_back(third, RollBackPoint(FIRST, 1, (SECOND,))) == RollBack("removed", "rows", 4)
    assert numbers_in(database) == [0, 1, 100]


def test_a_table_without_the_columns_that_tell_batches_stays_and_says_so(spark: SparkSession, build: Build, sqlite_database: Database):
    given = {"connections": sqlite_database.connections}
    sqlite_database.run("CREATE TABLE numbers (id bigint)")
    numbered(begun(build, spark, "sink.jdbc", TABLE, generation=FIRST, **given), spark, range(2))
    new = begun(build, spark, "sink.jdbc", TABLE, generation=SECOND, attempt=2, **given)
    assert rolled_back(new, RollBackPoint(FIRST, 0)) == RollBack("repeated", hindrance="columns")
    assert numbers_in(sqlite_database) == [0, 1]


def test_two_nodes_that_share_a_table_leave_it_alone(spark: SparkSession, build: Build, sqlite_database: Database):
    given = {"connections": sqlite_database.connections}
    numbered(begun(build, spark, "sink.jdbc", TABLE, generation=FIRST, **given), spark, range(2))
    new = begun(build, spark, "sink.jdbc", TABLE, generation=SECOND, attempt=2, **given)
    assert rolled_back(new, RollBackPoint(FIRST, 0, shared=True)) == RollBack("repeated", hindrance="shared")
    assert numbers_in(sqlite_database) == [0, 1]


def test_an_upserted_table_needs_no_roll_back(spark: SparkSession, build: Build, sqlite_database: Database):
    config = TABLE | {"mode": "upsert", "keys": ["id"]}
    sink = begun(build, spark, "sink.jdbc", config, connections=sqlite_database.connections)
    assert rolled_back(sink, RollBackPoint(FIRST, 0)) == RollBack("replaced")


def test_an_attempt_that_was_taken_over_deletes_nothing(spark: SparkSession, build: Build, sqlite_database: Database):
    given = {"connections": sqlite_database.connections}
    old = numbered(begun(build, spark, "sink.jdbc", TABLE, generation=FIRST, **given), spark, range(2))
    begun(build, spark, "sink.jdbc", TABLE, generation=SECOND, attempt=2, **given)
    with pytest.raises(SinkFenced):
        old.node.roll_back(old.context, RollBackPoint(FIRST, 0))
    assert numbers_in(sqlite_database) == [0, 1]


def test_a_table_that_is_not_there_yet_has_nothing_to_lose(build: Build, sqlite_database: Database):
    sink = build("sink.jdbc", TABLE, connections=sqlite_database.connections)
    assert sink.node.roll_back_view(sink.context, RollBackPoint(FIRST, 0)) == RollBack("removed", count=0)


@pytest.mark.parametrize(
    ("type", "config", "hindrance"),
    [
        ("sink.kafka", {"connection": "main", "topic": "t"}, "sent"),
        ("sink.http_api", {"connection": "main"}, "sent"),
        ("sink.delta", {"path": "out"}, "delta"),
        ("sink.print", {}, "nothing"),
    ],
)
def test_a_sink_that_cannot_says_why(build: Build, type: str, config: dict[str, Any], hindrance: str):
    sink = build(type, config)
    assert rolled_back(sink, RollBackPoint(FIRST, 0)) == RollBack("repeated", hindrance=hindrance)  # type: ignore[arg-type]


def test_every_sink_says_what_becomes_of_its_rows():
    """One that only inherits the general words was forgotten."""
    sinks = [REGISTRY.get(name) for name in REGISTRY.catalogue() if name.startswith("sink.")]
    own = {"stays", "replaces", "roll_back_view"}
    assert [found.type for found in sinks if found is not None and not own & set(vars(found))] == []
