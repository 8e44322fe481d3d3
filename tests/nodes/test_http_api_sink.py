"""`sink.http_api` inside Spark, against a real server."""

import json
import threading
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import Batch, ConnectionSettings, Limits, NodeError, Written
from jobs.nodes.sinks.http_api import HttpApiSinkConfig
from jobs.nodes.sinks.http_requests import Requests, Row, Unfit
from tests.nodes.api_server import Answer, ApiServer, Request, api_server
from tests.nodes.conftest import Build, Built
from tests.nodes.rejections import rejections_in, rows_led_on

CANARY = "canary-4711"
ODD = (
    "SELECT 1 AS id, 'Zoë 漢 \"q\" \\\\ \\n' AS name, CAST(12345678901234567890.1200 AS DECIMAL(30, 4)) AS amount, "
    "TIMESTAMP '2013-01-02 03:04:05.678' AS at, named_struct('a', array(1, NULL), 'b', map('k', 0.5D)) AS nested, "
    "CAST(NULL AS STRING) AS nothing, true AS flag, DATE '2013-01-02' AS day"
)


def taken(request: Request) -> Answer:
    return 201, {}, b""


def sink(build: Build, server: ApiServer, config: dict[str, Any] | None = None, **given: Any) -> Built:
    connection = ConnectionSettings("api", "http_api", {"base_url": server.url, "auth": "bearer"}, {"token": CANARY})
    limits = Limits(http_allowed_hosts=(server.host,))
    config = {"connection": "api", "path": "things", "attempts": 1} | (config or {})
    return build("sink.http_api", config, connections={"api": connection}, limits=limits, **given)


def written(built: Built, frame: DataFrame, batch_id: int = 0, **batch: Any) -> Written:
    built.node.begin(frame.sparkSession, frame.schema, built.context)
    try:
        found: Written = built.node.write(frame, Batch(batch_id, "out", **batch), built.context)
    finally:
        built.node.close(built.context)
    return found


def numbers(spark: SparkSession, count: int, partitions: int = 1) -> DataFrame:
    return spark.range(0, count, 1, partitions).selectExpr("id", "concat('n', id) AS name")


def keys_of(server: ApiServer) -> list[str]:
    return [request.headers["Idempotency-Key"] for request in server.requests]


def refusing(condition: Callable[[Any], bool], words: bytes = b"no", status: int = 422) -> Callable[[Request], Answer]:
    return lambda request: (status, {}, words) if condition(request.document) else (200, {}, b"")


pytestmark = pytest.mark.spark


def test_each_row_is_sent_whole_and_in_order(spark: SparkSession, build: Build):
    with api_server(taken) as server:
        assert written(sink(build, server), numbers(spark, 25)) == Written(rows=25)
        assert server.documents() == [{"id": number, "name": f"n{number}"} for number in range(25)]
        request = server.requests[0]
    assert (request.method, request.path, request.headers["Content-Type"]) == ("POST", "/things", "application/json")
    assert request.headers["Authorization"] == f"Bearer {CANARY}"


def test_no_row_is_lost_among_many_partitions_and_each_keeps_its_order(spark: SparkSession, build: Build):
    with api_server(taken) as server:
        assert written(sink(build, server, {"concurrency": 3}), numbers(spark, 60, 5)) == Written(rows=60)
        ids = [document["id"] for document in server.documents()]
        assert sorted(ids) == list(range(60))
        for first in range(0, 60, 12):
            part = [number for number in ids if first <= number < first + 12]
            assert part == sorted(part)
        assert len(set(keys_of(server))) == 60


def test_values_of_every_type_arrive_as_json(spark: SparkSession, build: Build):
    with api_server(taken) as server:
        written(sink(build, server, {"keys": ["name", "nothing", "at"]}), spark.sql(ODD))
        body = server.requests[0].body.decode()
        row = json.loads(body)
    assert '"amount":12345678901234567890.1200' in body
    assert row["name"] == 'Zoë 漢 "q" \\ \n'
    assert row["at"] == "2013-01-02T03:04:05.678000Z"
    assert row["nested"] == {"a": [1, None], "b": {"k": 0.5}}
    assert (row["nothing"], row["flag"], row["day"]) == (None, True, "2013-01-02")
    assert keys_of(server)[0].endswith("/node/Zo%C3%AB%20%E6%BC%A2%20%22q%22%20%5C%20%0A/%00/2013-01-02T03%3A04%3A05.678Z"), (
        "as it always was"
    )


