"""Whether the systems behind a plan's nodes answer: a stream whose source is away would otherwise just look idle."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.engine.events import Report, Waiting
from jobs.engine.steps import Steps
from jobs.nodes.base import NodeType

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 3.0


@contextmanager
def awaited(steps: Steps, report: Report) -> Iterator[None]:
    """While inside, `report` hears of each node whose system falls silent, and when it answers again. The run itself goes on."""
    asked = [node_id for node_id, node_type in steps.types.items() if type(node_type).waits_for is not NodeType.waits_for]
    ended = threading.Event()
    thread = threading.Thread(target=_look, args=(steps, asked, report, ended), name="awaiting", daemon=True)
    if asked:
        thread.start()
    try:
        yield
    finally:
        ended.set()


def _look(steps: Steps, asked: list[str], report: Report, ended: threading.Event) -> None:
    """A system counts as away once it was silent twice in a row, lest every blink makes a line in the history.

    Several nodes may need one system: it is told of at the first of them.
    """
    silent_before: set[str] = set()
    told: dict[str, str] = {}
    while not ended.wait(_LOOK_SECONDS):
        silent: dict[str, str] = {}
        for node_id in asked:
            if what := _silent(steps, node_id):
                silent.setdefault(what, node_id)
        if ended.is_set():
            return
        for what in set(told) - set(silent):
            report(Waiting(told.pop(what), ""))
        for what, node_id in silent.items():
            if what in silent_before and what not in told:
                told[what] = node_id
                report(Waiting(node_id, what))
        silent_before = set(silent)


def _silent(steps: Steps, node_id: str) -> str:
    try:
        return steps.types[node_id].waits_for(steps.context(node_id, "batch"))
    except Exception as error:
        logger.info("whether %s waits cannot be told: %s", node_id, error)
        return ""
