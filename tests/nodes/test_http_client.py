"""The HTTP client: tries again, refuses private addresses, carries secrets to one host only, and speaks plainly."""

import socket
import threading
from typing import Any
from unittest.mock import patch

import pytest

from jobs.nodes import http_answers, http_client, http_guard
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.http_api import HttpApiConnection, HttpApiSettings
from jobs.nodes.http_client import HttpApi
from jobs.nodes.http_guard import is_public
from tests.nodes.api_server import Answer, ApiServer, Request, api_server, as_gzip, as_json


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
    ],
)
def test_each_wrong_answer_has_its_sentence(answer: Answer, sentence: str, tries: int):
    with api_server(lambda request: answer) as server, client(server, attempts=2) as api:
        with pytest.raises(NodeError) as caught:
            api.get_json("", {})
        assert sentence in caught.value.message
        assert len(server.requests) == tries


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


def test_one_private_address_among_public_ones_is_enough_to_refuse():
    mixed = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 80)) for address in ("93.184.216.34", "10.0.0.1")]
    with patch("jobs.nodes.http_guard.socket.getaddrinfo", return_value=mixed), pytest.raises(NodeError, match=r"10\.0\.0\.1"):
        http_guard.checked_addresses("two.example", 80, Limits())


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1", "255.255.255.255",
        "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "2002:7f00:1::", "192.0.2.1",
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
            ("name", True, "127.0.0.1 is 127.0.0.1"),
            ("port", True, f"port {server.port} answers"),
            ("sign-in", True, "none is asked for"),
            ("path", True, "the server answered 404"),
        ]
        server.answer = lambda request: (403, {}, b"")
        assert [step.ok for step in HttpApiConnection().check(settings_for(server.url), limits)] == [True, True, False]
    (refused,) = HttpApiConnection().check(settings_for(server.url), Limits())
    assert (refused.name, refused.ok) == ("name", False)
