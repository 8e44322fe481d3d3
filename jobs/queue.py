"""The only way onto Celery and onto the list of the interactive drivers. What it carries are hints and questions, never facts."""

import json
import logging
import os
import threading
import uuid
from collections.abc import Collection, Mapping
from typing import Any, Literal, cast

from celery import current_app
from django.conf import settings
from django.db import transaction
from redis import Redis
from redis.exceptions import RedisError

from jobs.selectors.drivers import interactive_ready

logger = logging.getLogger(__name__)

#: The control command that the supervisor of each worker answers by waking its drivers.
WAKE_COMMAND = "pipeline_wake"
INTERACTIVE_REQUESTS = "pipeline:interactive"
#: Seconds that an answer nobody fetched stays in Redis.
INTERACTIVE_TERM = 120

#: Seconds that questions nobody takes stay there, longer than anybody waits.
_QUESTIONS_TERM = 600

InteractiveKind = Literal["validate", "preview", "test", "script", "state"]
#: Each has a list of its own. Questions that take their time stand in nobody else's way; all others are the last.
INTERACTIVE_LANES = ("test", "state", "script", "validate", "quick")


class InteractiveUnavailable(Exception):
    """No interactive driver answered in time, or Redis is away."""


class InteractiveFailed(Exception):
    """The driver answered that it could not do it; the text says why."""


def wake() -> None:
    """Once the current transaction is committed, tell every worker that there is something to do. Never raises, never waits."""
    transaction.on_commit(_wake_soon)


_pending = threading.Event()
_lock = threading.Lock()
_waker: threading.Thread | None = None


def _wake_soon() -> None:
    """A thread of its own sends it: with Redis away the caller would otherwise wait for its time-out."""
    global _waker
    with _lock:
        _pending.set()
        if _waker is None or not _waker.is_alive():
            _waker = threading.Thread(target=_wake_loop, name="wake", daemon=True)
            _waker.start()


def _wake_loop() -> None:
    while True:
        _pending.wait()
        _pending.clear()
        try:
            current_app.control.broadcast(WAKE_COMMAND, reply=False)
        except Exception as error:  # polling covers a lost wake-up
            logger.warning("drivers could not be woken, they will look by themselves: %s", error)


def _forget() -> None:
    global _waker, _lock, _pending
    _waker, _lock, _pending = None, threading.Lock(), threading.Event()


os.register_at_fork(after_in_child=_forget)


def redis_client(*, waiting: float = 1.0) -> "Redis":
    """A client of the installation's Redis, for commands that block on purpose for up to `waiting` seconds; all give up soon after."""
    return Redis.from_url(settings.REDIS_URL, socket_connect_timeout=3, socket_timeout=waiting + 5, decode_responses=True)


def interactive_call(kind: InteractiveKind, payload: Mapping[str, Any], timeout: float = 20.0, *, question: str = "") -> dict[str, Any]:
    """Ask an interactive driver. InteractiveUnavailable when none answers within `timeout` seconds, InteractiveFailed with its reason.

    `question`: a name under which it can be cancelled.
    """
    request_id = question or str(uuid.uuid4())
    request = {"id": request_id, "kind": kind, "payload": dict(payload), "cancellable": bool(question)}
    key = _questions_key(interactive_lane(kind))
    was_waiting = 0
    try:
        with redis_client(waiting=timeout) as client:
            now = _clock(client)
            told = json.dumps(request | {"asked": now, "deadline": now + timeout})
            client.rpush(key, told)
            client.expire(key, _QUESTIONS_TERM)
            found = cast("list[str] | None", client.blpop([_answer_key(request_id)], timeout=timeout))
            if found is None:
                was_waiting = cast("int", client.lrem(key, 1, told))
    except RedisError as error:
        raise InteractiveUnavailable(f"Redis cannot be reached: {error}") from error
    if found is None and not was_waiting:
        raise InteractiveUnavailable(f"it took longer than {timeout:g} s and was ended")
    if found is None:
        if interactive_ready():
            raise InteractiveUnavailable(f"no interactive driver was free within {timeout:g} s: each is busy with other questions")
        raise InteractiveUnavailable(f"no interactive driver answered within {timeout:g} s: is a worker running?")
    answer = json.loads(found[1])
    if "error" in answer:
        raise InteractiveFailed(answer["error"])
    return cast("dict[str, Any]", answer["result"])


def interactive_take(client: "Redis", timeout: float, lanes: Collection[str] = INTERACTIVE_LANES) -> dict[str, Any] | None:
    """The next question in `lanes`, waited for up to `timeout` seconds: {"id", "kind", "payload"}, with the "seconds" that are left for it
    and those that it "waited" here.

    One nobody waits for is dropped.
    """
    found = cast("list[str] | None", client.blpop([_questions_key(lane) for lane in lanes], timeout=timeout))
    request: dict[str, Any] | None = json.loads(found[1]) if found else None
    if request is not None and "deadline" in request:
        now = _clock(client)
        request["seconds"], request["waited"] = request["deadline"] - now, now - request.get("asked", now)
        if request["seconds"] < 0:
            logger.info("a question of kind %s came too late: nobody waits for its answer", request["kind"])
            return None
    return request


def interactive_give_back(client: "Redis", request: Mapping[str, Any]) -> None:
    """What `interactive_take` gave to who cannot answer it waits for another, before all others, as if it had never been taken."""
    key = _questions_key(interactive_lane(request["kind"]))
    client.lpush(key, json.dumps({name: value for name, value in request.items() if name not in ("seconds", "waited")}))
    client.expire(key, _QUESTIONS_TERM)


def interactive_lane(kind: str) -> str:
    """Where questions of `kind` wait."""
    return kind if kind in INTERACTIVE_LANES else INTERACTIVE_LANES[-1]


def _questions_key(lane: str) -> str:
    return INTERACTIVE_REQUESTS if lane == INTERACTIVE_LANES[-1] else f"{INTERACTIVE_REQUESTS}-{lane}"


def _clock(client: "Redis") -> float:
    """Redis's own time, which everybody shares."""
    seconds, microseconds = client.time()
    return seconds + microseconds / 1e6


def interactive_answer(client: "Redis", request_id: str, answer: Mapping[str, Any]) -> None:
    """Answer a question: {"result": …} or {"error": text}."""
    key = _answer_key(request_id)
    client.rpush(key, json.dumps(answer))
    client.expire(key, INTERACTIVE_TERM)


def interactive_cancel(question: str) -> None:
    """Who asked is answered at once, and the driver leaves off soon; nothing where nobody asks that. RedisError when it does not answer."""
    with redis_client() as client:
        client.set(_cancelled_key(question), "1", ex=INTERACTIVE_TERM)
        interactive_answer(client, question, {"error": "it was cancelled"})


def interactive_is_cancelled(client: "Redis", request_id: str) -> bool:
    return bool(client.exists(_cancelled_key(request_id)))


def tasks_waiting() -> int:
    """How many tasks wait in Redis for any worker. RedisError when it does not answer."""
    with redis_client() as client:
        return int(cast("int", client.llen(settings.CELERY_TASK_DEFAULT_QUEUE)))


def _answer_key(request_id: str) -> str:
    return f"{INTERACTIVE_REQUESTS}:{request_id}"


def _cancelled_key(request_id: str) -> str:
    return f"{_answer_key(request_id)}:cancelled"
