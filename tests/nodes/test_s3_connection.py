"""The connection to an S3 store: its test says which step fails, and no request leaves for where it may not."""

import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from pydantic import ValidationError
from s3fs import S3FileSystem

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.s3 import S3Connection, _files
from jobs.nodes.connections.s3_settings import S3Settings
from jobs.nodes.sinks.store_ledger import StoreLedger
from jobs.nodes.stores.kinds import store_open, store_silent
from scripts.ports import free_ports
from tests.servers.certificate import self_signed
from tests.servers.s3 import KEY_ID, SECRET_KEY, S3Server

server_test = pytest.mark.server


@pytest.fixture
def lake(s3_server: S3Server) -> ConnectionSettings:
    bucket = f"lake-{uuid4().hex[:8]}"
    s3_server.bucket_create(bucket)
    return ConnectionSettings("lake", "s3", s3_server.config | {"bucket": bucket}, {"secret_key": SECRET_KEY})


def allowing(settings: ConnectionSettings) -> Limits:
    return Limits(http_allowed_hosts=(str(settings.config["endpoint"]).split("//")[1],))


def steps_of(settings: ConnectionSettings, limits: Limits | None = None) -> list[tuple[str, bool]]:
    return [(step.name, step.ok) for step in S3Connection().check(settings, limits or allowing(settings))]


def changed(settings: ConnectionSettings, **config: Any) -> ConnectionSettings:
    return replace(settings, config={**settings.config, **config})


@server_test
def test_a_good_connection_passes_every_step_and_leaves_nothing_behind(lake: ConnectionSettings, s3_server: S3Server):
    steps = S3Connection().check(lake, allowing(lake))
    assert [(step.name, step.ok) for step in steps] == [
        ("name", True),
        ("port", True),
        ("sign-in", True),
        ("bucket", True),
        ("listing", True),
        ("writing", True),
    ]
    assert steps[-1].message == "files can be written and deleted"
    assert s3_server.files().find(lake.config["bucket"]) == []


@server_test
@pytest.mark.parametrize("wrong", [{"key_id": "somebody"}, {}], ids=["key id", "secret key"])
def test_a_wrong_key_fails_the_sign_in_and_shows_no_secret(lake: ConnectionSettings, wrong: dict[str, Any]):
    settings = replace(changed(lake, **wrong), secrets={"secret_key": "canary-4711"})
    steps = S3Connection().check(settings, allowing(settings))
    assert [step.name for step in steps if not step.ok] == ["sign-in"]
    assert "correct key id, secret key or region" in steps[-1].message
    assert "canary-4711" not in repr(steps)


@server_test
def test_a_bucket_that_does_not_exist_fails_its_step(lake: ConnectionSettings):
    steps = S3Connection().check(changed(lake, bucket="no-such-bucket"), allowing(lake))
    assert [step.name for step in steps if not step.ok] == ["bucket"]
    assert "the bucket does not exist" in steps[-1].message


@server_test
def test_a_public_bucket_is_read_without_a_key_and_cannot_be_written(lake: ConnectionSettings, s3_server: S3Server):
    s3_server.bucket_create("public", public=True)
    settings = replace(changed(lake, bucket="public", sign_in="none"), secrets={})
    steps = S3Connection().check(settings, allowing(settings))
    assert all(step.ok for step in steps)
    assert steps[-1].message == "this key may only read: sources can use it, sinks cannot"
    private = changed(settings, bucket=lake.config["bucket"])
    assert steps_of(private)[-1] == ("listing", False)


def test_nothing_at_the_port_fails_its_step_and_is_waited_for():
    (port,) = free_ports(1)
    settings = ConnectionSettings("lake", "s3", {"endpoint": f"http://127.0.0.1:{port}", "bucket": "lake"}, {"secret_key": "x"})
    assert steps_of(settings)[-1] == ("port", False)
    assert store_silent(settings, allowing(settings)) == "s3 lake"
    with pytest.raises(NodeError, match=r"s3 lake: listing .* the store does not answer") as away:
        store_open(settings, allowing(settings)).find("")
    assert not away.value.permanent


@server_test
def test_https_where_none_is_spoken_fails_the_step_of_tls(lake: ConnectionSettings):
    settings = changed(lake, endpoint=lake.config["endpoint"].replace("http:", "https:"))
    assert steps_of(settings)[-1] == ("TLS", False)


def test_a_certificate_of_ones_own_is_kept_as_a_file_once(tmp_path: Any):
    certificate, _ = self_signed()
    config = {"endpoint": "https://127.0.0.1:1", "bucket": "lake", "certificate_authority": certificate}
    settings = ConnectionSettings("lake", "s3", config, {})
    for _ in range(2):
        store_open(settings, Limits(http_allowed_hosts=("127.0.0.1:1",), data_dir=tmp_path))
    (kept,) = (tmp_path / "certificates").iterdir()
    assert kept.read_text() == certificate


@pytest.mark.parametrize(
    "endpoint", ["http://127.0.0.1:9000", "http://localhost:9000", "http://169.254.169.254", "http://[::1]:9000", "http://0x7f000001"]
)
def test_a_private_address_is_refused_unless_an_administrator_allows_it(endpoint: str):
    try:
        settings = ConnectionSettings("lake", "s3", {"endpoint": endpoint, "bucket": "lake"}, {"secret_key": "x"})
        steps = S3Connection().check(settings, Limits())
    except ValidationError:
        return
    assert [step.ok for step in steps] == [False]
    with pytest.raises(NodeError, match=r"HTTP_ALLOWED_HOSTS|is not known"):
        store_open(settings, Limits())


