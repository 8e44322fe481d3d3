"""What stateful operators remember, read from folders that real queries left: all of it, in pages, by key, and nothing is changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine.operator_state import StateRefused, state_operators, state_rows
from tests.checkpoints.conftest import copy_of
from tests.checkpoints.streams import ROCKSDB, Stream, distinct, joined

pytestmark = pytest.mark.spark


def everything(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def rows_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    names = [column["name"] for column in found["columns"]]
    return [dict(zip(names, row, strict=True)) for row in found["rows"]]


@pytest.mark.parametrize("kind", ["rocksdb", "memory"])
def test_windows_are_read_whole_in_pages_and_by_key_and_the_folder_stays_as_it_is(spark, left_behind, tmp_path, kind):
    folder = copy_of(left_behind(kind), tmp_path)
    before = everything(folder)
    (operator,) = state_operators(spark, folder)
    assert (operator.name, operator.parts) == ("stateStoreSave", ("default",))
    whole = state_rows(spark, folder, operator=0, part="default", rows=10_000)
    assert not whole["more"]
    rows = rows_of(whole)
    assert {"key.window.start", "key.kind", "value.count", "value.sum"} <= set(rows[0])
    newest = max(rows, key=lambda row: (row["key.window.start"], row["key.kind"]))
    assert newest["key.window.end"] == "2026-01-01T01:00:00.000Z"
    assert sum(int(row["value.count"]) for row in rows if row["key.window.start"] == newest["key.window.start"]) == 5
    paged: list[Any] = []
    while True:
        page = state_rows(spark, folder, operator=0, part="default", rows=4, offset=len(paged))
        assert len(page["rows"]) == (4 if page["more"] else len(rows) - len(paged))
        paged += page["rows"]
        if not page["more"]:
            break
    assert paged == whole["rows"]
    found = rows_of(state_rows(spark, folder, operator=0, part="default", search="b"))
    assert found == [row for row in rows if row["key.kind"] == "b"]
    assert state_rows(spark, folder, operator=0, part="default", search="kind")["rows"] == []
    for shown in (newest["key.window.start"], newest["key.window.start"].replace("T", " ").removesuffix(".000Z")):
        found = rows_of(state_rows(spark, folder, operator=0, part="default", search=shown))
        assert found == [row for row in rows if newest["key.window.start"] in (row["key.window.start"], row["key.window.end"])]
    assert everything(folder) == before


def test_sides_of_a_join_and_keys_of_a_deduplication_are_told_apart(spark: SparkSession, tmp_path: Path):
    join = Stream(spark, tmp_path / "join", joined, ROCKSDB)
    join.feed(2)
    (operator,) = state_operators(spark, join.drained().live)
    assert operator.parts == ("left", "right")
    left, right = (rows_of(state_rows(spark, join.live, operator=operator.operator, part=side)) for side in operator.parts)
    assert sorted(int(row["value.id"]) for row in left) == list(range(10))
    assert sorted(int(row["value.other"]) for row in right) == list(range(10))
    once = Stream(spark, tmp_path / "distinct", distinct, ROCKSDB)
    once.feed(2)
    (operator,) = state_operators(spark, once.drained().live)
    assert sorted(int(row["key.id"]) for row in rows_of(state_rows(spark, once.live, operator=0, part="default"))) == list(range(10))


def test_a_stateless_query_has_none_and_what_is_not_there_is_refused(spark, left_behind: Callable[[str], Stream], tmp_path, rocksdb_folder):
    assert state_operators(spark, left_behind("plain").live) == []
    with pytest.raises(StateRefused, match="no state left of operator 0"):
        state_rows(spark, rocksdb_folder, operator=0, part="left")
    with pytest.raises(StateRefused, match="no state default of operator 7"):
        state_rows(spark, rocksdb_folder, operator=7, part="default")


def test_a_missing_file_is_told(spark, rocksdb_folder):
    for file in (rocksdb_folder / "state" / "0" / "0").glob("*.[zc]*"):
        file.unlink()
    with pytest.raises(StateRefused, match="the state cannot be read"):
        state_rows(spark, rocksdb_folder, operator=0, part="default")
