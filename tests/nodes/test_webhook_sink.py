"""`sink.webhook` inside Spark, against a real server that checks what `source.webhook` checks."""

from typing import Any

import pytest
from pydantic import ValidationError
from pyspark.sql import SparkSession

from jobs.nodes.base import ConnectionSettings, Limits, NodeError, Written
from jobs.nodes.connections.webhook import is_proven
from jobs.nodes.connections.webhook_receiver import WebhookReceiverConnection, WebhookReceiverSettings
from tests.nodes.api_server import Answer, ApiServer, Request, api_server
from tests.nodes.conftest import Build, Built
from tests.nodes.test_http_api_sink import numbers, written

pytestmark = pytest.mark.spark

SECRET = "canary-0815-ü"
UNICODE = "SELECT 1 AS id, 'Zoë 漢 \"q\" \\\\ \\n' AS name, CAST(12345678901234567890.1200 AS DECIMAL(30, 4)) AS amount"


def sink(build: Build, server: ApiServer, config: dict[str, Any] | None = None, **connection: Any) -> Built:
    receiver = ConnectionSettings("shop", "webhook_receiver", {"url": f"{server.url}/hooks/x", **connection}, {"secret": SECRET})
    limits = Limits(http_allowed_hosts=(server.host,))
    return build("sink.webhook", {"connection": "shop", "attempts": 1} | (config or {}), connections={"shop": receiver}, limits=limits)


def proven(request: Request, **settings: Any) -> bool:
    typed = WebhookReceiverSettings(url="http://x", **settings)
    sender = ConnectionSettings("shop", "webhook", settings, {"secret": SECRET})
    return is_proven(sender, request.headers.get(typed.proof_header, ""), request.body)


@pytest.mark.parametrize("settings", [{}, {"proof_header": "X-Sig", "id_header": "X-Id"}])
def test_each_message_is_one_row_signed_as_the_source_checks_it(spark: SparkSession, build: Build, settings: dict[str, str]):
    with api_server(lambda request: (202 if proven(request, **settings) else 401, {}, b"")) as server:
        assert written(sink(build, server, {"keys": ["id"]}, **settings), spark.sql(UNICODE)) == Written(rows=1)
        (request,) = server.requests
    assert (request.method, request.path, request.headers["Content-Type"]) == ("POST", "/hooks/x", "application/json")
    assert request.document["name"] == 'Zoë 漢 "q" \\ \n'
    assert request.headers[settings.get("id_header", "Idempotency-Key")].endswith("/1")
    assert SECRET not in str(request.headers)


def test_rows_go_together_where_that_is_asked_for(spark: SparkSession, build: Build):
    with api_server(lambda request: (202 if proven(request) else 401, {}, b"")) as server:
        assert written(
            sink(build, server, {"rows_per_request": 10, "many_rows_as": "array", "body": '{"n": "${id}"}'}), numbers(spark, 25)
        ) == Written(rows=25)
        assert [len(request.document) for request in server.requests] == [10, 10, 5]
        assert server.requests[0].document[3] == {"n": 3}


def test_a_token_stands_in_its_header(spark: SparkSession, build: Build):
    with api_server(lambda request: (202, {}, b"")) as server:
        receiver = ConnectionSettings("shop", "webhook_receiver", {"url": server.url, "proof": "token"}, {"secret": "plain-secret"})
        limits = Limits(http_allowed_hosts=(server.host,))
        built = build("sink.webhook", {"connection": "shop"}, connections={"shop": receiver}, limits=limits)
        assert written(built, numbers(spark, 1)) == Written(rows=1)
        assert server.requests[0].headers["X-Hub-Signature-256"] == "plain-secret"


def test_a_message_that_is_refused_is_a_rejected_row(spark: SparkSession, build: Build):
    def answer(request: Request) -> Answer:
        return (413, {}, b"too large") if request.document["id"] == 3 else (202, {}, b"")

    with api_server(answer) as server:
        found = written(sink(build, server), numbers(spark, 5))
    assert (found.rows, found.rejected) == (4, 1)


@pytest.mark.parametrize(
    ("status", "permanent", "words"),
    [(404, False, 'posting to "shop": nobody takes messages at http'), (401, True, "the sign-in was refused")],
)
def test_an_address_where_nobody_is_and_a_wrong_secret_fail_the_job(
    spark: SparkSession, build: Build, status: int, permanent: bool, words: str
):
    with api_server(lambda request: (status, {}, SECRET.encode())) as server, pytest.raises(NodeError) as caught:
        written(sink(build, server), numbers(spark, 5))
    assert words in caught.value.message
    assert caught.value.permanent is permanent
    assert SECRET not in caught.value.message


def test_a_receiver_without_room_is_asked_again_when_it_says(spark: SparkSession, build: Build):
    def answer(request: Request) -> Answer:
        return (503, {"Retry-After": "0"}, b"") if len(server.requests) < 3 else (202, {}, b"")

    with api_server(answer) as server:
        assert written(sink(build, server, {"attempts": 5}), numbers(spark, 1)) == Written(rows=1)
        assert len({request.headers["Idempotency-Key"] for request in server.requests}) == 1


def test_a_private_address_is_not_posted_to_unless_allowed(spark: SparkSession, build: Build):
    with api_server(lambda request: (202, {}, b"")) as server:
        built = sink(build, server)
        receiver = built.context.connections["shop"]
        guarded = build("sink.webhook", {"connection": "shop"}, connections={"shop": receiver}, limits=Limits())
        with pytest.raises(NodeError, match="HTTP_ALLOWED_HOSTS"):
            written(guarded, numbers(spark, 1))
        assert server.requests == []


def test_a_missing_column_and_a_missing_secret_are_told_at_the_start(spark: SparkSession, build: Build):
    with api_server(lambda request: (202, {}, b"")) as server:
        with pytest.raises(NodeError, match="there is no column uid") as caught:
            written(sink(build, server, {"keys": ["uid"]}), numbers(spark, 1))
        assert caught.value.field == "keys"
        bare = ConnectionSettings("shop", "webhook_receiver", {"url": server.url}, {})
        with pytest.raises(NodeError, match="the connection has no secret; enter it"):
            written(build("sink.webhook", {"connection": "shop"}, connections={"shop": bare}), numbers(spark, 1))


def test_the_test_of_a_connection_stops_where_it_fails_and_posts_nothing():
    kind = WebhookReceiverConnection()
    with api_server(lambda request: (202, {}, b"")) as server:
        limits = Limits(http_allowed_hosts=(server.host,))
        settings = ConnectionSettings("shop", "webhook_receiver", {"url": server.url}, {"secret": SECRET})
        assert [(step.name, step.ok) for step in kind.check(settings, limits)] == [("secret", True), ("name", True), ("port", True)]
        assert server.requests == []
    assert [(step.name, step.ok) for step in kind.check(settings, limits)][-1] == ("port", False)
    assert [step.name for step in kind.check(ConnectionSettings("shop", "webhook_receiver", settings.config, {}), limits)] == ["secret"]


@pytest.mark.parametrize("wrong", [{"proof_header": "Host"}, {"id_header": "X-Hub-Signature-256"}, {"url": "http://u:p@h/x"}])
def test_settings_that_cannot_hold_are_refused(wrong: dict[str, str]):
    with pytest.raises(ValidationError):
        WebhookReceiverSettings.model_validate({"url": "http://x", **wrong})
