"""A forwarder takes lines to a server that is away, and hangs up: that counts as away, and is told as that."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.http_api_check import api_silent
from jobs.nodes.connections.kafka_reach import kafka_silent
from jobs.nodes.connections.mqtt_client import mqtt_silent
from jobs.nodes.connections.reach import is_silent, port_reach
from jobs.nodes.stores.kinds import store_silent


@pytest.fixture
def forwarder() -> Iterator[int]:
    """The port of one that hangs up on everybody."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        threading.Thread(target=_hang_up, args=(server,), daemon=True).start()
        yield server.getsockname()[1]


def _hang_up(server: socket.socket) -> None:
    while True:
        try:
            server.accept()[0].close()
        except OSError:
            return


def test_a_line_that_is_closed_at_once_is_none(forwarder: int) -> None:
    assert is_silent("127.0.0.1", forwarder)
    with pytest.raises(NodeError, match=r"does not answer \(the line is closed at once\)"):
        port_reach("127.0.0.1", forwarder)


def test_one_that_waits_for_the_first_word_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as quiet:
        assert not is_silent("127.0.0.1", quiet.getsockname()[1])


def test_a_store_answers_at_any_address_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as quiet:
        lake = ConnectionSettings("lake", "s3", {"endpoint": f"http://lake.test:{quiet.getsockname()[1]}", "bucket": "lake"})
        monkeypatch.setattr("jobs.nodes.connections.s3.checked_addresses", lambda *_: ["127.0.0.2", "127.0.0.1"])
        assert store_silent(lake, Limits(data_dir=tmp_path)) == ""


def test_every_system_behind_it_is_waited_for(forwarder: int, tmp_path: Path) -> None:
    place = f"127.0.0.1:{forwarder}"
    limits = Limits(data_dir=tmp_path, http_allowed_hosts=(place,))
    lake = ConnectionSettings("lake", "s3", {"endpoint": f"http://{place}", "bucket": "lake"}, {"secret_key": "x"})
    assert store_silent(lake, limits) == "s3 lake"
    assert kafka_silent(ConnectionSettings("main", "kafka", {"servers": place})) == "kafka main"
    assert mqtt_silent(ConnectionSettings("plant", "mqtt", {"host": "127.0.0.1", "port": forwarder})) == "mqtt plant"
    assert api_silent(ConnectionSettings("shop", "http_api", {"base_url": f"http://{place}"}), limits) == "HTTP API shop"
