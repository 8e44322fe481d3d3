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

from jobs.models import Job, Role, TokenScope
from jobs.services.access import token_create
from pipeline_web.asgi import application
from tests.api.rows import member
from tests.services.job_rows import job_row

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]

IMPORT = "/api/jobs/numbers/checkpoints/import"
FORM_BEGINS = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.tar"\r\nContent-Type: application/x-tar\r\n\r\n'


def played(story: Callable[[], Awaitable[None]]) -> Callable[[], None]:
    """A test that is a coroutine."""

    @functools.wraps(story)
    def test() -> None:
        asyncio.run(asyncio.wait_for(story(), 60))

    return test


def asked(path: str, *, size: int | None = None, token: str = "") -> ApplicationCommunicator:
    kind = b"multipart/form-data; boundary=x" if path == IMPORT else b"application/json"
    headers = [(b"host", b"localhost"), (b"content-type", kind)]
    headers += [(b"content-length", str(size).encode())] if size is not None else []
    headers += [(b"authorization", f"Bearer {token}".encode())] if token else []
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers, "client": ("127.0.0.1", 5)}
    return ApplicationCommunicator(application, scope)


async def answered(request: ApplicationCommunicator) -> tuple[int, Any]:
    start = await request.receive_output(timeout=20)
    body = await request.receive_output(timeout=20)
    return start["status"], json.loads(body["body"])


@sync_to_async
def token_of(user: User, scope: TokenScope = TokenScope.FULL) -> str:
    return token_create(user=user, name="test", scope=scope)[1]


@sync_to_async
def superuser() -> User:
    return User.objects.create_superuser("ada")


@sync_to_async
def of_job(role: Role) -> User:
    """A member of the project of the job `numbers`."""
    job = Job.objects.filter(job_name="numbers").first() or job_row("numbers")
    return member(job.project, str(role).lower(), role)


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
async def test_nothing_is_read_of_an_archive_from_who_may_not_bring_one():
    status, told = await answered(asked(IMPORT, size=1 << 30))
    assert (status, told["error"]["code"]) in ((401, "not_authenticated"), (403, "not_authenticated"))
    assert (await answered(asked(IMPORT, size=1 << 30, token="wrong")))[0] in (401, 403)
    stranger = await token_of(await superuser())
    assert (await answered(asked(IMPORT, size=1 << 30, token=stranger)))[0] == 404
    operator = await token_of(await of_job(Role.OPERATOR))
    status, told = await answered(asked(IMPORT, size=1 << 30, token=operator))
    assert (status, "EDITOR" in told["error"]["message"]) == (403, True)
    reading = await token_of(await of_job(Role.EDITOR), TokenScope.READ)
    status, told = await answered(asked(IMPORT, size=1 << 30, token=reading))
    assert (status, "this API token may only read" in told["error"]["message"]) == (403, True)


@played
async def test_what_a_view_takes_arrives_also_a_large_archive_of_who_is_signed_in():
    token = await token_of(await of_job(Role.EDITOR))
    request = asked("/api/jobs/validate", token=token)
    await request.send_input({"type": "http.request", "body": b'{"document": {"name"', "more_body": True})
    await request.send_input({"type": "http.request", "body": b': "x"}, "analyse": false}'})
    status, told = await answered(request)
    assert status == 200
    assert told["problems"]
    parts = [FORM_BEGINS, *[b"x" * (1 << 20)] * 20, b"\r\n--x--\r\n"]
    for size in (sum(map(len, parts)), None):
        large = asked(IMPORT, token=token, size=size)
        for number, part in enumerate(parts, start=1):
            await large.send_input({"type": "http.request", "body": part, "more_body": number < len(parts)})
        status, told = await answered(large)
        assert (status, told["error"]["code"]) == (422, "archive.refused")
