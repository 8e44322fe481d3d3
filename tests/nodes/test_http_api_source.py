"""`source.http_api` inside Spark, against a real server."""

import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from jobs.nodes.base import REJECTED, ConnectionSettings, Limits, NodeError
from jobs.nodes.misfits import reason_told
from jobs.nodes.readers import http_pages
from jobs.nodes.readers.http_pages import HttpPages
from jobs.nodes.worker_errors import node_error_in
from tests.nodes.api_server import (
    Answer,
    ApiServer,
    Request,
    api_server,
    as_gzip,
    as_json,
    by_cursor,
    by_link,
    by_offset,
    handing_out,
    paged,
    records,
)
from tests.nodes.conftest import Build, Built
from tests.nodes.streams import Drained

pytestmark = pytest.mark.spark

COLUMNS = [{"name": "id", "type": "long"}, {"name": "name"}]


def source(build: Build, server: ApiServer, config: dict[str, Any] | None = None, **given: Any) -> Built:
    connection = ConnectionSettings("api", "http_api", {"base_url": server.url, "auth": "bearer"}, {"token": "canary-4711"})
    defaults = {"connection": "api", "path": "things", "page_size": 10, "records_pointer": "/results", "columns": COLUMNS, "attempts": 1}
    limits = Limits(http_allowed_hosts=(server.host,))
    return build("source.http_api", defaults | (config or {}), connections={"api": connection}, limits=limits, **given)


def test_pages_become_batches_and_each_record_one_row(spark: SparkSession, build: Build, tmp_path: Path):
    with api_server(paged(47)) as server:
        built = source(build, server, {"pages_per_batch": 2, "total_pointer": "/total"}, mode="stream")
        drained = Drained()
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(20)), 1: list(range(20, 40)), 2: list(range(40, 47))}
    assert drained.end_offset()["progress"] == {"done": 47, "total": 47, "unit": "rows"}
    assert server.requests[0].path == "/things"
    assert server.requests[0].headers["Authorization"] == "Bearer canary-4711"


@pytest.mark.parametrize(("pointer", "told"), [("/nope", True), ("/total", False), ("", False)])
def test_a_pointer_to_no_total_is_told_while_a_job_is_drawn(spark: SparkSession, build: Build, pointer: str, told: bool):
    with api_server(paged(20)) as server:
        built = source(build, server, {"total_pointer": pointer, "columns": []}, schema_only=True)
        built.node.read(spark, built.context)
    words = 'the first page has no whole number at "/nope": correct the total pointer, or leave it empty'
    cautions = [(caution.field, caution.message) for caution in built.node.cautions(built.context, [])]
    assert cautions == ([("total_pointer", words)] if told else [])


def test_a_run_after_the_end_finds_only_what_is_new(spark: SparkSession, build: Build, tmp_path: Path):
    with api_server(paged(20, total=False)) as server:
        built = source(build, server, mode="stream")
        drained = Drained()
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
        server.answer = paged(25, total=False)
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(10)), 1: list(range(10, 20)), 2: list(range(20, 25))}


def test_a_pace_holds_over_batches(spark: SparkSession, build: Build, tmp_path: Path):
    times: list[float] = []

    def answer(request: Request) -> Answer:
        times.append(time.monotonic())
        return paged(30)(request)

    with api_server(answer) as server:
        built = source(build, server, {"requests_per_second": 1, "total_pointer": "/total"}, mode="stream")
        drained = Drained()
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert len(drained.batches) == 3
    assert min(later - earlier for earlier, later in pairwise(times)) > 0.5


@pytest.mark.parametrize("style", ["page", "cursor"])
def test_a_batch_that_failed_is_run_again_with_the_pages_it_had(spark: SparkSession, build: Build, tmp_path: Path, style: str):
    with api_server(paged(30) if style == "page" else by_cursor(30)) as server:
        built = source(build, server, {"paging": style, "pages_per_batch": 1}, mode="stream")
        drained = Drained()
        drained.failing = 1
        with pytest.raises(StreamingQueryException, match="the sink is away"):
            drained.run(built.node.read(spark, built.context), tmp_path / "live")
        server.answer = lambda request: as_json({"results": records(1000, 1010) if "2" in str(request.query) else []})
        drained.failing = None
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
        assert drained.batches[1] == list(range(10, 20))
        assert list((built.context.work_dir / "pages").iterdir())
        built.node.complete(built.context)
        assert not (built.context.work_dir / "pages").exists()


def test_pages_that_are_gone_are_asked_for_again(spark: SparkSession, build: Build, tmp_path: Path):
    with api_server(by_cursor(30, address="/things")) as server:
        built = source(build, server, {"paging": "cursor", "pages_per_batch": 2}, mode="stream")
        drained = Drained()
        drained.failing = 1
        with pytest.raises(StreamingQueryException):
            drained.run(built.node.read(spark, built.context), tmp_path / "live")
        for file in (built.context.work_dir / "pages").iterdir():
            file.unlink()
        drained.failing = None
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(20)), 1: list(range(20, 30))}