def test_a_row_of_a_megabyte_arrives(spark: SparkSession, build: Build):
    frame = spark.range(3).selectExpr("id", "repeat('ü', 524288) AS text")
    with api_server(taken) as server:
        assert written(sink(build, server), frame).rows == 3
        assert all(len(document["text"]) == 524288 for document in server.documents())


def test_templates_are_filled_from_the_row(spark: SparkSession, build: Build):
    config = {
        "method": "PUT",
        "path": "days/${day}/${name}",
        "body": '{"order": {"amount": "${amount}", "label": "No. ${id} of ${name}", "tags": ${nested}, "none": "${nothing}"}}',
        "parameters": [{"name": "flag", "value": "${flag}"}],
        "headers": [{"name": "X-Day", "value": "day ${day}"}, {"name": "content-type", "value": "application/vnd.x+json"}],
    }
    with api_server(taken) as server:
        written(sink(build, server, config), spark.sql(ODD))
        request = server.requests[0]
    assert (request.method, request.path) == ("PUT", "/days/2013-01-02/Zo%C3%AB%20%E6%BC%A2%20%22q%22%20%5C%20%0A")
    assert request.query == {"flag": "true"}
    assert (request.headers["X-Day"], request.headers["content-type"]) == ("day 2013-01-02", "application/vnd.x+json")
    assert '"amount": 12345678901234567890.1200' in request.body.decode()
    order = request.document["order"]
    assert order["label"] == 'No. 1 of Zoë 漢 "q" \\ \n'
    assert (order["tags"], order["none"]) == ({"a": [1, None], "b": {"k": 0.5}}, None)


@pytest.mark.parametrize("shape", ["array", "lines"])
def test_several_rows_go_together(spark: SparkSession, build: Build, shape: str):
    with api_server(taken) as server:
        config = {"rows_per_request": 10, "many_rows_as": shape, "keys": ["id"], "body": '{\n"n": "${id}"}'}
        assert written(sink(build, server, config), numbers(spark, 25)) == Written(rows=25)
        bodies = [request.body.decode() for request in server.requests]
        kind = server.requests[0].headers["Content-Type"]
        keys = keys_of(server)
    sent = [json.loads(body) if shape == "array" else [json.loads(line) for line in body.splitlines()] for body in bodies]
    assert [[row["n"] for row in rows] for rows in sent] == [list(range(10)), list(range(10, 20)), list(range(20, 25))]
    assert kind == ("application/json" if shape == "array" else "application/x-ndjson")
    assert keys[2].endswith("/node/20;21;22;23;24")


def test_a_row_is_one_line_and_its_texts_stay_what_they_are(spark: SparkSession, build: Build):
    text = "a\u0085b\u2028c\u2029d\re\nf\x0bg"
    with api_server(taken) as server:
        config = {"rows_per_request": 10, "many_rows_as": "lines"}
        written(sink(build, server, config), spark.createDataFrame([(text,), (text,)], "name string").coalesce(1))
        lines = server.requests[0].body.decode().split("\n")
    assert [json.loads(line)["name"] for line in lines[:-1]] == [text, text]
    assert lines[-1] == ""


def test_a_row_is_deleted_without_a_body(spark: SparkSession, build: Build):
    with api_server(lambda request: (404, {}, b"gone") if request.path == "/things/1" else (204, {}, b"")) as server:
        config = {"method": "DELETE", "path": "things/${id}", "accepted_statuses": "404, 410"}
        assert written(sink(build, server, config), numbers(spark, 3)) == Written(rows=3)
        assert [(request.method, request.path, request.body) for request in server.requests][1] == ("DELETE", "/things/1", b"")


def test_a_key_of_columns_is_the_same_in_every_run_and_one_of_places_only_in_a_repeat(spark: SparkSession, build: Build):
    def keys(batch: int, generation: str, **config: Any) -> list[str]:
        with api_server(taken) as server:
            written(sink(build, server, config, generation=generation), numbers(spark, 4, 2), batch)
            return sorted(keys_of(server))

    assert keys(0, "g1", keys=["id"]) == keys(7, "g2", keys=["id"])
    assert keys(0, "g1", keys=["id"])[0] == "5d0f6c3e-0000-4000-8000-000000000001/node/0"
    first = keys(0, "g1")
    assert first == keys(0, "g1")
    assert first[0].endswith("/node/g1/0/0-0")
    assert not set(first) & set(keys(1, "g1"))
    assert not set(first) & set(keys(0, "g2"))


