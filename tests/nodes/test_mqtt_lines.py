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
from jobs.nodes.base import NodeContext
from jobs.nodes.connections.mqtt_client import mqtt_silent
from jobs.nodes.spool_source import spool_of
from tests.nodes.conftest import Build, Built
from tests.nodes.test_mqtt import connections, publish, received, source
from tests.servers.mosquitto import PASSWORD, USER, MosquittoServer
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.server]

SHARED_LINE_WAS_LOST = (
    "the line to the broker was lost: a broker that restarts may forget a shared subscription, "
    "and what was sent until the job was back may not have arrived"
)


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


def test_a_shared_subscription_is_made_again_when_the_broker_is_back_and_what_may_lack_is_told(
    build: Build, broker: MosquittoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receiving, "_FIRST_PAUSE_SECONDS", 30.0)
    built = source(build, broker, "plant/#", share_group="gt")
    found: list[str] = []

    def look(context: NodeContext[Any]) -> str:
        found.append(mqtt_silent(context.connection("plant")))
        return found[-1]

    monkeypatch.setattr(built.node, "waits_for", look)
    for _ in range(2):
        with received_from(built) as noticed:
            pass
        assert noticed == [], "a line that ended in good order"
    with received_from(built) as noticed:
        publish(broker, "plant/a", [b"1"])
        received(built, 1)
        broker.stop()
        wait_until(lambda: found[-1:] == ["mqtt plant"], seconds=20, what="the broker to be found gone")
        broker.start()
        wait_until(lambda: noticed != [], seconds=10, what="the line to be back")
        spool = spool_of(built.context)

        def is_heard() -> bool:
            publish(broker, "plant/a", [b"2"])
            return spool.newest() > 1

        wait_until(is_heard, seconds=20, what="what is sent afterwards")
    assert noticed == [SHARED_LINE_WAS_LOST]


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