def test_a_whole_read_walks_all_pages(spark: SparkSession, build: Build):
    with api_server(paged(25, total=False)) as server:
        built = source(build, server, {"columns": [], "pages_per_batch": 3})
        frame = built.node.read(spark, built.context)
        assert frame.dtypes == [("id", "bigint"), ("name", "string"), (REJECTED, "string")]
        assert sorted(row["id"] for row in frame.collect()) == list(range(25))


def test_columns_are_those_of_the_first_page_that_holds_records(spark: SparkSession, build: Build):
    def answer(request: Request) -> Answer:
        page = int(request.query.get("cursor", "0"))
        return as_json({"results": [] if page < 3 else records(page, page + 1), "next_cursor": page + 1 if page < 5 else None})

    with api_server(answer) as server:
        built = source(build, server, {"columns": [], "paging": "cursor"})
        frame = built.node.read(spark, built.context)
        assert frame.dtypes == [("id", "bigint"), ("name", "string"), (REJECTED, "string")]
        assert sorted(row["id"] for row in frame.collect()) == [3, 4, 5]


def test_pages_without_records_tell_no_columns(spark: SparkSession, build: Build):
    numbers = iter(range(1, 1000))
    with api_server(lambda request: as_json({"results": [], "next_cursor": next(numbers)})) as server:
        built = source(build, server, {"columns": [], "paging": "cursor"})
        with pytest.raises(NodeError, match="the first page is empty, so it tells no columns; list the columns"):
            built.node.read(spark, built.context)
        assert len(server.requests) == 20


def test_validation_asks_for_nothing_when_the_columns_are_listed(spark: SparkSession, build: Build):
    with api_server(paged(5)) as server:
        built = source(build, server, schema_only=True)
        assert built.node.read(spark, built.context).dtypes == [("id", "bigint"), ("name", "string"), (REJECTED, "string")]
        assert server.requests == []


def test_a_record_of_the_wrong_shape_is_rejected_and_the_rest_goes_on(spark: SparkSession, build: Build):
    odd = {"results": [{"id": 1, "name": "a"}, {"id": "x", "name": "b"}, "text", {"name": "c"}, None, [1]]}
    with api_server(lambda request: as_json(odd)) as server:
        built = source(build, server, {"paging": "none"})
        frame = built.node.read(spark, built.context)
        good = frame.filter(f"{REJECTED} IS NULL")
        assert sorted((row["id"], row["name"]) for row in good.collect() if row["id"]) == [(1, "a")]
        assert [row["name"] for row in good.collect() if row["id"] is None] == ["c"]
        assert good.select("name").count() == 2
        reasons = sorted(row[0] for row in frame.select(reason_told(frame)).collect() if row[0] is not None)
    assert len(reasons) == 4
    assert reasons[-1] == 'the record does not fit the columns: id should be bigint, not "x":\n{"id": "x", "name": "b"}'


def test_what_went_wrong_in_a_worker_comes_out_as_its_sentence(spark: SparkSession, build: Build, tmp_path: Path):
    def answer(request: Request) -> Answer:
        return paged(100)(request) if request.query["page"] == "1" else (200, {"Content-Type": "text/html"}, b"<html>Sign in</html>")

    with api_server(answer) as server:
        built = source(build, server, mode="stream")
        drained = Drained()
        with pytest.raises(StreamingQueryException) as caught:
            drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(10))}
    carried = node_error_in(str(caught.value))
    assert carried is not None
    assert carried.node_id == "node"
    assert "the answer is HTML instead of JSON" in carried.error.message
    assert carried.error.permanent
    assert "canary-4711" not in str(caught.value)


def test_a_token_shows_neither_in_plans_nor_in_progress(spark: SparkSession, build: Build, tmp_path: Path):
    with api_server(paged(10)) as server:
        batch = source(build, server)
        frame = batch.node.read(spark, batch.context)
        plan: Any = frame
        assert "canary-4711" not in plan._jdf.queryExecution().toString()
        stream = source(build, server, mode="stream")
        drained = Drained()
        drained.run(stream.node.read(spark, stream.context), tmp_path / "live")
    assert "canary-4711" not in json.dumps([progress.json if hasattr(progress, "json") else str(progress) for progress in drained.progress])
    kept = [file.read_text() for file in tmp_path.rglob("*") if file.is_file() and file.suffix in ("", ".json")]
    assert not any("canary-4711" in text for text in kept)


STYLES: dict[str, tuple[Callable[[int], Callable[[Request], Answer]], dict[str, Any]]] = {
    "offset": (by_offset, {"page_size_parameter": "limit"}),
    "next_link": (by_link, {}),
    "link_header": (lambda count: by_link(count, header=True), {}),
    "until_empty": (handing_out, {}),
}


