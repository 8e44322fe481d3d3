"""The HTTP client: tries again, refuses private addresses, carries secrets to one host only, and speaks plainly."""

import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import httpx
import pytest

from jobs.nodes import http_answers, http_client, http_guard
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.http_api import HttpApiConnection, HttpApiSettings
from jobs.nodes.connections.http_api_check import api_silent
from jobs.nodes.connections.webhook_receiver import WebhookReceiverConnection
from jobs.nodes.http_answers import retry_after
from jobs.nodes.http_client import HttpApi
from jobs.nodes.http_guard import is_public
from jobs.nodes.http_messages import HttpRequest, Refused
from jobs.nodes.http_pace import Pace
from jobs.nodes.node_error import SignInRefused, SystemAway
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.sinks.http_api import HttpApiSink, HttpApiSinkConfig
from jobs.nodes.sinks.http_plain import Form, Sending, plain_api
from jobs.nodes.sources.http_api import HttpApiSource
from tests.nodes.api_server import Answer, ApiServer, Request, api_server, as_gzip, as_json, trickling
from tests.nodes.conftest import Build


def settings_for(url: str, secrets: dict[str, str] | None = None, **config: Any) -> ConnectionSettings:
    return ConnectionSettings("api", "http_api", {"base_url": url, **config}, secrets or {})


def client(server: ApiServer, *, attempts: int = 3, timeout: float = 5, allowed: bool = True, **given: Any) -> HttpApi:
    limits = Limits(http_allowed_hosts=(server.host,) if allowed else ())
    return HttpApi(settings_for(server.url, **given), limits, attempts=attempts, timeout_seconds=timeout, longest_wait=0.05)


def test_a_server_error_is_tried_again_until_it_passes():
    answers = iter([(500, {}, b""), (503, {"Retry-After": "0"}, b""), as_json({"ok": 1})])
    with api_server(lambda request: next(answers)) as server, client(server) as api:
        assert api.get_json("x", {}) == {"ok": 1}
        assert len(server.requests) == 3


def test_a_server_error_that_stays_is_named():
    with api_server(lambda request: (500, {}, b"oops")) as server, client(server) as api:
        with pytest.raises(NodeError, match=r"/flights: the server answered 500 Internal Server Error each time; try later") as caught:
            api.get_json("flights", {"key": "canary"})
        assert not caught.value.permanent
        assert "canary" not in caught.value.message
        assert len(server.requests) == 3


def test_the_time_a_server_asks_for_is_waited_but_not_beyond_the_longest_wait():
    answers = iter([(429, {"Retry-After": "7"}, b""), (503, {"Retry-After": "7000"}, b""), as_json([])])
    slept: list[float] = []
    with api_server(lambda request: next(answers)) as server:
        limits = Limits(http_allowed_hosts=(server.host,))
        with HttpApi(settings_for(server.url), limits, attempts=3, timeout_seconds=5, longest_wait=60, sleep=slept.append) as api:
            api.get_json("", {})
    assert slept == [7.0, 60]


def test_a_request_that_is_tried_again_says_so_until_it_passed_or_was_given_up(tmp_path: Path):
    note = RetryNote.of(tmp_path)
    told: list[str] = []
    answers = iter([(429, {"Retry-After": "7"}, b""), as_json([]), *[(500, {}, b"")] * 3])
    with api_server(lambda request: next(answers)) as server:
        limits = Limits(http_allowed_hosts=(server.host,))

        def slept(seconds: float) -> None:
            told.append(note.words().partition("answered ")[2])

        with HttpApi(settings_for(server.url), limits, attempts=3, timeout_seconds=5, sleep=slept, note=note) as api:
            api.get_json("x", {})
            assert note.words() == ""
            with pytest.raises(NodeError):
                api.get_json("x", {})
    assert told == ["429 Too Many Requests each time", *["500 Internal Server Error each time"] * 2]
    assert note.words() == ""
    note.tell("over", -1)
    assert note.words() == ""


@pytest.mark.parametrize(("given", "expected"), [("12", 12.0), ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0), ("soon", None), ("", None)])
def test_retry_after_is_seconds_or_a_date(given: str, expected: float | None):
    import httpx

    assert http_answers.retry_after(httpx.Response(503, headers={"Retry-After": given})) == expected


