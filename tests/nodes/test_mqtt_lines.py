"""`source.mqtt` in the engine's hands, against a broker that goes away, comes back and changes its mind about who may sign in."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.engine import receiving
from jobs.engine.events import Noticed
from jobs.engine.receiving import Receiving
from jobs.nodes.spool_source import spool_of
from tests.nodes.conftest import Build, Built
from tests.nodes.test_mqtt import connections, source
from tests.servers.mosquitto import PASSWORD, USER, MosquittoServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.server]


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[MosquittoServer]:
    monkeypatch.setattr(receiving, "_LOOK_SECONDS", 0.05)
    with MosquittoServer() as server:
        yield server


@contextmanager
def received_from(built: Built) -> Iterator[list[str]]:
    """What is noticed meanwhile; with the subscription there."""
    node = built.node
    steps: Any = SimpleNamespace(sources=["in"], types={"in": node}, source=lambda _: node, context=lambda *_: built.context)
    noticed: list[str] = []
    with Receiving(steps, lambda event: noticed.append(event.message) if isinstance(event, Noticed) else None).begun():
        wait_until(spool_of(built.context).path.with_suffix(".topics").exists, seconds=20, what="the subscription")
        yield noticed


def test_a_sign_in_that_is_refused_amid_a_run_is_said_while_it_is_tried_again(
    build: Build, broker: MosquittoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "_FIRST_PAUSE_SECONDS", 0.1)
    built = source(build, broker, "open/#", named=connections(broker.closed_port, PASSWORD))
    with received_from(built):
        broker.stop()
        password_set(broker, "another")
        broker.start()
        said = "mqtt plant (the broker does not let this user in)"
        wait_until(lambda: built.node.waits_for(built.context) == said, seconds=20, what="why it waits")
        assert built.node.needs_to_begin(built.context) == "", "a run with the corrected connection begins at once"


def password_set(server: MosquittoServer, password: str) -> None:
    subprocess.run(
        ["mosquitto_passwd", "-b", str(server.folder / "passwords"), USER, password], check=True, capture_output=True, timeout=20
    )
