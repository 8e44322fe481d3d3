"""The sockets: who may open them, what they say first, and what follows."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from channels.layers import channel_layers
from django.contrib.auth.models import User
from django.db import connections
from django.test import Client
from django.utils import timezone

from jobs.broadcast import HANDLER, OVERVIEW_GROUP, OverviewRates, execution_group, message_text
from jobs.live import consumers, snapshots
from jobs.models import Event, Execution, ExecutionStatus, Project, ProjectMember, Role
from pipeline_web.asgi import application
from tests.api.rows import execution, history, job, member
from tests.live.communicator import Socket

pytestmark = pytest.mark.django_db(transaction=True)
HOST = "localhost:8000"


@pytest.fixture(autouse=True)
def _memory_layer(settings: Any) -> None:
    settings.CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
    settings.ALLOWED_HOSTS = ["localhost"]
    channel_layers.backends.clear()


@pytest.fixture
def editor() -> User:
    home = Project.objects.get_or_create(slug="default", defaults={"title": "Default"})[0]
    return member(home, "erin", Role.EDITOR)


@pytest.fixture
def stranger() -> User:
    return member(Project.objects.create(slug="elsewhere", title="Elsewhere"), "sam", Role.ADMIN)


def session_of(user: User) -> str:
    client = Client()
    client.force_login(user)
    return client.cookies["sessionid"].value


def socket(path: str, session: str = "", origin: str = f"http://{HOST}", host: str = HOST) -> Socket:
    headers = [(b"host", host.encode())]
    if origin:
        headers.append((b"origin", origin.encode()))
    if session:
        headers.append((b"cookie", f"sessionid={session}".encode()))
    return Socket(application, path, headers)


def run(story: Callable[[], Awaitable[None]]) -> None:
    """Play the story; its thread's database connection is closed behind it, or a PostgreSQL could not drop its test database."""

    async def played() -> None:
        try:
            await asyncio.wait_for(story(), 30)
        finally:
            await sync_to_async(connections.close_all)()

    asyncio.run(played())


async def broadcast(group: str, message: dict[str, Any], project: str = "default", number: int = 0) -> None:
    await channel_layers["default"].group_send(group, {"type": HANDLER, "text": json.dumps(message), "project": project, "number": number})


def opens(path: str, **given: str) -> bool:
    """Whether the handshake succeeds."""
    results: list[bool] = []

    async def story() -> None:
        one = socket(path, **given)
        results.append(await one.connect())
        if results[0]:
            await one.leave()

    run(story)
    return results[0]


def test_the_signed_out_and_strangers_are_refused(editor: User, stranger: User) -> None:
    row = execution(job(editor), ExecutionStatus.RUNNING)
    path = f"/ws/executions/{row.execution_id}"
    assert opens(path, session=session_of(editor))
    assert not opens(path)
    assert not opens("/ws/overview")
    assert not opens(path, session="made-up")
    assert not opens(path, session=session_of(stranger))
    assert not opens("/ws/executions/nope", session=session_of(editor))
    assert not opens("/ws/nowhere", session=session_of(editor))


@pytest.mark.parametrize(
    "origin",
    [
        "",
        "null",
        "http://evil.example.com",
        "http://localhost:9999",
        "http://localhost",
        "file://localhost:8000",
        "http://localhost:8000.evil.com",
    ],
)
def test_a_page_of_another_origin_is_refused(editor: User, origin: str) -> None:
    assert not opens("/ws/overview", session=session_of(editor), origin=origin)


def test_a_host_that_is_not_ours_is_refused_even_when_the_origin_matches(editor: User) -> None:
    assert not opens("/ws/overview", session=session_of(editor), origin="http://evil.example.com", host="evil.example.com")


