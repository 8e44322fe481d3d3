"""Signing in to an API: OAuth2 tokens asked for, kept and replaced; keys in the address; and no secret in any text."""

import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from unittest.mock import patch
from urllib.parse import parse_qs
from uuid import uuid4

import pytest
from pydantic import ValidationError

from jobs.nodes import http_sign_in
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.http_api import HttpApiSettings
from jobs.nodes.http_client import HttpApi
from jobs.nodes.http_messages import HttpRequest
from tests.nodes.api_server import Answer, ApiServer, Request, api_server, as_json

CANARY = "canary/4711&ä"


class TokenServer:
    """Gives out t-1, t-2 …; the last `good` of them are taken."""

    def __init__(self, **token: Any) -> None:
        self.token = {"token_type": "Bearer", "expires_in": 3600} | token
        self.given = 0
        self.refused: set[str] = set()

    def __call__(self, request: Request) -> Answer:
        if request.path == "/token":
            self.given += 1
            return as_json({"access_token": f"t-{self.given}"} | self.token)
        signed = request.headers.get("Authorization", "")
        return (401, {}, b"") if signed in self.refused or not signed.startswith("Bearer t-") else as_json([signed])


@pytest.fixture(autouse=True)
def _no_token_known() -> Iterator[None]:
    with patch.object(http_sign_in, "_TOKENS", http_sign_in._Tokens()):
        yield


def api_of(server: ApiServer, *, attempts: int = 1, allowed: tuple[str, ...] | None = None, **config: Any) -> HttpApi:
    typed = {"base_url": server.url, "auth": "oauth2", "token_url": f"{server.url}/token", "client_id": "pipe:line"} | config
    settings = ConnectionSettings("api", "http_api", typed, {"client_secret": CANARY, "api_key": CANARY, "password": CANARY})
    limits = Limits(http_allowed_hosts=(server.host,) if allowed is None else allowed)
    return HttpApi(settings, limits, attempts=attempts, timeout_seconds=5, longest_wait=0.01)


def test_a_token_is_asked_for_once_and_carried_by_every_request():
    with api_server(TokenServer()) as server, api_of(server, scope="read write") as api:
        assert [api.get_json("x", {}) for _ in range(3)] == [["Bearer t-1"]] * 3
        with api_of(server, scope="read write") as other:
            assert other.get_json("x", {}) == ["Bearer t-1"]
        with api_of(server, scope="other") as third:
            assert third.get_json("x", {}) == ["Bearer t-2"]
        asked = server.requests[0]
    assert (asked.method, asked.path) == ("POST", "/token")
    assert parse_qs(asked.body.decode()) == {"grant_type": ["client_credentials"], "scope": ["read write"]}
    assert asked.headers["Authorization"] == "Basic cGlwZSUzQWxpbmU6Y2FuYXJ5JTJGNDcxMSUyNiVDMyVBNA=="  # each part escaped first


def test_client_id_and_secret_may_stand_in_the_form():
    with api_server(TokenServer()) as server, api_of(server, client_auth="body", audience="https://api") as api:
        api.get_json("x", {})
        form = parse_qs(server.requests[0].body.decode())
    assert (form["client_id"], form["client_secret"], form["audience"]) == (["pipe:line"], [CANARY], ["https://api"])
    assert "Authorization" not in server.requests[0].headers


def test_a_token_is_replaced_shortly_before_it_ends():
    now = 1000.0
    with patch("jobs.nodes.http_sign_in.time.monotonic", lambda: now):
        with api_server(TokenServer(expires_in="100")) as server, api_of(server) as api:
            assert api.get_json("x", {}) == ["Bearer t-1"]
            now = 1089.0
            assert api.get_json("x", {}) == ["Bearer t-1"]
            now = 1090.0
            assert api.get_json("x", {}) == ["Bearer t-2"]


def test_a_token_that_is_refused_is_replaced_once():
    tokens = TokenServer()
    tokens.refused = {"Bearer t-1"}
    with api_server(tokens) as server, api_of(server) as api:
        assert api.get_json("x", {}) == ["Bearer t-2"]
        tokens.refused |= {"Bearer t-2", "Bearer t-3", "Bearer t-4"}
        with pytest.raises(NodeError, match=r"/x: the sign-in was refused \(401 Unauthorized\)") as caught:
            api.get_json("x", {})
        assert caught.value.permanent
    assert tokens.given == 3


def test_many_threads_ask_for_one_token():
    begin = threading.Barrier(8)
    tokens = TokenServer()
    with api_server(tokens) as server, api_of(server) as api, ThreadPoolExecutor(8) as pool:

        def asked() -> Any:
            begin.wait(10)
            return api.get_json("x", {})

        assert [future.result() for future in [pool.submit(asked) for _ in range(8)]] == [["Bearer t-1"]] * 8
    assert tokens.given == 1


