"""The connection to an S3 store: its test says which step fails, and no request leaves for where it may not."""

from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from pydantic import ValidationError

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.s3 import S3Connection
from jobs.nodes.connections.s3_settings import S3Settings
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