@pytest.mark.parametrize(
    ("answer", "sentence", "tries"),
    [
        ((200, {"Content-Type": "text/html"}, b"<!doctype html><title>Sign in</title>"), 'is HTML instead of JSON ("<!doctype html>', 1),
        ((200, {}, b'{"cut": '), "the answer is no JSON", 2),
        ((200, {}, b""), "the answer is empty", 2),
        ((200, {}, b"[" * 100_000), "the answer is no JSON", 2),
        ((401, {}, b""), "the sign-in was refused (401 Unauthorized); correct the connection", 1),
        ((404, {}, b""), "the server answered 404 Not Found; correct path and parameters", 1),
        ((404, {}, b'{"error": "no\x1b such\n thing"}'), 'path and parameters. The server says: {"error": "no such thing"}', 1),
        ((500, {}, b"database exploded"), "each time; try later. The server says: database exploded", 2),
        ((403, {}, b"not for you"), "(403 Forbidden); correct the connection. The server says: not for you", 1),
    ],
)
def test_each_wrong_answer_has_its_sentence(answer: Answer, sentence: str, tries: int):
    with api_server(lambda request: answer) as server, client(server, attempts=2) as api:
        with pytest.raises(NodeError) as caught:
            api.get_json("", {})
        assert sentence in caught.value.message
        assert len(server.requests) == tries


@pytest.mark.parametrize("body", [b"<html>Bad gateway</html>", b"\x00\x01", b" \n"])
def test_an_answer_that_is_no_sentence_is_not_told(body: bytes):
    with api_server(lambda request: (502, {}, body)) as server, client(server, attempts=1) as api:
        with pytest.raises(NodeError, match=r"502 Bad Gateway each time; try later$"):
            api.get_json("", {})


def test_no_answer_in_time_is_said_so():
    release = threading.Event()

    def slow(request: Request) -> Answer:
        release.wait(10)
        return as_json([])

    with api_server(slow) as server, client(server, attempts=1, timeout=0.2) as api:
        with pytest.raises(NodeError, match="no answer in time; try later, or allow more seconds"):
            api.get_json("", {})
        release.set()


def test_nothing_listening_is_said_so():
    with api_server(lambda request: as_json([])) as server:
        pass
    with client(server, attempts=1) as api, pytest.raises(NodeError, match="Connection refused; check address and network"):
        api.get_json("", {})


def test_an_answer_that_unpacks_without_end_is_cut_off():
    bomb = as_gzip(b"0" * 3_000_000)
    with patch.object(http_client, "_MOST_BYTES", 1 << 20), api_server(lambda request: bomb) as server, client(server) as api:
        with pytest.raises(NodeError, match="the answer is larger than 1 MiB"):
            api.get_json("", {})


def test_a_private_address_is_refused_before_anything_is_sent():
    with api_server(lambda request: as_json([])) as server, client(server, allowed=False) as api:
        with pytest.raises(NodeError, match=r"leads to the private address 127\.0\.0\.1, which this installation does not allow") as caught:
            api.get_json("", {})
        assert caught.value.permanent
        assert server.requests == []


@pytest.mark.parametrize("name", ["localhost", "127.1", "0x7f000001", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
def test_other_ways_to_write_loopback_are_refused(name: str):
    with api_server(lambda request: as_json([])) as server:
        with HttpApi(settings_for(f"http://{name}:{server.port}"), Limits(), attempts=1, timeout_seconds=2) as api:
            with pytest.raises(NodeError, match="leads to the private address"):
                api.get_json("", {})
        assert server.requests == []


def test_a_redirect_to_a_private_address_is_refused():
    with api_server(lambda request: as_json(["inside"])) as inside:
        with api_server(lambda request: (302, {"Location": f"{inside.url}/secret"}, b"")) as outside, client(outside) as api:
            with pytest.raises(NodeError, match="leads to the private address"):
                api.get_json("", {})
        assert inside.requests == []


def test_a_name_that_changes_its_address_after_the_check_gains_nothing():
    """The address that was checked is the one connected to: the second look-up never happens."""
    answers = [
        [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 80))],
        [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 80))],
    ]
    connected: list[str] = []

    def connect(self: Any, host: str, port: int, *given: Any) -> Any:
        connected.append(host)
        raise OSError("unreachable in this test")

    with patch("jobs.nodes.http_guard.socket.getaddrinfo", side_effect=answers), patch("httpcore.SyncBackend.connect_tcp", connect):
        with HttpApi(settings_for("http://rebind.example"), Limits(), attempts=1, timeout_seconds=1) as api, pytest.raises(OSError):
            api.get_json("", {})
    assert connected == ["93.184.216.34"]


