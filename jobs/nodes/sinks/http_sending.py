"""What one task of Spark does with its rows: sends them and tells how many the server took."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice

import pyarrow as pa

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.http_client import HttpApi
from jobs.nodes.sinks.http_api import HttpApiSinkConfig
from jobs.nodes.sinks.http_requests import Requests, Row, Unfit
from jobs.nodes.worker_errors import carried_out

#: One row with the counts, then rejected rows with their reason.
RESULT = "sent long, rejected long, reason string, row string"
_ROW_CHARACTERS = 10_000


@dataclass(frozen=True)
class Outcome:
    """What became of the rows of one request; `reason` when they were rejected."""

    rows: Sequence[Row]
    reason: str = ""


@dataclass
class Tally:
    """Counts of a task. Of what was rejected it keeps `samples` rows."""

    samples: int
    sent: int = 0
    rejected: int = 0
    kept: list[tuple[str, str]] = field(default_factory=list)

    def add(self, outcome: Outcome) -> None:
        if not outcome.reason:
            self.sent += len(outcome.rows)
            return
        self.rejected += len(outcome.rows)
        room = self.samples - len(self.kept)
        self.kept += [(outcome.reason, row.text[:_ROW_CHARACTERS]) for row in outcome.rows[:room]]

    def as_batch(self) -> pa.RecordBatch:
        rows = [(self.sent, self.rejected, None, None), *((0, 0, reason, row) for reason, row in self.kept)]
        types = (pa.int64(), pa.int64(), pa.string(), pa.string())
        columns = [pa.array(values, kind) for values, kind in zip(zip(*rows, strict=True), types, strict=True)]
        return pa.RecordBatch.from_arrays(columns, names=["sent", "rejected", "reason", "row"])


@dataclass(frozen=True)
class Sending:
    """Goes to the tasks by value. `at_once`: requests of this task under way together; one keeps the order of its rows."""

    config: HttpApiSinkConfig
    connection: ConnectionSettings
    limits: Limits
    identity: str
    batch: str
    node_id: str
    at_once: int
    samples: int
    stops_at_rejected: bool

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """`batches` have the columns `row` and `columns_used`; what comes out has those of RESULT."""
        tally = Tally(self.samples)
        with carried_out(self.node_id), self._api() as api:
            for outcome in self._outcomes(api, _grouped(self._rows(batches), self.config.rows_per_request)):
                tally.add(outcome)
                if tally.rejected and self.stops_at_rejected:
                    break
        yield tally.as_batch()

    def _api(self) -> HttpApi:
        return HttpApi(
            self.connection,
            self.limits,
            attempts=self.config.attempts,
            timeout_seconds=self.config.timeout_seconds,
            requests_per_second=self.config.requests_per_second,
            most_connections=self.at_once,
        )

    def _rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
        """Numbered by their place in the task: the same whenever the batch is made of the same rows in the same order."""
        from pyspark import TaskContext

        task = TaskContext.get()
        partition = task.partitionId() if task is not None else 0
        names = tuple(self.config.columns_used())
        number = 0
        for batch in batches:
            for text, used in zip(batch["row"], batch["columns_used"], strict=True):
                values = (value[len('{"v":') : -1] for value in used.as_py())
                yield Row(text.as_py(), dict(zip(names, values, strict=True)), f"{partition}-{number}")
                number += 1

    def _outcomes(self, api: HttpApi, groups: Iterator[list[Row]]) -> Iterator[Outcome]:
        requests = Requests(self.config, identity=self.identity, batch=self.batch)
        accepted = frozenset(int(status) for status in self.config.accepted_statuses.split(",") if status)

        def sent(rows: list[Row]) -> Outcome:
            try:
                request = requests.of(rows)
            except Unfit as unfit:
                return Outcome(rows, str(unfit))
            refused = api.send(request, accepted=accepted)
            return Outcome(rows, f"the server answered {refused.words}" if refused else "")

        return map(sent, groups) if self.at_once == 1 else _at_once(sent, groups, self.at_once)


def _grouped(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    while group := list(islice(rows, size)):
        yield group


def _at_once(act: Callable[[list[Row]], Outcome], groups: Iterator[list[Row]], most: int) -> Iterator[Outcome]:
    """Outcomes in the order of `groups`, `most` under way and as many waiting, so that a slow one does not hold up the rest."""
    coming: deque[Future[Outcome]] = deque()
    with ThreadPoolExecutor(most) as pool:
        try:
            for group in groups:
                coming.append(pool.submit(act, group))
                if len(coming) >= 2 * most:
                    yield coming.popleft().result()
            while coming:
                yield coming.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
