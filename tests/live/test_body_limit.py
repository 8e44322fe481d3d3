"""Requests to the application as the web process runs it: too much is refused before it is read, and kept from nobody it serves."""

import asyncio
import functools
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.contrib.auth.models import User

from jobs.services.access import token_create
from pipeline_web.asgi import application

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

IMPORT = "/api/jobs/numbers/checkpoints/import"


def played(story: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """A test that is a coroutine."""

    @functools.wraps(story)
    def test() -> None:
        asyncio.run(asyncio.wait_for(story(), 60))

    return test


def asked(path: str, *, size: int | None = None, token: str = "") -> ApplicationCommunicator:
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    headers += [(b"content-length", str(size).encode())] if size is not None else []
    headers += [(b"authorization", f"Bearer {token}".encode())] if token else []
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers, "client": ("127.0.0.1", 5)}
    return ApplicationCommunicator(application, scope)


async def answered(request: ApplicationCommunicator) -> tuple[int, Any]:
    start = await request.receive_output(timeout=20)
    body = await request.receive_output(timeout=20)
    return start["status"], json.loads(body["body"])


async def known() -> str:
    user = await sync_to_async(User.objects.create_superuser)("ada")
    _, token = await sync_to_async(token_create)(user=user, name="test")
    return token


@played
async def test_a_size_that_no_view_takes_is_refused_unread():
    status, told = await answered(asked("/api/jobs", size=1 << 30))
    assert (status, told["error"]["code"]) == (413, "too_large")


@played
async def test_a_body_without_a_size_is_read_no_further_than_it_may_be():
    request = asked("/api/jobs")
    for _ in range(9):
        await request.send_input({"type": "http.request", "body": b"x" * (1 << 20), "more_body": True})
    assert (await answered(request))[0] == 413
    await request.wait(timeout=20)


@played
async def test_nothing_is_read_of_an_archive_from_who_is_not_signed_in():
    status, told = await answered(asked(IMPORT, size=1 << 30))
    assert (status, told["error"]["code"]) in ((401, "not_authenticated"), (403, "not_authenticated"))
    assert (await answered(asked(IMPORT, size=1 << 30, token="wrong")))[0] in (401, 403)


@played
async def test_what_a_view_takes_arrives_also_a_large_archive_of_who_is_signed_in():
    token = await known()
    request = asked("/api/jobs/validate", token=token)
    await request.send_input({"type": "http.request", "body": b'{"document": {"name"', "more_body": True})
    await request.send_input({"type": "http.request", "body": b': "x"}, "analyse": false}'})
    status, told = await answered(request)
    assert status == 200
    assert told["problems"]
    large = asked(IMPORT, token=token)
    for number in range(20):
        await large.send_input({"type": "http.request", "body": b"x" * (1 << 20), "more_body": number < 19})
    status, told = await answered(large)
    assert (status, told["error"]["code"]) == (404, "not_found")
