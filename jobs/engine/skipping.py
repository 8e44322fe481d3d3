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

from jobs.engine.events import Noticed, Report
from jobs.engine.grouping import query_folder
from jobs.engine.offset_log import named_offsets
from jobs.engine.query import StreamQuery
from jobs.engine.skip_ledger import SkipLedger, ledger_place, left_out
from jobs.engine.steps import Steps
from jobs.nodes.backpressure import Skip

logger = logging.getLogger(__name__)

#: A query that was stopped and started again, which takes about a second, reads on for so long at least.
REST_SECONDS = 10.0
#: How often the timeline says that messages are left out.
NOTICE_SECONDS = 60.0


class Skipping:
    """What is left out is written down before it is, and counted for each query that leaves it out.

    `on_move` hears query, node id and position whenever a query goes on further ahead.
    """

    def __init__(self, steps: Steps, report: Report, on_move: Callable[[str, str, Any], None]) -> None:
        self._steps, self._report, self._on_move = steps, report, on_move
        self._queries: dict[str, StreamQuery] = {}
        self._ledgers: dict[tuple[str, str], SkipLedger] = {}
        self._rests_until: dict[str, float] = {}
        self._lock = threading.Lock()
        self._untold: Counter[str] = Counter()
        self._quiet_until: dict[str, float] = {}

    def follow(self, query: StreamQuery) -> None:
        """Before `query` starts: carries out what an earlier attempt wrote down and did not come to do."""
        self._queries[query.key] = query
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
            if time.monotonic() >= self._rests_until.get(key, 0.0) and self._asked(node_id, [position]) is not None:
                self._queries[key].request_pause(partial(self._skip, node_id, self._queries[key]))

    def tell(self, *, at_once: bool = False) -> None:
        """Say in the timeline what was left out, unless that was said a moment ago."""
        now = time.monotonic()
        with self._lock:
            due = {node_id: messages for node_id, messages in self._untold.items() if at_once or now >= self._quiet_until.get(node_id, 0.0)}
            for node_id in due:
                self._quiet_until[node_id] = now + NOTICE_SECONDS
                del self._untold[node_id]
        for node_id, messages in due.items():
            self._report(Noticed(f"skipped {messages:,} messages: more waited than may", node_id, "warning"))

    def _work_dir(self, node_id: str) -> Path:
        return self._steps.context(node_id, "stream").work_dir

    def _asked(self, node_id: str, positions: list[Any]) -> Skip | None:
        return self._steps.source(node_id).skip(self._steps.context(node_id, "stream"), positions)

    def _skip(self, node_id: str, query: StreamQuery, batch_id: int) -> None:
        """The query stands still behind `batch_id`. What goes wrong from the first word written down on must end the attempt."""
        self._rests_until[query.key] = time.monotonic() + REST_SECONDS
        ends = named_offsets(query.folder, batch_id)
        names = [name for name, owner in query.source_names.items() if owner == node_id and name in ends]
        try:
            skip = self._asked(node_id, [ends[name] for name in names])
        except Exception as error:
            logger.info("what %s should leave out cannot be told: %s", node_id, error)
            return
        if skip is not None:
            self._ledgers[node_id, query.key].skip(batch_id, dict(zip(names, skip.positions, strict=True)), skip.messages)
            self._on_move(query.key, node_id, skip.positions[0])
            with self._lock:
                self._untold[node_id] += skip.messages
