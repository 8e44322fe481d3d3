"""Every error has one shape."""

import json
from base64 import urlsafe_b64encode

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.api.base import ApiView
from tests.api.rows import chain, codes, job, send

pytestmark = pytest.mark.django_db


def cursor(told: dict[str, str]) -> str:
    return urlsafe_b64encode(json.dumps([told, 1]).encode()).decode()


@pytest.mark.parametrize(
    ("method", "path", "body", "kind", "status"),
    [
        ("GET", "/api/nowhere", "", "application/json", 404),
        ("POST", "/api/nowhere", "{}", "application/json", 404),
        ("GET", "/api/", "", "application/json", 404),
        ("GET", "/api/jobs/nope", "", "application/json", 404),
        ("DELETE", "/api/jobs", "", "application/json", 405),
        ("POST", "/api/jobs", "{", "application/json", 400),
        ("POST", "/api/jobs", '{"a": NaN}', "application/json", 400),
        ("POST", "/api/jobs", "[1]", "application/json", 400),
        ("POST", "/api/jobs", b"\xff\xfe", "application/json", 400),
        ("POST", "/api/jobs", "[" * 100_000, "application/json", 400),
        ("POST", "/api/jobs", "a=1", "application/x-www-form-urlencoded", 415),
        ("POST", "/api/jobs", json.dumps({"x": "y" * 3_000_000}), "application/json", 413),
        ("POST", "/api/jobs", "{}", "application/json", 422),
        ("GET", "/api/jobs?order=password", "", "application/json", 422),
        ("GET", "/api/jobs?cursor=broken", "", "application/json", 404),
        ("GET", "/api/executions?created_after=yesterday", "", "application/json", 422),
        ("GET", "/api/executions?created_after=0001-01-01T00:00:00%2B14:00", "", "application/json", 422),
        ("GET", "/api/executions?created_before=9999-12-31T23:59:59-14:00", "", "application/json", 422),
        ("GET", f"/api/executions?cursor={cursor({'t': '0001-01-01T00:00:00+14:00'})}", "", "application/json", 404),
        ("GET", f"/api/jobs?order=job_name&cursor={cursor({'s': 'a' + chr(0)})}", "", "application/json", 404),
        ("GET", f"/api/jobs?order=job_name&cursor={cursor({'s': chr(0xD800)})}", "", "application/json", 404),
        ("GET", "/api/executions/%27;drop", "", "application/json", 404),
        ("GET", "/api/search?q=numbers%00", "", "application/json", 404),
        ("GET", "/api/jobs/numbers%00", "", "application/json", 404),
        ("POST", "/api/connections", '{"name": "a\\u0000b", "kind": "sqlite"}', "application/json", 422),
        ("POST", "/api/connections", '{"name": "\\ud800", "kind": "sqlite"}', "application/json", 422),
        ("POST", "/api/connections", '{"name": 123456789012345678901234567890}', "application/json", 422),
    ],
)
def test_an_error_says_code_message_and_problems(
    browser: Client, method: str, path: str, body: str | bytes, kind: str, status: int
) -> None:
    answer = browser.generic(method, path, body, content_type=kind)
    assert answer.status_code == status, answer.content[:300]
    error = answer.json()["error"]
    assert {"code", "message", "problems"} <= set(error)
    assert error["code"]
    assert error["message"]


def test_a_document_over_one_mebibyte_is_told_as_too_large(browser: Client) -> None:
    large = chain(description="x" * 1_200_000)
    answer = send(browser, "POST", "/api/jobs", large)
    assert answer.status_code == 422
    assert answer.json()["error"]["problems"][0]["code"] == "document.too_large"


def test_what_nobody_foresaw_is_500_without_details(
    browser: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: ApiView) -> User:
        raise RuntimeError("password=canary")

    monkeypatch.setattr(ApiView, "user", broken)
    answer = browser.get("/api/jobs")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "internal"
    assert "canary" not in answer.content.decode()


def test_a_write_with_a_session_wants_the_csrf_token(editor: User) -> None:
    job(editor)
    client = Client(enforce_csrf_checks=True)
    client.force_login(editor)
    answer = send(client, "POST", "/api/jobs/numbers/disable", {})
    assert answer.status_code == 403
    assert "CSRF" in answer.json()["error"]["message"]
    token = (client.get("/sign-in") and client.get("/").cookies.get("csrftoken")) or client.cookies["csrftoken"]
    assert send(client, "POST", "/api/jobs/numbers/disable", {}, x_csrftoken=token.value).status_code == 200


@pytest.mark.parametrize("path", ["start", "publish", "enable", "disable"])
def test_nothing_changes_by_get(browser: Client, editor: User, path: str) -> None:
    job(editor)
    assert browser.get(f"/api/jobs/numbers/{path}").status_code == 405