def test_refused_rows_are_counted_and_handed_over_in_the_servers_words(spark: SparkSession, build: Build, tmp_path: Path):
    rejections = rejections_in(tmp_path)
    words = f"id is taken, {CANARY}".encode()
    with api_server(refusing(lambda row: row["id"] % 10 == 3, words)) as server:
        frame = numbers(spark, 40, 2).selectExpr("*", "TIMESTAMP '2024-02-29 12:00:00.123456' AS at")
        result = written(sink(build, server), frame, rejections=rejections)
        assert len(server.requests) == 40
    assert rows_led_on(rejections, frame) == sorted(tuple(row) for row in frame.filter("id % 10 = 3").collect())
    assert (result.rows, result.rejected) == (36, 4)
    reasons = {reason for reason, _ in result.rejected_rows}
    assert reasons == {"the server answered 422 Unprocessable Entity: id is taken, ***"}
    assert sorted(json.loads(row)["id"] for _, row in result.rejected_rows) == [3, 13, 23, 33]


def test_the_rejected_rows_handed_over_are_bounded_and_their_count_is_not(spark: SparkSession, build: Build):
    with api_server(refusing(lambda row: True)) as server:
        result = written(sink(build, server, {"rows_per_request": 50}), numbers(spark, 1000, 4))
    assert (result.rows, result.rejected) == (0, 1000)
    assert 0 < len(result.rejected_rows) <= 100


def test_the_first_rejected_row_is_enough_where_the_job_fails_by_it(spark: SparkSession, build: Build):
    with api_server(refusing(lambda row: row["id"] == 2)) as server:
        result = written(sink(build, server), numbers(spark, 100), fails_at_rejected=True)
        assert len(server.requests) == 3
    assert result.rejected == 1


@pytest.mark.parametrize("value", ["''", "'..'", "CAST(NULL AS STRING)", "repeat('x', 9000)"])
def test_a_row_that_makes_no_request_is_rejected_without_one(spark: SparkSession, build: Build, value: str):
    with api_server(taken) as server:
        result = written(sink(build, server, {"path": "a/${v}"}), spark.sql(f"SELECT {value} AS v"))
        assert (result.rejected, server.requests) == (1, [])


@pytest.mark.parametrize(
    ("status", "permanent", "sentence"),
    [
        (401, True, "the sign-in was refused"),
        (403, True, "the sign-in was refused"),
        (500, False, "answered 500"),
        (429, False, "answered 429"),
    ],
)
def test_what_is_no_fault_of_the_rows_fails_the_node(spark: SparkSession, build: Build, status: int, permanent: bool, sentence: str):
    with api_server(lambda request: (status, {}, CANARY.encode())) as server, pytest.raises(NodeError) as caught:
        written(sink(build, server), numbers(spark, 10))
    assert sentence in caught.value.message
    assert caught.value.permanent is permanent
    assert CANARY not in str(caught.value)


def test_a_server_that_is_busy_or_gone_for_a_while_gets_each_row_in_the_end(spark: SparkSession, build: Build):
    seen: dict[int, int] = {}

    def answer(request: Request) -> Answer:
        number = request.document["id"]
        seen[number] = seen.get(number, 0) + 1
        if seen[number] == 1 and number % 3 == 0:
            return 503, {"Retry-After": "0"}, b""
        if seen[number] == 1 and number % 3 == 1:
            raise ConnectionResetError
        return 200, {}, b""

    with api_server(answer) as server:
        assert written(sink(build, server, {"attempts": 3}), numbers(spark, 6)) == Written(rows=6)
        keys = keys_of(server)
    assert seen == {0: 2, 1: 2, 2: 1, 3: 2, 4: 2, 5: 1}
    assert len(set(keys)) == 6  # a repeat carries the key of the first try


def test_a_server_that_is_not_there_is_told_in_one_sentence(spark: SparkSession, build: Build):
    with api_server(taken) as server:
        built = sink(build, server)
    with pytest.raises(NodeError, match="Connection refused; check address and network") as caught:
        written(built, numbers(spark, 3))
    assert not caught.value.permanent


def test_requests_at_once_are_as_many_as_allowed_and_no_more(spark: SparkSession, build: Build):
    lock, changed = threading.Lock(), threading.Barrier(4)
    under_way = most = 0

    def answer(request: Request) -> Answer:
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        changed.wait(20)
        with lock:
            under_way -= 1
        return 200, {}, b""

    with api_server(answer) as server:
        config = {"concurrency": 4, "keep_order": False}
        frame = numbers(spark, 40, spark.sparkContext.defaultParallelism)
        assert written(sink(build, server, config), frame) == Written(rows=40)
    assert most == 4


