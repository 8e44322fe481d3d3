"""Whether the systems behind a plan's nodes answer: a stream whose source is away would otherwise just look idle."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from jobs.engine.events import Report, Waiting
from jobs.engine.plan import Plan
from jobs.engine.steps import Steps
from jobs.nodes.base import NodeContext, NodeType

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 3.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.5, 5.0
#: A run that is to end does not wait for ever: its next one may be due.
BOUNDED_WAIT_SECONDS = 300.0


@contextmanager
def awaited(steps: Steps, report: Report, *, over_at_end: Callable[[], bool] = lambda: False) -> Iterator[Set[str]]:
    """While inside, `report` hears of each node whose system falls silent, and when it answers again. The run itself goes on.

    Yields the nodes whose systems are silent, all as it stands at any time. `over_at_end`: left in good order, whether all answer.
    """
    asked = [node_id for node_id, node_type in steps.types.items() if type(node_type).waits_for is not NodeType.waits_for]
    ended = threading.Event()
    away: set[str] = set()
    told: dict[str, str] = {}
    thread = threading.Thread(target=_look, args=(steps, asked, report, ended, away, told), name="awaiting", daemon=True)
    if asked:
        thread.start()
    try:
        yield away
    finally:
        ended.set()
    if over_at_end():
        for node_id in list(told.values()):
            report(Waiting(node_id, ""))


def answers_await(steps: Steps, report: Report, stopping: threading.Event, renewed: Callable[[Plan], Plan]) -> Steps | None:
    """The steps once every system that their nodes need has answered, with the plan as `renewed` gave it last; None if a stop came first.

    An attempt that began without them would fail, and use up one of its retries. One that is to end goes on after some minutes.
    """
    deadline = math.inf if steps.plan.job_type == "STREAMING" else time.monotonic() + BOUNDED_WAIT_SECONDS
    pause = _FIRST_PAUSE_SECONDS
    for node_id in steps.by_id:
        told = ""
        while (what := system_named(steps, node_id, steps.types[node_id].needs_to_begin)) and time.monotonic() < deadline:
            if what != told:
                report(Waiting(node_id, what))
            told, pause = what, min(pause * 2, _LONGEST_PAUSE_SECONDS)
            if stopping.wait(pause):
                return None
            steps = replace(steps, plan=renewed(steps.plan))
        if told and not what:
            report(Waiting(node_id, ""))
    return None if stopping.is_set() else steps


def _look(steps: Steps, asked: list[str], report: Report, ended: threading.Event, away: set[str], told: dict[str, str]) -> None:
    """A system counts as away once it was silent twice in a row, lest every blink makes a line in the history.

    Several nodes may need one system: it is told of at the first of them. Of several systems the one told last is shown: where that
    answers, another is told again. `told`: system → the node it was told of, of those that are silent.
    """
    silent_before: set[str] = set()
    while not ended.wait(_LOOK_SECONDS):
        found = {node_id: system_named(steps, node_id, steps.types[node_id].waits_for) for node_id in asked}
        silent = {what: node_id for node_id, what in reversed(found.items()) if what}
        if ended.is_set():
            return
        away.clear()
        away.update(node_id for node_id, what in found.items() if what in silent_before)
        shown = next(reversed(told), "")
        for what in set(told) - set(silent):
            node_id = told.pop(what)
            report(Waiting(node_id, "", given_up=node_id in steps.beside))
        if told and shown not in told:
            still = next(reversed(told))
            report(Waiting(told[still], still))
        for what, node_id in silent.items():
            if what in silent_before and what not in told:
                told[what] = node_id
                report(Waiting(node_id, what))
        silent_before = set(silent)


def system_named(steps: Steps, node_id: str, ask: Callable[[NodeContext[Any]], str]) -> str:
    """What a node says by `ask`, one of its questions about systems that do not answer; "" where it fails to."""
    try:
        return ask(steps.context(node_id, "batch"))
    except Exception as error:
        logger.info("whether %s waits cannot be told: %s", node_id, error)
        return ""
