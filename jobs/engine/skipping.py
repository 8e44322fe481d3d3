"""Leaving out messages that wait in a system's own log: a query is stopped behind a batch and goes on further ahead."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from jobs.engine.events import SKIPPED, Noticed, Report
from jobs.engine.grouping import query_folder
from jobs.engine.offset_log import named_offsets, plan_end
from jobs.engine.query import StreamQuery
from jobs.engine.skip_ledger import SkipLedger, ledger_place, left_out
from jobs.engine.steps import Steps
from jobs.nodes.backlog import widened
from jobs.nodes.backpressure import Skip, is_beyond, placed_at

logger = logging.getLogger(__name__)

#: A query that was stopped and started again, which takes about a second, reads on for so long at least, and for a batch.
REST_SECONDS = 10.0
#: How often the timeline says that messages are left out.
NOTICE_SECONDS = 60.0


class Skipping:
    """What is left out is written down before it is, and counted for each query that leaves it out.

    `on_move` hears query, node id and position whenever a query goes on further ahead.

    Where the oldest go, a query is stopped behind the batch that runs. Where the newest go, what they leave is read first: a batch that
    would reach into them is not begun, but planned anew up to them, and the next one begins behind them.
    """

    def __init__(self, steps: Steps, report: Report, on_move: Callable[[str, str, Any], None]) -> None:
        self._steps, self._report, self._on_move = steps, report, on_move
        self._queries: dict[str, StreamQuery] = {}
        self._ledgers: dict[tuple[str, str], SkipLedger] = {}
        self._rests_until: dict[str, float] = {}
        #: Query → the batch behind which it was stopped last.
        self._stopped_behind: dict[str, int] = {}
        #: Query → the source whose newest messages are to be left out as they stand before its next batch.
        self._due: dict[str, str] = {}
        #: Query → the source, and the messages that its batches come nearer to.
        self._ahead: dict[str, tuple[str, Skip]] = {}
        self._lock = threading.Lock()
        self._untold: Counter[str] = Counter()
        self._quiet_until: dict[str, float] = {}

    def follow(self, query: StreamQuery) -> None:
        """Before `query` starts: carries out what an earlier attempt wrote down and did not come to do."""
        self._queries[query.key] = query
        query.before_batch = partial(self._halt, query)
        for node_id in set(query.source_names.values()):
            ledger = SkipLedger(ledger_place(self._work_dir(node_id), query_folder(query.key)), query.folder)
            ledger.settle()
            self._ledgers[node_id, query.key] = ledger

    def total(self, node_id: str) -> int:
        """All messages of this generation that were left out at a source; what an attempt began to leave out counts once it is done."""
        return left_out(self._work_dir(node_id))

    def consider(self, node_id: str, positions: Mapping[str, Any]) -> None:
        """Let those queries leave out messages that should; `positions`: query → where it is. Returns before they do. Raises NodeError."""
        for key, position in positions.items():
            ahead = self._ahead.get(key)
            is_busy = ahead[0] != node_id if ahead else time.monotonic() < self._rests_until.get(key, 0.0)
            if is_busy or not (skip := self._asked(node_id, [position])):
                continue
            if ahead:
                self._widen(key, ahead, skip)
            elif skip.begins != (position,):
                self._due[key] = node_id
            elif self._has_gone_on(self._queries[key]):
                self._queries[key].request_pause(partial(self._skip_oldest, node_id, self._queries[key]))

    def tell(self, *, at_once: bool = False) -> None:
        """Say in the timeline what was left out, unless that was said a moment ago."""
        now = time.monotonic()
        with self._lock:
            due = {node_id: messages for node_id, messages in self._untold.items() if at_once or now >= self._quiet_until.get(node_id, 0.0)}
            for node_id in due:
                self._quiet_until[node_id] = now + NOTICE_SECONDS
                del self._untold[node_id]
        for node_id, messages in due.items():
            told = f"skipped {messages:,} messages: more waited than may"
            self._report(Noticed(told, node_id, "warning", {SKIPPED: messages}))

    def _work_dir(self, node_id: str) -> Path:
        return self._steps.context(node_id, "stream").work_dir

    def _asked(self, node_id: str, positions: list[Any]) -> Skip | None:
        return self._steps.source(node_id).skip(self._steps.context(node_id, "stream"), positions)

    def _skip_oldest(self, node_id: str, query: StreamQuery, batch_id: int) -> None:
        """The query stands still behind `batch_id`."""
        self._rest(query, batch_id)
        ends = self._ends(node_id, query, batch_id)
        skip = self._asked_quietly(node_id, list(ends.values()))
        if skip is not None:
            self._leave_out(node_id, query, batch_id, dict(zip(ends, skip.positions, strict=True)), skip.messages)

    def _halt(self, query: StreamQuery, batch_id: int) -> None:
        """Pause the query before `batch_id` reaches into messages that are left out."""
        if node_id := self._due.pop(query.key, ""):
            before = self._ends(node_id, query, batch_id - 1)
            if skip := self._asked_quietly(node_id, list(before.values())):
                self._ahead[query.key] = node_id, Skip(skip.begins[:1], skip.positions[:1], skip.messages)
        if query.key not in self._ahead:
            return
        with self._lock:
            node_id, skip = self._ahead[query.key]
            if not any(is_beyond(end, skip.begins[0]) for end in self._ends(node_id, query, batch_id).values()):
                return
            del self._ahead[query.key]
        query.request_pause(partial(self._skip_newest, node_id, query, skip))

    def _widen(self, key: str, ahead: tuple[str, Skip], fresh: Skip) -> None:
        """What came since finds no room either, unless it is being left out at this very moment."""
        with self._lock:
            if self._ahead.get(key) is ahead:
                self._ahead[key] = ahead[0], widened(ahead[1], fresh)

    def _skip_newest(self, node_id: str, query: StreamQuery, skip: Skip, batch_id: int) -> None:
        """The query stands still behind `batch_id`, the next one is planned."""
        (begin,), (further,) = skip.begins, skip.positions
        ends = self._ends(node_id, query, batch_id)
        if any(is_beyond(end, begin) for end in ends.values()):
            return  # it has read on meanwhile: what to leave out is asked anew
        if any(is_beyond(begin, end) for end in ends.values()):
            planned = self._ends(node_id, query, batch_id + 1)
            plan_end(query.folder, batch_id + 1, {name: placed_at(end, begin) for name, end in planned.items()})
            self._ahead[query.key] = node_id, skip
            return
        self._rest(query, batch_id)
        self._leave_out(node_id, query, batch_id, {name: placed_at(end, further) for name, end in ends.items()}, skip.messages)

    def _leave_out(self, node_id: str, query: StreamQuery, batch_id: int, ahead: Mapping[str, Any], messages: int) -> None:
        """What goes wrong from the first word written down on must end the attempt."""
        self._ledgers[node_id, query.key].skip(batch_id, ahead, messages)
        self._on_move(query.key, node_id, next(iter(ahead.values())))
        with self._lock:
            self._untold[node_id] += messages

    def _ends(self, node_id: str, query: StreamQuery, batch_id: int) -> dict[str, Any]:
        """Where a planned batch ends each time that it reads the source."""
        ends = named_offsets(query.folder, batch_id)
        return {name: ends[name] for name, owner in query.source_names.items() if owner == node_id and name in ends}

    def _asked_quietly(self, node_id: str, positions: list[Any]) -> Skip | None:
        try:
            return self._asked(node_id, positions)
        except Exception as error:
            logger.info("what %s should leave out cannot be told: %s", node_id, error)
            return None

    def _rest(self, query: StreamQuery, batch_id: int) -> None:
        self._rests_until[query.key] = time.monotonic() + REST_SECONDS
        self._stopped_behind[query.key] = batch_id

    def _has_gone_on(self, query: StreamQuery) -> bool:
        """Else it would, on a machine too busy to start it again in time, never come to read."""
        return query.committed() > self._stopped_behind.get(query.key, -2)
