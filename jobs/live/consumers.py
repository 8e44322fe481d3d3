"""The sockets: authorise, join the group, then send the snapshot; afterwards pass on what is broadcast.

Messages that arrive while the snapshot is made wait in the channel and follow it: the browser drops those it has already seen.

What never arrives is noticed: Redis forgets who is in a group when it is emptied, and after a day in any case.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from typing import Any, TypeVar, cast

from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User

from jobs.broadcast import OVERVIEW_GROUP, OverviewSnapshot, SnapshotMessage, execution_group, message_text
from jobs.live.snapshots import execution_newest_seq, execution_snapshot, newest_event_number, overview_snapshot
from jobs.selectors.access import projects_visible
from jobs.selectors.executions import executions_visible

logger = logging.getLogger(__name__)
Answer = TypeVar("Answer")

#: How often a socket asks again whether its user may still see what it sends.
RECHECK_SECONDS = 20.0
#: How long a message may be on its way from the event's row to here.
ON_ITS_WAY_SECONDS = 2.0
#: Told to the browser when they may not: signed out or deactivated, or no longer in the project.
SIGNED_OUT, NOT_ALLOWED = 4401, 4404
#: The code for an error of the server.
NOT_CHECKED = 1011


async def _asked(question: Callable[[], Answer]) -> Answer:
    """What the database answers, in a thread of its own."""
    answer: Answer = await database_sync_to_async(question)()
    return answer


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """What both sockets share. Nothing a browser sends is listened to."""

    group = ""
    user: User
    #: The number of the newest event that was heard of.
    heard = 0

    async def connect(self) -> None:
        user = await self._user_now()
        if user is None or not await self.allowed(user):
            await self.close()
            return
        self.user = user
        self.group = self.group_of()
        await self.channel_layer.group_add(self.group, self.channel_name)
        await self.accept()
        await self._send_snapshot()
        self._watch = asyncio.create_task(self._recheck())

    async def disconnect(self, code: int) -> None:
        if self.group:
            await self.channel_layer.group_discard(self.group, self.channel_name)
        if watch := getattr(self, "_watch", None):
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        return

    async def live_message(self, event: dict[str, Any]) -> None:
        """One broadcast message, sent on as it is when it is of a project that this user sees."""
        self.heard = max(self.heard, event.get("number", 0))
        if self.wanted(event):
            await self.send(text_data=event["text"])

    def wanted(self, event: dict[str, Any]) -> bool:
        return True

    def group_of(self) -> str:
        raise NotImplementedError

    async def allowed(self, user: User) -> bool:
        """Whether `user` may see, or go on seeing, what this socket sends."""
        raise NotImplementedError

    async def snapshot(self) -> SnapshotMessage | OverviewSnapshot:
        """All there is for this user."""
        raise NotImplementedError

    async def newest(self) -> int:
        """The number of the newest event that is written."""
        raise NotImplementedError

    async def _send_snapshot(self) -> None:
        snapshot = await self.snapshot()
        self.heard = max(self.heard, snapshot.seq if isinstance(snapshot, SnapshotMessage) else snapshot.number)
        await self.send(text_data=message_text(snapshot))

    async def _send_missed(self) -> None:
        """Join again, which changes nothing for a member, and begin anew where an event is written that did not come."""
        written = await self.newest()
        if written > self.heard:
            await asyncio.sleep(ON_ITS_WAY_SECONDS)
        await self.channel_layer.group_add(self.group, self.channel_name)
        if written > self.heard:
            await self._send_snapshot()

    async def _recheck(self) -> None:
        """Until the socket is closed. One that cannot be checked is closed too: the browser opens another as soon as it can."""
        closing = 0
        while not closing:
            await asyncio.sleep(RECHECK_SECONDS)
            try:
                closing = await self._checked()
            except Exception as error:  # the database or Redis is away
                logger.warning("a socket cannot be checked and is closed: %s", error)
                closing = NOT_CHECKED
        await self.close(code=closing)

    async def _checked(self) -> int:
        """Why the socket is to be closed, 0 where it stays open; then what it missed is sent."""
        user = await self._user_now()
        if user is None:
            return SIGNED_OUT
        if not await self.allowed(user):
            return NOT_ALLOWED
        self.user = user
        await self._send_missed()
        return 0

    async def _user_now(self) -> User | None:
        """Whom the session belongs to, read anew: it may have been ended, its password changed, its user deactivated."""
        key = self.scope["session"].session_key
        if not key:
            return None
        store = import_module(settings.SESSION_ENGINE).SessionStore(key)
        user = cast("User | AnonymousUser", await get_user({"session": store}))
        return user if isinstance(user, User) and user.is_active else None


class ExecutionConsumer(LiveConsumer):
    """/ws/executions/{execution_id}"""

    def group_of(self) -> str:
        return execution_group(self._execution_id)

    @property
    def _execution_id(self) -> str:
        return str(self.scope["url_route"]["kwargs"]["execution_id"])

    async def allowed(self, user: User) -> bool:
        return await _asked(executions_visible(user).filter(execution_id=self._execution_id).exists)

    async def snapshot(self) -> SnapshotMessage:
        return await _asked(lambda: execution_snapshot(self.user, self._execution_id))

    async def newest(self) -> int:
        return await _asked(lambda: execution_newest_seq(self._execution_id))


class OverviewConsumer(LiveConsumer):
    """/ws/overview: every execution of the user's projects."""

    projects: frozenset[str] = frozenset()

    def group_of(self) -> str:
        return OVERVIEW_GROUP

    def wanted(self, event: dict[str, Any]) -> bool:
        return self.user.is_superuser or event.get("project") in self.projects

    async def allowed(self, user: User) -> bool:
        self.projects = frozenset(await _asked(lambda: list(projects_visible(user).values_list("slug", flat=True))))
        return True

    async def snapshot(self) -> OverviewSnapshot:
        return await _asked(lambda: overview_snapshot(self.user))

    async def newest(self) -> int:
        return await _asked(newest_event_number)