@pytest.mark.parametrize("style", STYLES)
def test_each_style_becomes_batches_that_are_run_again_with_the_pages_they_had(
    spark: SparkSession, build: Build, tmp_path: Path, style: str
):
    answer, config = STYLES[style]
    with api_server(answer(50)) as server:
        built = source(build, server, {"paging": style, "pages_per_batch": 2} | config, mode="stream")
        drained = Drained()
        drained.failing = 1
        with pytest.raises(StreamingQueryException, match="the sink is away"):
            drained.run(built.node.read(spark, built.context), tmp_path / "live")
        drained.failing = None
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
    assert drained.batches == {0: list(range(20)), 1: list(range(20, 40)), 2: list(range(40, 50))}


def test_what_was_handed_out_once_is_found_again_when_batches_are_replayed_together(spark: SparkSession, build: Build, tmp_path: Path):
    """Two batches whose answers cannot be had again, read as one: only what was kept of them has their records."""
    with api_server(handing_out(40)) as server:
        built = source(build, server, {"paging": "until_empty"}, mode="stream")
        drained = Drained()
        drained.run(built.node.read(spark, built.context), tmp_path / "live")
        asked = len(server.requests)
        reader: Any = HttpPages(_options(built, server)).streamReader(HttpPages({}).schema())  # type: ignore[arg-type]
        start, end = reader.initialOffset(), drained.end_offset()
        keys = reader.partitions(start, end)
        found = [json.loads(text.as_py())["id"] for key in keys for batch in reader.read(key) for text in batch.column("value")]
        reader.stop()
    assert found == list(range(40))
    assert len(server.requests) == asked


def _options(built: Built, server: ApiServer) -> dict[str, str]:
    settings = {
        "node_id": "node",
        "config": built.context.config.model_dump(mode="json"),
        "connection": {"name": "api", "kind": "http_api", "config": {"base_url": server.url}},
        "http_allowed_hosts": [server.host],
        "tried_again": str(built.context.work_dir / "tried_again.json"),
        "pages": str(built.context.work_dir / "pages"),
    }
    return {"settings": json.dumps(settings), "secret": "{}"}


def test_values_of_every_type_come_as_they_are(spark: SparkSession, build: Build):
    columns = [
        {"name": "name"},
        {"name": "amount", "type": "decimal(30, 4)"},
        {"name": "at", "type": "timestamp"},
        {"name": "tags", "type": "array<string>"},
        {"name": "map", "type": "map<string, double>"},
        {"name": "nothing", "type": "long"},
    ]
    body = (
        '{"results": [{"name": "Zoë 漢 \\n", "amount": 12345678901234567890.1200, "at": "2013-01-02T05:04:05.678+02:00", '
        '"tags": ["a", null], "map": {"k": 0.5}, "nothing": null}, {"name": "' + "ü" * 524_288 + '"}]}'
    )
    with api_server(lambda request: as_gzip(body.encode())) as server:
        built = source(build, server, {"paging": "none", "columns": columns})
        frame = built.node.read(spark, built.context)
        assert frame.filter(f"{REJECTED} IS NOT NULL").count() == 0
        rows = frame.selectExpr("name", "CAST(amount AS STRING) AS amount", "CAST(at AS STRING) AS at", "tags", "map", "nothing").collect()
        assert "gzip" in server.requests[0].headers["Accept-Encoding"]
    assert (rows[0].name, rows[0].amount, rows[0].at) == ("Zoë 漢 \n", "12345678901234567890.1200", "2013-01-02 03:04:05.678")
    assert (rows[0].tags, rows[0].map, rows[0].nothing) == (["a", None], {"k": 0.5}, None)
    assert len(rows[1].name) == 524_288


def test_a_body_is_posted_with_the_cursor_from_inside_spark(spark: SparkSession, build: Build):
    def answer(request: Request) -> Answer:
        first = request.document.get("after", 0)
        return as_json({"results": records(first, first + 10), "next_cursor": first + 10 if first < 20 else None})

    with api_server(answer) as server:
        config = {"paging": "cursor", "method": "POST", "body": '{"after": "${cursor}", "at": "${now}"}', "cursor_parameter": ""}
        built = source(build, server, config)
        assert sorted(row["id"] for row in built.node.read(spark, built.context).collect()) == list(range(30))
        assert {request.method for request in server.requests} == {"POST"}


def test_half_a_character_in_a_record_becomes_a_question_mark():
    """As where a program cut a text in the middle of one."""
    batch = http_pages._rows(['{"name": "a\ud83d"}', '{"name": "b"}'])
    assert batch.column(0).to_pylist() == ['{"name": "a?"}', '{"name": "b"}']
