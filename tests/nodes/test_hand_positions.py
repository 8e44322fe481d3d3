"""Sources of ours inside Spark, going on from a place that a person named."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from jobs.engine.offset_log import ends_move, named_offsets
from jobs.engine.progress import last_committed
from jobs.nodes.hand_positions import Wanted
from tests.nodes.api_server import Answer, Request, api_server, by_cursor, by_link, by_offset, paged
from tests.nodes.conftest import Build, Built, Database
from tests.nodes.streams import Drained
from tests.nodes.test_http_api_source import source
from tests.nodes.test_jdbc_source import numbered

pytestmark = pytest.mark.spark

STYLES: dict[str, tuple[Callable[[Request], Answer], dict[str, Any], Callable[[str], dict[str, Any]], int]] = {
    "page": (paged(47), {"total_pointer": "/total"}, lambda url: {"page": 3}, 20),
    "offset": (by_offset(47, total=True), {"page_size_parameter": "limit", "total_pointer": "/total"}, lambda url: {"offset": 35}, 35),
    "cursor": (by_cursor(47), {}, lambda url: {"cursor": "c30"}, 30),
    "next_link": (by_link(47), {}, lambda url: {"cursor": None}, 0),
}


def moved(built: Built, live: Path, values: dict[str, Any]) -> None:
    """As a copy of a checkpoint is changed."""
    batch_id = last_committed(live)
    (name, position), *_ = named_offsets(live, batch_id).items()
    hand = built.node.hand_positions
    assert hand is not None
    assert set(hand.settable(position, built.context.config)) == set(values)
    ends_move(live, batch_id, {name: hand.moved(position, Wanted("values", values=values), built.context)})


@pytest.mark.parametrize("style", STYLES)
def test_pages_are_read_from_the_place_that_was_named_to_their_end(spark: SparkSession, build: Build, tmp_path: Path, style: str) -> None:
    answer, config, values, first = STYLES[style]
    with api_server(answer) as server:
        built = source(build, server, {"paging": style, "pages_per_batch": 2} | config, mode="stream")
        drained = Drained()
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
        assert drained.everything == list(range(47))
        drained.batches.clear()
        moved(built, tmp_path / "live", values(server.url))
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.everything == list(range(first, 47))


def test_numbers_are_made_from_the_one_that_was_named(spark: SparkSession, build: Build, tmp_path: Path) -> None:
    built = build("source.generator", {"total_rows": 100, "rows_per_batch": 40}, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drained.batches.clear()
    moved(built, tmp_path / "live", {"next": 70})
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.everything == list(range(70, 100))


@pytest.mark.parametrize(("key", "first"), [(12, 13), (None, 0)])
def test_a_table_is_read_behind_the_key_that_was_named(
    spark: SparkSession, build: Build, database: Database, tmp_path: Path, key: int | None, first: int
) -> None:
    numbered(database, 0, 25)
    config = {"connection": "db", "table": "numbers", "key_column": "id", "rows_per_batch": 10}
    built = build("source.jdbc", config, connections=database.connections, mode="stream")
    drained = Drained()
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    drained.batches.clear()
    moved(built, tmp_path / "live", {"key": key})
    drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.everything == list(range(first, 25))