def test_a_name_of_several_addresses_is_reached_at_whichever_answers(monkeypatch: pytest.MonkeyPatch):
    """As localhost is, which leads to ::1 first."""
    with api_server(lambda request: as_json({"ok": True})) as server:
        port = server.port

        def resolved(host: str, *given: Any, **named: Any) -> list[Any]:
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in ("127.0.0.77", "127.0.0.1")]

        monkeypatch.setattr(socket, "getaddrinfo", resolved)
        limits = Limits(http_allowed_hosts=(f"api.example:{port}",))
        with httpx.Client(transport=http_guard.guarded_transport(limits)) as client:
            assert client.get(f"http://api.example:{port}/").json() == {"ok": True}
        connection = ConnectionSettings("main", "http_api", {"base_url": f"http://api.example:{port}"})
        assert api_silent(connection, limits) == ""


@pytest.mark.parametrize("given", ["Wed, 21 Oct 99999999999999999999 07:28:00 GMT", "soon", ""])
def test_a_time_that_is_none_is_no_time_to_wait_for(given: str):
    assert retry_after(httpx.Response(503, headers={"retry-after": given})) is None


def test_one_private_address_among_public_ones_is_enough_to_refuse():
    mixed = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in ("93.184.216.34", "10.0.0.1")]
    with patch("jobs.nodes.http_guard.socket.getaddrinfo", return_value=mixed), pytest.raises(NodeError, match=r"10\.0\.0\.1"):
        http_guard.checked_addresses("two.example", 80, Limits())


@pytest.mark.parametrize("entry", ["[::1]:8000", "::1:8000"])
def test_an_ipv6_address_is_allowed_as_it_stands_in_an_address(entry: str) -> None:
    assert http_guard.checked_addresses("::1", 8000, Limits(http_allowed_hosts=(entry,))) == ["::1"]
    with pytest.raises(NodeError, match=r"add \[::1\]:8001 to HTTP_ALLOWED_HOSTS"):
        http_guard.checked_addresses("::1", 8001, Limits(http_allowed_hosts=(entry,)))


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
        "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "192.0.2.1",
        "64:ff9b:1::a00:1", "64:ff9b:1::808:808", "fec0::1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:10.0.0.1",
    ],
)  # fmt: skip
def test_these_addresses_are_not_public(address: str):
    assert not is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1:248:1893:25c8:1946", "::ffff:8.8.8.8"])
def test_these_addresses_are_public(address: str):
    assert is_public(address)


@pytest.mark.parametrize(
    ("config", "secrets", "header", "value"),
    [
        ({"auth": "basic", "user": "ann"}, {"password": "pa:ss"}, "Authorization", "Basic YW5uOnBhOnNz"),
        ({"auth": "bearer"}, {"token": "t0"}, "Authorization", "Bearer t0"),
        ({"auth": "api_key", "api_key_header": "X-Key"}, {"api_key": "k0"}, "X-Key", "k0"),
    ],
)
def test_each_way_to_sign_in_reaches_its_host_and_no_other(config: dict[str, Any], secrets: dict[str, str], header: str, value: str):
    with api_server(lambda request: as_json([1])) as other:
        with api_server(lambda request: (307, {"Location": f"{other.url}/moved"}, b"")) as home:
            limits = Limits(http_allowed_hosts=(home.host, other.host))
            with HttpApi(settings_for(home.url, secrets, **config), limits, attempts=1, timeout_seconds=5) as api:
                assert api.get_json("a", {}) == [1]
    assert home.requests[0].headers[header] == value
    assert header not in other.requests[0].headers


