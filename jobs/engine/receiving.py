"""The sources that take messages into a buffer of their own: each in a thread, and how full the buffers are."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from jobs.engine.awaiting import BOUNDED_WAIT_SECONDS, awaited, system_named
from jobs.engine.events import BatchCommitted, BufferStands, Noticed, Report
from jobs.engine.failure import AtNode
from jobs.engine.query import StreamQuery
from jobs.engine.recurring import Recurring
from jobs.engine.skipping import Skipping
from jobs.engine.steps import Steps
from jobs.nodes.backpressure import Buffered
from jobs.nodes.base import NodeContext, NodeError, Source
from jobs.nodes.node_error import SystemAway
from jobs.nodes.retry_note import RetryNote

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 30.0
#: A receiver that worked for so long starts again after the first pause.
_HEALTHY_SECONDS = 60.0
#: What a system refuses at the start is final. One that was away and comes back may at first not know what it knew.
_SETTLING_SECONDS = 60.0
#: So long the word holds that a receiver is tried again, over its pause and the try itself.
_NOTE_SECONDS = 5.0
_END_SECONDS = 10.0


class Receiving:
    """`failure` is why the run cannot go on: a receiver that never will, or a buffer that ran over where that is an error."""

    def __init__(self, steps: Steps, report: Report) -> None:
        self.failure: AtNode | None = None
        self._steps, self._report = steps, report
        self._stopping = threading.Event()
        self._told: dict[str, Buffered] = {}
        self._ends: dict[str, dict[str, Any]] = {}
        self._untold = Recurring(logger)
        self._receivers = [self._thread(node_id) for node_id in steps.sources if _overrides(steps, node_id, "receive")]
        self._buffers = [node_id for node_id in steps.sources if _overrides(steps, node_id, "buffered")]
        self._skipping = Skipping(steps, report, self._moved)

    @contextmanager
    def begun(self) -> Iterator[None]:
        """While inside, messages are taken and `report` hears how the buffers stand."""
        for node_id in self._steps.sources:
            self._begin(node_id)
        self._look()
        watching = threading.Thread(target=self._watch, name="buffers", daemon=True)
        for thread in self._receivers:
            thread.start()
        if self._buffers:
            watching.start()
        try:
            yield
        finally:
            self._stopping.set()
            for thread in [*self._receivers, *([watching] if self._buffers else [])]:
                thread.join(_END_SECONDS)
            self._look()
            self._skipping.tell(at_once=True)

    def follow(self, query: StreamQuery) -> None:
        """Before it starts: messages of its sources may be left out between its batches."""
        self._skipping.follow(query)

    def committed(self, event: BatchCommitted) -> None:
        """A query read its sources up to where the batch says."""
        self._ends[event.query] = {node_id: source["end"] for node_id, source in event.sources.items()}

    def await_bounded(self, stopping: threading.Event) -> None:
        """A bounded run reads what its receivers found: wait until they have it all. Raises their failure."""
        if not self._receivers:
            return
        with awaited(self._steps, self._report, over_at_end=lambda: not stopping.is_set()):
            while any(thread.is_alive() for thread in self._receivers) and not (stopping.is_set() or self.failure):
                stopping.wait(0.1)
            if self.failure is not None:
                raise self.failure

    def _begin(self, node_id: str) -> None:
        try:
            context = replace(self._steps.context(node_id, "stream"), notice=partial(self._notice, node_id))
            self._steps.source(node_id).begin(context)
        except Exception as error:
            raise AtNode(node_id, error) from error

    def _notice(self, node_id: str, words: str) -> None:
        self._report(Noticed(words, node_id, "warning"))

    def _thread(self, node_id: str) -> threading.Thread:
        return threading.Thread(target=self._receive, args=(node_id,), name=f"receiving {node_id}", daemon=True)

    def _receive(self, node_id: str) -> None:
        source = self._steps.source(node_id)
        context = replace(self._steps.context(node_id, "stream"), notice=partial(self._notice, node_id))
        pause = _FIRST_PAUSE_SECONDS
        patience, note = _Patience(bounded=context.bounded), RetryNote.of(context.work_dir)
        note.clear()  # what an attempt before this one said
        while not self._stopping.is_set():
            begun = time.monotonic()
            try:
                source.receive(context, self._stopping)
                fault = None
            except Exception as error:
                fault = error
            worked_seconds = time.monotonic() - begun
            if fault is None and context.bounded:
                return
            if fault is not None and patience.is_over(fault, worked_seconds):
                note.clear()
                self.failure = AtNode(node_id, fault)
                return
            pause = _FIRST_PAUSE_SECONDS if worked_seconds > _HEALTHY_SECONDS else min(2 * pause, _LONGEST_PAUSE_SECONDS)
            if fault is not None:
                _tell(fault, context, note, pause + _NOTE_SECONDS)
            self._rest(node_id, pause)

    def _rest(self, node_id: str, seconds: float) -> None:
        """No longer than until a system that was silent answers again: a broker may drop what is sent before its reader is back."""
        until, was_silent = time.monotonic() + seconds, False
        while (left := until - time.monotonic()) > 0:
            is_silent = system_named(self._steps, node_id, self._steps.types[node_id].waits_for) != ""
            if was_silent and not is_silent:
                return
            was_silent = is_silent
            if self._stopping.wait(min(left, _LOOK_SECONDS)):
                return

    def _watch(self) -> None:
        while not self._stopping.wait(_LOOK_SECONDS):
            self._look()

    def _look(self) -> None:
        for node_id in self._buffers:
            what = f"how the buffer of {node_id} stands cannot be told"
            try:
                self._look_at(node_id)
            except Exception as error:
                self._untold.wrong(what, error)
            else:
                self._untold.right(what)
        self._skipping.tell()

    def _look_at(self, node_id: str) -> None:
        positions = {query: ends[node_id] for query, ends in list(self._ends.items()) if node_id in ends}
        source, context = self._steps.source(node_id), self._steps.context(node_id, "stream")
        found = source.buffered(context, list(positions.values()))
        if found is None:
            return
        self._stands(node_id, replace(found, dropped=found.dropped + self._skipping.total(node_id)))
        if found.status == "DROPPING" and not self._stopping.is_set():
            self._skipping.consider(node_id, positions)

    def _stands(self, node_id: str, found: Buffered) -> None:
        told = self._told.get(node_id)
        if told is not None and found.dropped > told.dropped:  # though there may be room this very moment
            found = replace(found, status="DROPPING")
        if found != told:
            self._told[node_id] = found
            self._report(BufferStands(node_id, found.waiting, found.dropped, found.status))
        if fault := found.fault or (_overrun(found) if found.status == "FAILED" else None):
            self.failure = self.failure or AtNode(node_id, fault)

    def _moved(self, query: str, node_id: str, position: Any) -> None:
        self._ends[query] = {**self._ends.get(query, {}), node_id: position}


@dataclass
class _Patience:
    """How long a receiver that fails is tried again: for ever, but for what is refused for good, and where a run is to end."""

    bounded: bool
    _refused_since: float | None = -math.inf
    _away_since: float | None = None

    def is_over(self, error: Exception, worked_seconds: float) -> bool:
        """`worked_seconds`: how long it had received when `error` came."""
        now, is_healthy = time.monotonic(), worked_seconds >= _HEALTHY_SECONDS
        is_refused = isinstance(error, NodeError) and error.permanent
        self._refused_since = (self._refused_since or now) if is_refused and not is_healthy else None
        if self._refused_since is not None and now - self._refused_since >= _SETTLING_SECONDS:
            return True
        if not self.bounded:
            return False
        if not isinstance(error, NodeError) or not error.outage:
            return True
        self._away_since = now if self._away_since is None or is_healthy else self._away_since
        return now - self._away_since >= BOUNDED_WAIT_SECONDS


def _tell(fault: Exception, context: NodeContext[Any], note: RetryNote, seconds: float) -> None:
    """That it is tried again, and why; whether its system is away is asked of that itself."""
    if not isinstance(fault, NodeError):
        logger.error("receiving at %s", context.node_id, exc_info=fault)
    words = fault.message if isinstance(fault, NodeError) else f"receiving broke off: {fault}"
    context.log(f"{words}; it is tried again")
    if isinstance(fault, SystemAway):
        note.clear()
    else:
        note.tell(words, seconds)


def _overrun(found: Buffered) -> NodeError:
    message = f"messages come faster than they are read: {found.waiting:,} wait, {found.remedy}"
    return NodeError(message, permanent=True, field=found.field)


def _overrides(steps: Steps, node_id: str, method: str) -> bool:
    return getattr(type(steps.types[node_id]), method) is not getattr(Source, method)