@pytest.mark.slow
def test_a_name_that_changes_its_address_behind_the_check_is_caught_where_it_is_connected(monkeypatch: pytest.MonkeyPatch):
    """The first look at the name finds a public address, every later one a private."""
    import socket

    (port,) = free_ports(1)
    addresses = iter(["93.184.216.34"])

    def resolve(host: str, port: int, *args: Any, **given: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(addresses, "127.0.0.1"), port))]

    monkeypatch.setattr("jobs.nodes.http_guard.socket.getaddrinfo", resolve)
    settings = ConnectionSettings("lake", "s3", {"endpoint": f"http://rebound.example.com:{port}", "bucket": "lake"}, {"secret_key": "x"})
    store = store_open(settings, Limits())
    with pytest.raises(NodeError, match=r"leads to the private address 127\.0\.0\.1"):
        store.find("")


@pytest.mark.parametrize(
    "wrong",
    [
        {"endpoint": "file:///etc"},
        {"endpoint": "http://a/b"},
        {"endpoint": "http://u:p@a"},
        {"endpoint": "http://a?b"},
        {"bucket": "a/b"},
        {"bucket": ".."},
        {"bucket": "Lake"},
        {"folder": "a/../b"},
        {"region": "eu/../.."},
    ],
)
def test_an_address_is_made_of_fields_that_hold_nothing_else(wrong: dict[str, str]):
    S3Settings.model_validate({"bucket": "lake", "endpoint": "http://a:9000", "key_id": KEY_ID})
    with pytest.raises(ValidationError):
        S3Settings.model_validate({"bucket": "lake"} | wrong)


@server_test
def test_a_store_that_overwrites_what_is_there_is_for_sources_only(lake: ConnectionSettings, monkeypatch: pytest.MonkeyPatch):
    """As one that does not know If-None-Match."""
    unconditional(monkeypatch)
    steps = S3Connection().check(lake, allowing(lake))
    assert all(step.ok for step in steps)
    assert steps[-1].message == "this store does not keep a file that is there: sources can use it, sinks cannot"
    assert store_open(lake, allowing(lake)).find("") == []


@server_test
def test_a_sink_does_not_begin_in_a_store_that_overwrites(lake: ConnectionSettings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    unconditional(monkeypatch)
    ledger = StoreLedger(store_open(lake, allowing(lake)), "out", job_uid="j", node_id="n", generation="g", local=tmp_path)
    with pytest.raises(NodeError, match="s3 lake does not keep a file that is there") as refused:
        ledger.begin(1)
    assert refused.value.permanent


def unconditional(monkeypatch: pytest.MonkeyPatch) -> None:
    class Overwriting(S3FileSystem):  # type: ignore[misc]
        async def _pipe_file(self, path: str, data: bytes, *args: Any, mode: str = "overwrite", **given: Any) -> Any:
            return await super()._pipe_file(path, data, *args, **given)

    monkeypatch.setattr("jobs.nodes.connections.s3.S3FileSystem", Overwriting)


@pytest.mark.parametrize("endpoint", ["http://5.7:9000", "http://127.1", "http://1.2.3.4.5"])
def test_digits_that_are_no_whole_address_are_refused(endpoint: str):
    with pytest.raises(ValidationError, match="neither a name nor a whole address"):
        S3Settings(endpoint=endpoint, bucket="127.0", bucket_in_host=True)


def test_the_host_that_is_asked_is_the_one_that_is_checked(monkeypatch: pytest.MonkeyPatch):
    """The endpoint is public, the bucket before it private."""
    import socket

    def resolve(host: str, port: int, *args: Any, **given: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1" if host.startswith("lake.") else "93.184.216.34", port))]

    monkeypatch.setattr("jobs.nodes.http_guard.socket.getaddrinfo", resolve)
    config = {"endpoint": "http://store.example.com:9000", "bucket": "lake", "bucket_in_host": True}
    settings = ConnectionSettings("lake", "s3", config, {"secret_key": "x"})
    with pytest.raises(NodeError, match=r"lake\.store\.example\.com:9000 leads to the private address"):
        store_open(settings, Limits())
    assert steps_of(settings, Limits()) == [("name", False)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("endpoint", "bucket"),
    [
        ("http://store.example.com:9000", "lake"),
        ("http://store.example.com", "lake.plant"),
        ("https://store.example.com", "lake"),
        ("https://store.example.com", "lake.plant"),
        ("http://93.184.216.34:9000", "lake"),
    ],
)
def test_the_host_that_is_asked_is_known_beforehand(endpoint: str, bucket: str):
    typed = S3Settings(endpoint=endpoint, bucket=bucket, bucket_in_host=True, sign_in="none")
    files = _files(typed, ConnectionSettings("lake", "s3", {}, {}), Limits())
    address = files.url(f"{bucket}/file")
    assert urlsplit(address).hostname == typed.asked_host


@pytest.mark.slow
def test_what_answers_without_speaking_s3_is_not_repeated():
    class Stranger(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(201)
            self.end_headers()
            self.wfile.write(b"canary of an internal page")

        def log_message(self, *_: Any) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Stranger) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        settings = ConnectionSettings("lake", "s3", {"endpoint": f"http://127.0.0.1:{server.server_port}", "bucket": "lake"}, {})
        settings = changed(settings, sign_in="none")
        steps = S3Connection().check(settings, allowing(settings))
        server.shutdown()
    assert (steps[-1].name, steps[-1].ok) == ("sign-in", False)
    assert "what answers does not speak S3's protocol" in steps[-1].message
    assert "canary" not in repr(steps)