@pytest.mark.parametrize(
    ("answer", "sentence", "permanent"),
    [
        (as_json({"error": "invalid_client", "error_description": CANARY}, 401), "gave no token (401 Unauthorized: ", True),
        (as_json({"error": "invalid_scope"}, 400), 'gave no token (400 Bad Request: {"error": "invalid_scope"})', True),
        ((302, {"Location": "/login"}, b""), "gave no token (302 Found)", True),
        ((503, {}, b""), "answered 503 Service Unavailable each time", False),
        (as_json({"token": "x"}), "answered without an access_token", True),
        (as_json(["x"]), "answered without an access_token", True),
        (as_json({"access_token": "a\nb"}), "answered without an access_token", True),
        (as_json({"access_token": "a", "token_type": "mac"}), "gave a token that is no bearer token", True),
        ((200, {}, b"<html>"), "the answer is HTML instead of JSON", True),
    ],
)
def test_what_goes_wrong_while_signing_in_has_its_sentence(answer: Answer, sentence: str, permanent: bool):
    with api_server(lambda request: answer) as server, api_of(server, attempts=2) as api:
        with pytest.raises(NodeError) as caught:
            api.get_json("x", {})
        assert sentence in caught.value.message
        assert caught.value.permanent is permanent
        assert "canary" not in caught.value.message
        assert {request.path for request in server.requests} == {"/token"}
        assert len(server.requests) == (1 if permanent else 2)


def test_a_token_server_that_comes_back_is_asked_again():
    tokens = TokenServer()
    answers: Iterator[Callable[[Request], Answer]] = iter([lambda request: (503, {}, b""), tokens, tokens])
    with api_server(lambda request: next(answers)(request)) as server, api_of(server, attempts=2) as api:
        assert api.get_json("x", {}) == ["Bearer t-1"]


def test_a_token_address_is_guarded_as_any_other():
    with api_server(TokenServer()) as inside, api_server(TokenServer()) as server:
        with api_of(server, token_url=f"{inside.url}/token") as api, pytest.raises(NodeError, match="leads to the private address"):
            api.get_json("x", {})
        assert inside.requests == []


def test_a_key_may_stand_in_the_address_and_shows_nowhere(caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    with (
        api_server(lambda request: as_json([1])) as server,
        api_of(server, auth="api_key", api_key_in="query", api_key_parameter="k") as api,
    ):
        assert api.get_json("x", {"a": "1"}) == [1]
        assert server.requests[0].query == {"a": "1", "k": CANARY}
        server.answer = lambda request: (302, {"Location": "/moved?b=2"}, b"") if request.path == "/x" else as_json([2])
        assert api.get_json("x", {"a": "1"}) == [2]
        assert server.requests[-1].query == {"b": "2", "k": CANARY}
        server.answer = lambda request: (500, {}, b"")
        with pytest.raises(NodeError) as caught:
            api.get_json("x", {})
    for text in (caught.value.message, repr(caught.value), repr(api.sign_in), caplog.text):
        assert "canary" not in text


def test_a_key_in_the_address_goes_to_its_host_only():
    with api_server(lambda request: as_json([1])) as other:
        with api_server(lambda request: (302, {"Location": f"{other.url}/moved"}, b"")) as home:
            with api_of(home, auth="api_key", api_key_in="query", allowed=(home.host, other.host)) as api:
                assert api.get_json("a", {}) == [1]
        assert other.requests[0].query == {}


@pytest.mark.parametrize(
    "echo", [CANARY, "canary%2F4711%26%C3%A4", r"canary\/4711&\u00e4", "canary/4711&amp;ä", "dTpjYW5hcnkvNDcxMSbDpA==", "t-1"]
)
def test_a_server_that_repeats_a_secret_is_not_quoted_with_it(echo: str):
    tokens = TokenServer()

    def answer(request: Request) -> Answer:
        return tokens(request) if request.path == "/token" else (422, {}, f"you sent {echo} ".encode())

    with api_server(answer) as server, api_of(server, user="u") as api:
        refused = api.send(HttpRequest("x", method="POST", body="{}"))
    assert refused is not None
    assert refused.words == "422 Unprocessable Entity: you sent ***"


def test_a_secret_is_not_cut_in_half_before_it_is_found():
    with api_server(lambda request: (422, {}, b"x" * 295 + CANARY.encode())) as server, api_of(server, auth="none") as api:
        refused = api.send(HttpRequest("x", method="POST", body="{}"))
        assert refused is not None
        assert refused.words.endswith("xx***")
        server.answer = lambda request: (200, {}, b"x" * 50 + CANARY.encode())
        with pytest.raises(NodeError, match=r'x\*\*\*"\)'):
            api.get_json("x", {})
        server.answer = lambda request: (404, {}, b"x" * 295 + CANARY.encode())
        with pytest.raises(NodeError, match=r"says: x+\*\*\*$"):
            api.get_json("x", {})


def test_oauth2_needs_an_address_and_a_client():
    with pytest.raises(ValidationError, match="OAuth2 needs the address"):
        HttpApiSettings(base_url="https://a.example", auth="oauth2", client_id=str(uuid4()))
    for url in ("ftp://a.example", "https://u:p@a.example/token", "https://a.example/t#x"):
        with pytest.raises(ValidationError):
            HttpApiSettings(base_url="https://a.example", auth="oauth2", client_id="x", token_url=url)


@pytest.mark.parametrize("token", ["", "tok-canary\n", "tok-canaryä", "tok\x00canary"])
def test_a_secret_that_no_header_can_hold_is_told_without_it(token: str):
    with api_server(lambda request: as_json([])) as server:
        settings = ConnectionSettings("api", "http_api", {"base_url": server.url, "auth": "bearer"}, {"token": token})
        with HttpApi(settings, Limits(http_allowed_hosts=(server.host,)), attempts=2, timeout_seconds=5) as api:
            with pytest.raises(NodeError, match="no header can hold what Authorization would be") as caught:
                api.get_json("x", {})
        assert caught.value.permanent
        assert "canary" not in caught.value.message
        assert server.requests == []