def test_redirects_do_not_go_on_for_ever():
    with api_server(lambda request: (302, {"Location": "/again"}, b"")) as server, client(server) as api:
        with pytest.raises(NodeError, match="redirected more than 5 times"):
            api.get_json("", {})


def test_a_path_cannot_lead_to_another_host():
    with api_server(lambda request: as_json([request.path])) as server, client(server) as api:
        assert api.get_json("//evil.example/x", {}) == ["/evil.example/x"]


@pytest.mark.parametrize(
    "base_url",
    [
        "ftp://a.example",
        "http://user:pw@a.example",
        "file:///etc/passwd",
        "http://a.example?x=1",
        "http://a b",
        "http:///x",
        "http://a\\@b",
    ],
)
def test_a_base_address_is_plain(base_url: str):
    with pytest.raises(ValueError):
        HttpApiSettings(base_url=base_url)


def test_a_connection_test_goes_step_by_step():
    with api_server(lambda request: (404, {}, b"")) as server:
        limits = Limits(http_allowed_hosts=(server.host,))
        steps = HttpApiConnection().check(settings_for(server.url), limits)
        assert [(step.name, step.ok, step.message) for step in steps] == [
            ("name", True, "127.0.0.1 has the address 127.0.0.1"),
            ("port", True, f"127.0.0.1:{server.port} takes connections"),
            ("sign-in", True, "none is asked for"),
            ("path", True, "the server answered 404"),
        ]
        server.answer = lambda request: (403, {}, b"")
        assert [step.ok for step in HttpApiConnection().check(settings_for(server.url), limits)] == [True, True, False]
    (refused,) = HttpApiConnection().check(settings_for(server.url), Limits())
    assert (refused.name, refused.ok) == ("name", False)


def steps_of(server: ApiServer, url: str = "", **given: Any) -> list[tuple[str, bool]]:
    secrets = given.pop("secrets", {})
    limits = Limits(http_allowed_hosts=(server.host,))
    return [(step.name, step.ok) for step in HttpApiConnection().check(settings_for(url or server.url, secrets, **given), limits)]


def test_a_connection_test_says_which_step_failed():
    with api_server(lambda request: as_json({}) if request.path in ("/", "/up") else (404, {}, b"")) as server:
        assert steps_of(server, test_path="up")[-1] == ("path", True)
        assert steps_of(server, test_path="down")[-1] == ("path", False)
        server.answer = lambda request: (500, {}, b"")
        assert steps_of(server)[-2:] == [("sign-in", True), ("path", False)]
        server.answer = lambda request: (400, {}, b"")
        oauth = {"auth": "oauth2", "token_url": f"{server.url}/token", "client_id": "c"}
        assert steps_of(server, **oauth, secrets={"client_secret": "canary"})[-1] == ("sign-in", False)
        server.answer = lambda request: as_json({"access_token": "t", "expires_in": 60})
        assert steps_of(server, **oauth, secrets={"client_secret": "other"})[-1] == ("path", True)
        assert steps_of(server, url=server.url.replace("http:", "https:"))[-1] == ("TLS", False)
        assert steps_of(server, url="http://no-such-host.invalid") == [("name", False)]
    assert steps_of(server) == [("name", True), ("port", False)]


def test_a_certificate_is_checked_against_the_authority_of_the_connection():
    with api_server(lambda request: as_json([1]), encrypted=True) as server:
        limits = Limits(http_allowed_hosts=(server.host,))
        untrusted, trusted = settings_for(server.url), settings_for(server.url, certificate_authority=server.certificate)
        step = HttpApiConnection().check(untrusted, limits)[-1]
        assert (step.name, step.ok) == ("TLS", False)
        assert "the certificate is not trusted (self-signed certificate)" in step.message
        with HttpApi(untrusted, limits, attempts=3, timeout_seconds=5) as api, pytest.raises(SignInRefused, match="is not trusted"):
            api.get_json("", {})
        assert all(step.ok for step in HttpApiConnection().check(trusted, limits))
        with HttpApi(trusted, limits, attempts=1, timeout_seconds=5) as api:
            assert api.get_json("", {}) == [1]


