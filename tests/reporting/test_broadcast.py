"""Live messages through a real Redis, and questions that nobody answers."""

import asyncio
import json
import threading
import time
from datetime import UTC, datetime
from typing import Any

import pytest
from channels.layers import get_channel_layer
from django.db.models.functions import Now

from jobs import broadcast, queue
from jobs.models import Connection, Driver, DriverKind, DriverStatus, Execution, Project
from jobs.nodes.connection_kind import CheckStep
from jobs.services.connection_health import connection_checked
from jobs.services.executions import execution_start
from tests.services.job_rows import job_row, operator


def heard(group: str, act: Any, count: int = 1) -> list[dict[str, Any]]:
    """The messages that arrive in `group` once `act` was called in a thread."""

    async def listen() -> list[dict[str, Any]]:
        layer = get_channel_layer()
        assert layer is not None
        channel = await layer.new_channel()
        await layer.group_add(group, channel)
        threading.Thread(target=act).start()
        return [await asyncio.wait_for(layer.receive(channel), 20) for _ in range(count)]

    return asyncio.run(listen())


def test_a_message_reaches_its_group_as_text_with_its_project() -> None:
    message = broadcast.PrintedMessage(node_id="out", batch_id=3, rows=['{"a": 1}'])
    [found] = heard("execution.x", lambda: broadcast.execution_message("x", message, project="default"))
    assert (found["type"], found["project"]) == ("live.message", "default")
    assert json.loads(found["text"]) == {"type": "printed", "node_id": "out", "batch_id": 3, "rows": ['{"a": 1}']}


def test_messages_keep_their_order() -> None:
    def send() -> None:
        for number in range(50):
            message = broadcast.ProgressMessage(node_id="out", done=number, total=None, unit="rows")
            broadcast.execution_message("y", message, project="default")

    assert [json.loads(found["text"])["done"] for found in heard("execution.y", send, 50)] == list(range(50))


@pytest.mark.django_db(transaction=True)
def test_a_committed_event_is_told_with_its_execution() -> None:
    job, user = job_row(), operator()
    started: list[Execution] = []
    [found] = heard("overview", lambda: started.append(execution_start(job=job, user=user, triggered_by="API")))
    message = json.loads(found["text"])
    assert message["type"] == "execution"
    assert message["execution"]["status"] == "SCHEDULED"


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_was_tried_is_told_to_its_project_without_its_settings() -> None:
    project = Project.objects.get_or_create(slug="default", defaults={"title": "Default"})[0]
    row = Connection.objects.create(project=project, name="main", kind="mqtt", config={"host": "h"})
    steps = [CheckStep("name", True, "known"), CheckStep("port", False, "nothing answers")]
    [found] = heard("overview", lambda: connection_checked(connection=row, steps=steps))
    assert found["project"] == "default"
    message = json.loads(found["text"])
    assert (message["type"], message["connection"]["name"], message["connection"]["test_ok"]) == ("connection", "main", False)
    assert (message["connection"]["test_step"], message["connection"]["test_message"]) == ("port", "nothing answers")
    assert "config" not in message["connection"]


def test_sending_never_waits_for_redis(settings: Any) -> None:
    settings.CHANNEL_LAYERS = {
        "default": {"BACKEND": "channels_redis.core.RedisChannelLayer", "CONFIG": {"hosts": ["redis://127.0.0.1:1/0"]}}
    }
    broadcast._forget()
    rates = broadcast.OverviewRates(
        time=datetime.now(UTC), execution_id="x", job_name="x", in_per_second=0, out_per_second=0, rejected_per_second=0, backlog=None
    )
    begun = time.monotonic()
    for _ in range(5000):
        broadcast.overview_message(rates, project="default")
    assert time.monotonic() - begun < 5
    broadcast._forget()


@pytest.mark.django_db
def test_a_question_that_no_driver_takes_says_whether_there_is_one() -> None:
    with pytest.raises(queue.InteractiveUnavailable, match="is a worker running"):
        queue.interactive_call("validate", {}, timeout=0.3)
    Driver.objects.create(kind=DriverKind.INTERACTIVE, status=DriverStatus.READY, heartbeat_time=Now(), pid=1)
    with pytest.raises(queue.InteractiveUnavailable, match="each is busy"):
        queue.interactive_call("validate", {}, timeout=0.3)


def test_a_question_is_answered_or_refused_with_its_reason() -> None:
    def answer(reply: dict[str, Any]) -> None:
        with queue.redis_client(waiting=10) as client:
            request = queue.interactive_take(client, timeout=10)
            assert request is not None
            queue.interactive_answer(client, request["id"], reply)

    threading.Thread(target=answer, args=({"result": {"problems": []}},)).start()
    assert queue.interactive_call("validate", {"document": {}}, timeout=10) == {"problems": []}
    threading.Thread(target=answer, args=({"error": "no"},)).start()
    with pytest.raises(queue.InteractiveFailed, match="no"):
        queue.interactive_call("preview", {}, timeout=10)