def test_any_accept_header_gets_json(browser: Client) -> None:
    answer = browser.get("/api/jobs", headers={"accept": "text/html"})
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/json")


@pytest.mark.parametrize(
    "path",
    [
        "/api/jobs?status=NOPE",
        "/api/jobs?job_type=STREAM",
        "/api/executions?status=NOPE",
        "/api/executions?triggered_by=ME",
        "/api/checkpoints?origin=NOPE",
        "/api/checkpoints?is_savepoint=maybe",
        "/api/checkpoints?kept=9",
        "/api/jobs?enabled=perhaps",
        "/api/jobs?scheduled=never",
        "/api/jobs?page_size=many",
        "/api/checkpoints/orphans?kind=lost",
        "/api/checkpoints/retention?action=DELETE",
    ],
)
def test_a_query_that_could_only_find_nothing_is_refused_by_name(browser: Client, path: str) -> None:
    answer = browser.get(path)
    name = path.partition("?")[2].partition("=")[0]
    assert (answer.status_code, codes(answer)) == (422, ["query.invalid"])
    assert answer.json()["error"]["problems"][0]["pointer"] == f"/{name}"


def test_a_parameter_that_there_is_not_is_refused_and_nothing_is_done(browser: Client, editor: User) -> None:
    job(editor)
    assert send(browser, "PUT", "/api/jobs/numbers/config", {"limits.rows_per_batch": 5}).status_code == 200
    answer = browser.delete("/api/jobs/numbers/config?kee=limits.rows_per_batch")
    assert (answer.status_code, codes(answer)) == (422, ["query.unknown"])
    problem = answer.json()["error"]["problems"][0]
    assert (problem["pointer"], problem["message"]) == ("/kee", 'there is no parameter called "kee"; did you mean "key"?')
    assert browser.get("/api/jobs/numbers/config").json()["results"]
    listed = browser.get("/api/executions?job=numbers").json()["error"]["problems"][0]["message"]
    assert listed == 'there is no parameter called "job"; did you mean "job_name"?'
    assert browser.get("/api/me?a=1").status_code == 422


def test_a_wrong_choice_is_pointed_at_without_the_names_of_the_ways(browser: Client, editor: User) -> None:
    job(editor)
    problems = send(browser, "POST", "/api/jobs/numbers/start", {"from": "nowhere"}).json()["error"]["problems"]
    assert {problem["pointer"] for problem in problems} == {"/from"}
    words = ["\"from\" is 'nowhere'; it must be 'continue' or 'beginning'", '"from" must be a whole number']
    assert [problem["message"] for problem in problems] == words


@pytest.mark.parametrize(
    ("path", "body", "words"),
    [
        ("/api/checkpoints/delete", {"ids": []}, '"ids" has too few entries: at least 1'),
        ("/api/checkpoints/delete", {"ids": list(range(501))}, '"ids" has too many entries: at most 500'),
        ("/api/tokens", {"name": "n" * 101}, '"name" is too long: at most 100 characters'),
        ("/api/tokens", {"name": ""}, '"name" must not be empty'),
        ("/api/jobs/preview", {"document": {}, "rows": 0}, '"rows" must be 1 or more'),
        ("/api/jobs/preview", {"document": {}, "rows": 1001}, '"rows" must be 1,000 or less'),
    ],
)
def test_a_size_that_does_not_fit_is_told_in_plain_words(browser: Client, path: str, body: dict[str, object], words: str) -> None:
    problems = send(browser, "POST", path, body).json()["error"]["problems"]
    assert words in [problem["message"] for problem in problems]


@pytest.mark.parametrize(
    ("path", "body", "pointer"),
    [
        ("/api/jobs/numbers/start", {"from": True}, "/from"),
        ("/api/jobs/numbers/start", {"version": True}, "/version"),
        ("/api/checkpoints/delete", {"ids": [3, True]}, "/ids"),
    ],
)
def test_true_is_no_number(browser: Client, editor: User, path: str, body: dict[str, object], pointer: str) -> None:
    job(editor)
    answer = send(browser, "POST", path, body)
    assert answer.status_code == 422
    (problem,) = answer.json()["error"]["problems"]
    assert (problem["pointer"], problem["message"]) == (pointer, f'"{pointer[1:]}" must be a whole number')


@pytest.mark.parametrize("address", ["/api/jobs", "/api/executions", "/api/checkpoints", "/api/connections"])
def test_a_text_too_long_to_be_looked_for_is_refused_in_words(browser: Client, address: str) -> None:
    answer = browser.get(address, {"q": "x" * 60_000})
    (problem,) = answer.json()["error"]["problems"]
    assert (answer.status_code, problem["message"]) == (422, "q has 60,000 characters; at most 200 are kept")
    assert browser.get(address, {"q": "x" * 200}).status_code == 200