def test_a_pace_holds_for_all_tasks_together(spark: SparkSession, build: Build):
    times: list[float] = []

    def answer(request: Request) -> Answer:
        times.append(time.monotonic())
        return 200, {}, b""

    with api_server(answer) as server:
        config = {"concurrency": 4, "keep_order": False, "requests_per_second": 20}
        assert written(sink(build, server, config), numbers(spark, 12, 4)) == Written(rows=12)
    assert max(times) - min(times) >= 11 / 20 - 0.1


def test_a_pace_holds_over_batches_too(spark: SparkSession, build: Build):
    times: list[float] = []

    def answer(request: Request) -> Answer:
        times.append(time.monotonic())
        return 200, {}, b""

    with api_server(answer) as server:
        built = sink(build, server, {"requests_per_second": 1})
        for batch_id in range(3):
            assert written(built, numbers(spark, 1), batch_id) == Written(rows=1)
    assert min(later - earlier for earlier, later in pairwise(times)) > 0.5


def test_a_parameter_may_be_named_several_times(spark: SparkSession, build: Build):
    with api_server(taken) as server:
        parameters = [{"name": "tag", "value": "a"}, {"name": "tag", "value": "${name}"}]
        assert written(sink(build, server, {"parameters": parameters}), numbers(spark, 1)) == Written(rows=1)
        assert server.requests[0].query_string == "tag=a&tag=n0"


def test_a_column_that_does_not_exist_is_told_before_anything_is_sent(spark: SparkSession, build: Build):
    with api_server(taken) as server:
        for field, config in (("path", {"path": "${nme}"}), ("keys", {"keys": ["nme"]}), ("body", {"body": '{"a": "${nme}"}'})):
            with pytest.raises(NodeError, match=r"there is no column nme; did you mean name\? The columns are id, name") as caught:
                written(sink(build, server, config), numbers(spark, 1))
            assert (caught.value.field, caught.value.permanent) == (field, True)
        assert server.requests == []


def test_an_address_inside_is_refused(spark: SparkSession, build: Build):
    with api_server(taken) as server:
        built = sink(build, server)
        inside = Built(built.node, built.context.__class__(**{**vars(built.context), "limits": Limits()}))
        with pytest.raises(NodeError, match="leads to the private address"):
            written(inside, numbers(spark, 1))
        assert server.requests == []


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"body": '{"a": '}, "the body must be JSON"),
        ({"rows_per_request": 2, "path": "x/${id}"}, "a request with several rows can name columns in its body only"),
        ({"headers": [{"name": "Host", "value": "x"}]}, "the header host is set by the request itself"),
        ({"idempotency_header": "Content-Length"}, "the header content-length is set by the request itself"),
        ({"headers": [{"name": "A", "value": "x"}, {"name": "a", "value": "y"}]}, "a header is named twice"),
        ({"headers": [{"name": "authorization", "value": "x"}]}, "what signs in belongs to the connection"),
        ({"path": "a?b"}, "path"),
        ({"path": "a b"}, "path"),
        ({"accepted_statuses": "500"}, "accepted_statuses"),
    ],
)
def test_what_does_not_fit_together_is_refused(config: dict[str, Any], sentence: str):
    with pytest.raises(ValidationError, match=sentence):
        HttpApiSinkConfig.model_validate({"connection": "api"} | config)


def test_a_key_is_short_and_no_two_rows_share_one():
    config = HttpApiSinkConfig.model_validate({"connection": "api", "keys": ["a", "b"]})
    requests = Requests(config, identity="j/n", batch="g/0")

    def key(*values: str) -> str:
        return requests.of([Row("{}", dict(zip(("a", "b"), values, strict=True)), "0-0")]).headers["Idempotency-Key"]

    assert key('"x"', "1") == "j/n/x/1"
    found = [key('"x/y"', '"z"'), key('"x"', '"y/z"'), key("null", '""'), key('""', "null"), key('"%00"', '""'), key('"a;b"', "1")]
    assert len(set(found)) == len(found)
    long = key(json.dumps("x" * 500), "1")
    assert len(long) < 80
    assert long != key(json.dumps("x" * 501), "1")
    assert long.isascii()


@pytest.mark.parametrize("value", ["line\nbreak", "ümlaut", "x\r\nX-Evil: 1"])
def test_a_header_holds_no_line_break_and_no_foreign_letter(value: str):
    config = HttpApiSinkConfig.model_validate({"connection": "api", "headers": [{"name": "X-V", "value": "${v}"}]})
    with pytest.raises(Unfit, match="the header X-V cannot hold this value"):
        Requests(config, identity="j/n", batch="g/0").of([Row("{}", {"v": json.dumps(value)}, "0-0")])