def test_an_authority_that_is_no_certificate_fails_the_step_of_tls():
    with api_server(lambda request: as_json([]), encrypted=True) as server:
        assert steps_of(server, certificate_authority="-----BEGIN CERTIFICATE-----") == [("TLS", False)]


def test_a_receiver_and_a_script_check_against_the_authority_too():
    with api_server(lambda request: (204, {}, b""), encrypted=True) as server:
        limits = Limits(http_allowed_hosts=(server.host,))
        config: dict[str, Any] = {"certificate_authority": server.certificate}
        receiver = ConnectionSettings("hook", "webhook_receiver", {"url": server.url, **config}, {"secret": "s"})
        assert [step.ok for step in WebhookReceiverConnection().check(receiver, limits)] == [True] * 4
        api = plain_api(settings_for(server.url, **config), HttpApiSinkConfig(connection="api", attempts=1))
        Sending(api, Form(), "job").send([SimpleNamespace(row='{"id": 1}', columns_used=[])])
        assert [request.document for request in server.requests] == [{"id": 1}]


@pytest.mark.slow
def test_an_answer_that_trickles_in_for_ever_is_given_up():
    release = threading.Event()
    try:
        with api_server(lambda request: trickling(release)) as server, client(server, attempts=1, timeout=0.1) as api:
            with pytest.raises(NodeError, match="the answer did not end within 1 s"):
                api.get_json("", {})
            release.set()
    finally:
        release.set()


def test_the_pace_spreads_requests_evenly_whichever_thread_sends_them():
    slept: list[float] = []
    now = 100.0
    pace = Pace(4, clock=lambda: now, sleep=slept.append)
    for _ in range(3):
        pace.wait()
    now = 110.0
    pace.wait()
    assert slept == [0.25, 0.5]
    Pace(None, sleep=slept.append).wait()
    assert len(slept) == 2


def test_a_pace_rests_until_one_that_begins_anew_may_follow():
    slept: list[float] = []
    pace = Pace(4, clock=lambda: 100.0, sleep=slept.append)
    pace.rest()
    assert slept == []
    pace.wait()
    pace.rest()
    pace.rest()
    assert slept == [0.25, 0.25]


def test_a_document_that_is_asked_for_and_is_not_there_is_a_fault():
    with api_server(lambda request: (204, {}, b"")) as server, client(server) as api:
        with pytest.raises(NodeError, match=r"GET http://127.0.0.1:\d+/x: the answer is empty"):
            api.get_json("x", {})


def test_requests_keep_the_pace():
    with api_server(lambda request: as_json([])) as server:
        limits = Limits(http_allowed_hosts=(server.host,))
        with HttpApi(settings_for(server.url), limits, attempts=1, timeout_seconds=5, requests_per_second=20) as api:
            begun = time.monotonic()
            for _ in range(5):
                api.get_json("", {})
            assert time.monotonic() - begun >= 4 / 20


def test_waits_grow_and_differ():
    waits: list[float] = []
    with api_server(lambda request: (500, {}, b"")) as server:
        limits = Limits(http_allowed_hosts=(server.host,))
        with HttpApi(settings_for(server.url), limits, attempts=6, timeout_seconds=5, sleep=waits.append) as api, pytest.raises(NodeError):
            api.get_json("", {})
    assert len(waits) == 5
    assert all(2.0**number / 2 <= wait <= 2.0**number for number, wait in enumerate(waits))
    assert len({wait / 2.0**number for number, wait in enumerate(waits)}) == 5