def test_a_trusted_origin_is_let_in(editor: User, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://pipelines.example.com"]
    assert opens("/ws/overview", session=session_of(editor), origin="https://pipelines.example.com", host="10.0.0.5")


def test_the_first_message_is_the_snapshot_and_the_next_what_is_broadcast(editor: User) -> None:
    row = execution(job(editor), ExecutionStatus.RUNNING)
    history(row)
    session = session_of(editor)

    async def story() -> None:
        one = socket(f"/ws/executions/{row.execution_id}", session)
        await one.connect()
        first = await one.told()
        assert (first["type"], first["seq"], first["execution"]["execution_id"]) == ("snapshot", 1, row.execution_id)
        assert [event["kind"] for event in first["events"]] == ["triggered"]
        assert [found["checkpoint_id"] for found in first["checkpoints"]] == [1]
        assert first["metrics"]["rows_in"] == 5
        await broadcast(execution_group(row.execution_id), {"type": "event", "seq": 2})
        assert await one.told() == {"type": "event", "seq": 2}
        await one.leave()

    run(story)


def test_what_is_broadcast_while_the_snapshot_is_made_follows_it(editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    row = execution(job(editor), ExecutionStatus.RUNNING)
    session = session_of(editor)
    made = snapshots.execution_snapshot

    async def story() -> None:
        loop = asyncio.get_running_loop()

        def slow(user: User, execution_id: str) -> Any:
            snapshot = made(user, execution_id)
            asyncio.run_coroutine_threadsafe(broadcast(execution_group(execution_id), {"type": "event", "seq": 1}), loop).result(5)
            return snapshot

        monkeypatch.setattr(consumers, "execution_snapshot", slow)
        one = socket(f"/ws/executions/{row.execution_id}", session)
        await one.connect()
        assert (await one.told())["type"] == "snapshot"
        assert await one.told() == {"type": "event", "seq": 1}
        await one.leave()

    run(story)


def test_the_overview_begins_with_unfinished_and_latest_executions_of_ones_projects(editor: User, stranger: User) -> None:
    mine, other = job(editor), job(stranger, "theirs", project="elsewhere")
    old, latest = execution(mine, ExecutionStatus.FAILED), execution(mine, ExecutionStatus.COMPLETED)
    waiting = execution(job(editor, "second"), ExecutionStatus.SCHEDULED)
    theirs = execution(other, ExecutionStatus.RUNNING)
    event = Event.objects.create(execution=latest, seq=1, time=timezone.now(), kind="triggered")
    session = session_of(editor)

    async def story() -> None:
        one = socket("/ws/overview", session)
        await one.connect()
        first = await one.told()
        ids = {found["execution_id"] for found in first["executions"]}
        assert (first["number"], ids) == (event.pk, {latest.execution_id, waiting.execution_id})
        assert old.execution_id not in ids
        assert theirs.execution_id not in ids
        await one.leave()

    run(story)


def test_news_of_other_projects_is_not_passed_on(editor: User) -> None:
    session = session_of(editor)

    async def story() -> None:
        one = socket("/ws/overview", session)
        await one.connect()
        await one.told()
        await broadcast(OVERVIEW_GROUP, {"type": "execution", "of": "theirs"}, project="elsewhere")
        await broadcast(OVERVIEW_GROUP, {"type": "execution", "of": "mine"}, project="default")
        assert (await one.told())["of"] == "mine"
        await one.leave()

    run(story)


@pytest.mark.parametrize(
    ("act", "code"),
    [
        ("signed out", consumers.SIGNED_OUT),
        ("deactivated", consumers.SIGNED_OUT),
        ("new password", consumers.SIGNED_OUT),
        ("left the project", consumers.NOT_ALLOWED),
    ],
)
def test_a_socket_is_closed_soon_after_its_user_lost_the_right(editor: User, monkeypatch: pytest.MonkeyPatch, act: str, code: int) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.05)
    row = execution(job(editor), ExecutionStatus.RUNNING)
    client = Client()
    client.force_login(editor)
    session = client.cookies["sessionid"].value

    def lose() -> None:
        if act == "signed out":
            client.post("/sign-out", headers={"host": HOST})
        elif act == "deactivated":
            User.objects.filter(pk=editor.pk).update(is_active=False)
        elif act == "new password":
            editor.set_password("quite another one")
            editor.save()
        else:
            ProjectMember.objects.filter(user=editor).delete()

    async def story() -> None:
        one = socket(f"/ws/executions/{row.execution_id}", session)
        await one.connect()
        await one.told()
        assert await one.receive_nothing(timeout=0.3), "it stays open as long as the user may see it"
        await sync_to_async(lose)()
        closed = await one.receive_output(timeout=5)
        assert (closed["type"], closed["code"]) == ("websocket.close", code)

    run(story)


@pytest.mark.parametrize("page", ["execution", "overview"])
def test_a_socket_that_was_forgotten_begins_anew_and_hears_again(editor: User, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.3)
    monkeypatch.setattr(consumers, "ON_ITS_WAY_SECONDS", 0.3)
    row = execution(job(editor), ExecutionStatus.RUNNING)
    history(row)
    session = session_of(editor)
    path, group = ("/ws/overview", OVERVIEW_GROUP) if page == "overview" else (f"/ws/executions/{row.execution_id}", "")
    group = group or execution_group(row.execution_id)

    def pause() -> int:
        event_number = Event.objects.create(execution=row, seq=2, time=timezone.now(), kind="status").pk
        Execution.objects.filter(pk=row.pk).update(seq=2, status=ExecutionStatus.PAUSED)
        return event_number if page == "overview" else 2

    async def story() -> None:
        one = socket(path, session)
        await one.connect()
        await one.told()
        channel_layers["default"].groups.clear()
        number = await sync_to_async(pause)()
        anew = await one.told()
        shown = anew["executions"][0] if page == "overview" else anew["execution"]
        assert (anew["type"], anew.get("seq", anew.get("number")), shown["status"]) == ("snapshot", number, "PAUSED")
        await broadcast(group, {"type": "event"}, number=number + 1)
        assert (await one.told())["type"] == "event"
        await one.leave()

    run(story)


def test_a_socket_that_cannot_be_checked_is_closed(editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.1)
    session = session_of(editor)

    async def away(*args: object) -> None:
        raise ConnectionError("Redis is away")

    async def story() -> None:
        one = socket("/ws/overview", session)
        await one.connect()
        await one.told()
        monkeypatch.setattr(channel_layers["default"], "group_add", away)
        closed = await one.receive_output(timeout=5)
        assert (closed["type"], closed["code"]) == ("websocket.close", consumers.NOT_CHECKED)

    run(story)


@pytest.mark.slow
def test_an_event_on_its_way_is_waited_for(editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.1)
    monkeypatch.setattr(consumers, "ON_ITS_WAY_SECONDS", 1.0)
    row = execution(job(editor), ExecutionStatus.RUNNING)
    session = session_of(editor)

    async def story() -> None:
        one = socket(f"/ws/executions/{row.execution_id}", session)
        await one.connect()
        await one.told()
        await sync_to_async(lambda: Execution.objects.filter(pk=row.pk).update(seq=1))()
        assert await one.receive_nothing(timeout=0.4)
        await broadcast(execution_group(row.execution_id), {"type": "event", "seq": 1}, number=1)
        assert (await one.told())["type"] == "event"
        assert await one.receive_nothing(timeout=1.2)
        await one.leave()

    run(story)


def test_what_a_browser_sends_is_not_listened_to(editor: User) -> None:
    session = session_of(editor)

    async def story() -> None:
        one = socket("/ws/overview", session)
        await one.connect()
        await one.told()
        await one.say(text="[" * 10_000)
        await one.say(bytes=b"\xff")
        await broadcast(OVERVIEW_GROUP, {"type": "rates"})
        assert (await one.told())["type"] == "rates"
        await one.leave()

    run(story)


def test_a_message_is_sent_as_its_shape_says(editor: User) -> None:
    message = OverviewRates(
        time=timezone.now(),
        execution_id="e",
        job_name="numbers",
        in_per_second=1.5,
        out_per_second=0,
        rejected_per_second=0,
        backlog=None,
    )
    assert json.loads(message_text(message))["type"] == "rates"
    assert Execution.objects.count() == 0
