"""How much anybody may send: Django writes the whole body of a request to the disk before it looks at who sent it."""

import io
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from jobs.api.authentication import TokenAuthentication
from jobs.models import ApiToken, Role, TokenScope
from jobs.selectors.access import role_covers, role_in
from jobs.selectors.installation import largest_upload
from jobs.selectors.jobs import job_get
from jobs.selectors.refusals import NotFound

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_ARCHIVES = re.compile(r"/api/jobs/([^/]+)/checkpoints/import/?")
#: Above what an address takes, so that a view that refuses a little too much can say so in its own words.
_SLACK = 4


class BodyLimit:
    """Answers 413 to a body that is larger than any its address takes, before more of it is read.

    An archive of a checkpoint may be large: of it nothing is read from who may not bring one; the view then says why.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> Any:
        job_name = _archive_for(scope)
        most = largest_upload() if job_name else settings.DATA_UPLOAD_MAX_MEMORY_SIZE * _SLACK
        if _declared(scope) > most:
            return await _refuse(send, most)
        if job_name and not await database_sync_to_async(_may_bring_archive)(scope, job_name):
            return await self.inner(scope, _Nothing(receive), send)
        return await self.inner(scope, _Counted(receive, send, most), send)


class _Counted:
    """A body of which nobody knows the size before it ends."""

    def __init__(self, receive: Receive, send: Send, most: int) -> None:
        self._receive, self._send, self._most = receive, send, most
        self._read = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if self._read <= self._most:
            return message
        await _refuse(self._send, self._most)
        return {"type": "http.disconnect"}


class _Nothing:
    """An empty body; what was sent is let go of until the sender leaves."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._told = False

    async def __call__(self) -> Message:
        if not self._told:
            self._told = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await self._receive())["type"] != "http.disconnect":
            pass
        return message


async def _refuse(send: Send, most: int) -> None:
    words = f"the request is larger than {most >> 20} MiB"
    body = json.dumps({"error": {"code": "too_large", "message": words, "problems": []}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _header(scope: dict[str, Any], name: bytes) -> bytes:
    return next((value for given, value in scope["headers"] if given.lower() == name), b"")


def _declared(scope: dict[str, Any]) -> int:
    """The size that the request itself names, 0 without one; the server has seen to it that it is a number."""
    return int(_header(scope, b"content-length") or 0)


def _archive_for(scope: dict[str, Any]) -> str:
    """The job that an archive of a checkpoint is brought to; "" where none is."""
    job = _ARCHIVES.fullmatch(scope["path"])
    return job[1] if job and _header(scope, b"content-type").startswith(b"multipart/") else ""


def _may_bring_archive(scope: dict[str, Any], job_name: str) -> bool:
    """Whether whoever is signed in, by a session or by a token, may change the job."""
    user, token = _signed_in(scope)
    if isinstance(token, ApiToken) and token.scope != TokenScope.FULL:
        return False
    try:
        job = job_get(user=user, job_name=job_name)
    except NotFound:
        return False
    return role_covers(role_in(user, job.project_id), Role.EDITOR)


def _signed_in(scope: dict[str, Any]) -> tuple[Any, ApiToken | None]:
    """Who asks, and with which token."""
    request = ASGIRequest(scope, io.BytesIO())
    for middleware in (SessionMiddleware, AuthenticationMiddleware):
        middleware(lambda _: HttpResponse()).process_request(request)
    if request.user.is_authenticated:
        return request.user, None
    try:
        return TokenAuthentication().authenticate(Request(request)) or (request.user, None)
    except AuthenticationFailed:
        return request.user, None
