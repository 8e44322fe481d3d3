"""Columns that come up in a system while it is read are told once, for the run goes on without them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from jobs.engine.events import Noticed, Report
from jobs.engine.steps import Steps
from jobs.nodes.unread_columns import TellsUnread

logger = logging.getLogger(__name__)

LOOK_SECONDS = 60.0
#: So often a source is told of in one attempt: messages may bring other fields for ever.
_MOST_NOTICES = 5


@contextmanager
def unread_told(steps: Steps, report: Report) -> Iterator[None]:
    """While inside, `report` hears of them. The first look shows what was there before."""
    asked = {node_id: node_type for node_id, node_type in steps.types.items() if isinstance(node_type, TellsUnread)}
    ended = threading.Event()
    if asked and steps.plan.job_type == "STREAMING":
        threading.Thread(target=_look, args=(steps, asked, report, ended), name="unread", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _look(steps: Steps, asked: dict[str, TellsUnread], report: Report, ended: threading.Event) -> None:
    told: dict[str, set[str]] = {node_id: set() for node_id in asked}
    while not ended.is_set():
        for node_id, words in told.items():
            found = _asked(steps, node_id, asked[node_id]) if len(words) < _MOST_NOTICES else ""
            if found and found not in words and not ended.is_set():
                words.add(found)
                report(Noticed(found, node_id, "warning"))
        ended.wait(LOOK_SECONDS)


def _asked(steps: Steps, node_id: str, source: TellsUnread) -> str:
    try:
        return source.unread(steps.context(node_id, "stream"))
    except Exception as error:  # its system may be away
        logger.info("which columns of %s are not read cannot be told: %s", node_id, error)
        return ""