@pytest.mark.parametrize(
    ("answer", "refused", "tries"),
    [
        ((201, {}, b"whatever"), None, 1),
        ((204, {}, b""), None, 1),
        ((409, {}, b"there already"), None, 1),
        ((422, {}, "n\u00e4me \n is  taken".encode()), Refused(422, "422 Unprocessable Entity: näme is taken"), 1),
        ((400, {}, b""), Refused(400, "400 Bad Request"), 1),
        ((404, {}, b"x" * 5000), Refused(404, f"404 Not Found: {'x' * 300}"), 1),
    ],
)
def test_what_is_sent_is_taken_or_refused_in_the_servers_words(answer: Answer, refused: Refused | None, tries: int):
    with api_server(lambda request: answer) as server, client(server) as api:
        assert api.send(HttpRequest("x", method="PUT", body='{"a": "ü"}'), accepted={409}) == refused
        assert len(server.requests) == tries
        assert (server.requests[0].method, server.requests[0].body) == ("PUT", '{"a": "ü"}'.encode())


@pytest.mark.parametrize(
    ("status", "permanent", "tries"), [(401, True, 1), (403, True, 1), (429, False, 3), (500, False, 3), (501, True, 1)]
)
def test_what_is_no_fault_of_what_was_sent_ends_the_sending(status: int, permanent: bool, tries: int):
    with api_server(lambda request: (status, {}, b"")) as server, client(server) as api:
        with pytest.raises(NodeError, match=f"POST .*{status}") as caught:
            api.send(HttpRequest("x", method="POST", body="{}"), accepted={401, 403})
        assert caught.value.permanent is permanent
        assert len(server.requests) == tries


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_what_is_sent_goes_to_no_other_place(status: int):
    with api_server(lambda request: as_json([])) as other:
        with api_server(lambda request: (status, {"Location": f"{other.url}/x"}, b"")) as home:
            limits = Limits(http_allowed_hosts=(home.host, other.host))
            with HttpApi(settings_for(home.url), limits, attempts=1, timeout_seconds=5) as api:
                with pytest.raises(NodeError, match=r"redirects to .*correct the address"):
                    api.send(HttpRequest("a", method="POST", body="{}"))
        assert other.requests == []


def test_what_is_sent_follows_a_move_within_its_host_as_it_is():
    with api_server(lambda request: (307, {"Location": "/b"}, b"") if request.path == "/a" else (200, {}, b"")) as server:
        with client(server) as api:
            assert api.send(HttpRequest("a", method="PATCH", body="[1]", headers={"content-type": "application/merge-patch+json"})) is None
        assert [(request.method, request.path, request.body) for request in server.requests] == [
            ("PATCH", "/a", b"[1]"),
            ("PATCH", "/b", b"[1]"),
        ]
        assert server.requests[1].headers["content-type"] == "application/merge-patch+json"


@pytest.mark.parametrize("target", ["http://[bad", "ftp://x/y", "javascript:1"])
def test_a_redirect_to_nowhere_is_told(target: str):
    with api_server(lambda request: (302, {"Location": target}, b"")) as server, client(server) as api:
        with pytest.raises(NodeError, match=r"which is not HTTP|this is no address"):
            api.get_json("", {})


@pytest.mark.parametrize("node", [HttpApiSource(), HttpApiSink()])
def test_a_node_waits_for_an_api_that_takes_no_connection(node: Any, build: Build):
    with api_server(lambda request: (503, {}, b"")) as server:
        given = {"connections": {"main": ConnectionSettings("main", "http_api", {"base_url": server.url})}}
        context = build(node.type, {"connection": "main"}, limits=Limits(http_allowed_hosts=(server.host,)), **given).context
        assert node.waits_for(context) == ""
        assert node.waits_for(build(node.type, {"connection": "main"}, limits=Limits(), **given).context) == ""
        assert server.requests == []
    assert node.waits_for(context) == "HTTP API main"
    nowhere = {"main": ConnectionSettings("main", "http_api", {"base_url": "http://no-such-host.invalid"})}
    assert node.waits_for(build(node.type, {"connection": "main"}, connections=nowhere).context) == "HTTP API main"


@pytest.mark.parametrize(("status", "is_away"), [(503, True), (502, True), (429, True), (500, False), (408, False)])
def test_a_server_that_is_away_is_told_from_one_that_fails_at_this_request(status: int, is_away: bool):
    with api_server(lambda request: (status, {}, b"")) as server, client(server, attempts=1) as api:
        with pytest.raises(NodeError) as told:
            api.get_json("", {})
        assert (isinstance(told.value, SystemAway), told.value.permanent) == (is_away, False)
