"""What one task of Spark does with its rows: puts them into HBase, many in a request, and tells how many it took."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.hbase_client import HbaseLine, RowsRefused
from jobs.nodes.patience import Patience
from jobs.nodes.rejected_rows import RejectedRows
from jobs.nodes.sinks.hbase_config import HbaseSinkConfig
from jobs.nodes.sinks.hbase_values import encoder
from jobs.nodes.sinks.task_tally import SAMPLE_ROWS, TaskTally, task_tally
from jobs.nodes.worker_errors import carried_out

#: A framed Thrift server takes two megabytes in a request, as it comes.
_REQUEST_BYTES = 1_000_000


@dataclass(frozen=True)
class HbaseSender:
    """Goes to the tasks by value. `cells`: what c0, c1 … become; `families`: all of the table; `time`: of this batch, milliseconds."""

    config: HbaseSinkConfig
    connection: ConnectionSettings
    node_id: str
    act: str
    cells: tuple[bytes, ...]
    families: tuple[bytes, ...]
    time: int
    stops_at_rejected: bool
    rejections: RejectedRows | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """`batches` have the columns of `rows_made`; what comes out has those of RESULT."""
        with carried_out(self.node_id), task_tally(SAMPLE_ROWS, self.rejections) as tally, HbaseLine(self.connection, self.act) as line:
            sending = _Sending(self, line, tally)
            for row in self._rows(batches, tally):
                sending.add(row)
                if sending.is_stopped():
                    break
            else:
                sending.flush()
        yield tally.as_batch()

    def _rows(self, batches: Iterable[pa.RecordBatch], tally: TaskTally) -> Iterator[_Row]:
        """Those to write; the others are counted."""
        for batch in batches:
            columns = {name: batch.column(name) for name in batch.schema.names}
            key_bytes = encoder(columns["key"].type)
            encoders = [encoder(columns[f"c{n}"].type) for n in range(len(self.cells))]
            state = zip(*(columns[name].to_pylist() for name in ("key", "reason", "row", "at", "deleted", "superseded")), strict=True)
            values = zip(*(columns[f"c{n}"].to_pylist() for n in range(len(self.cells))), strict=True)
            for (key, reason, shown, at, deleted, superseded), cells in zip(state, values, strict=True):
                if reason is not None:
                    tally.add([shown], reason)
                    if self.stops_at_rejected:
                        return
                elif superseded:
                    tally.sent += 1
                else:
                    row = self._row(key_bytes(key), at, deleted, zip(self.cells, encoders, cells, strict=True))
                    row.kept += [shown] if shown is not None else []
                    yield row

    def _row(self, key: bytes, at: int | None, deleted: bool, cells: Iterable[tuple[bytes, Any, Any]]) -> _Row:
        """A batch's deletions stand one millisecond before its values, so that they hide what was there and none of those."""
        if deleted:
            return _Row(self.time - 1 if at is None else at, key, dict.fromkeys(self.families))
        nulls = self.config.empty_cells == "delete"
        values = {cell: None if value is None else encode(value) for cell, encode, value in cells if value is not None or nulls}
        return _Row(self.time if at is None else at, key, values)


@dataclass
class _Row:
    """What becomes of a row's cells at `time`: bytes, or None to delete one, or all of a family where it names no qualifier.

    `rows` of the batch are in it; `kept` has their texts, where rejected rows go on.
    """

    time: int
    key: bytes
    cells: dict[bytes, bytes | None]
    rows: int = 1
    kept: list[str] = field(default_factory=list)

    def size(self) -> int:
        return sum(len(self.key) + len(cell) + len(value or b"") for cell, value in self.cells.items())


@dataclass
class _Sending:
    """Rows that wait for a request; those with one key and time become one, whose later cells count."""

    sender: HbaseSender
    line: HbaseLine
    tally: TaskTally
    waiting: dict[tuple[int, bytes], _Row] = field(default_factory=dict)
    size: int = 0
    patience: Patience = field(default_factory=Patience)

    def is_stopped(self) -> bool:
        return self.sender.stops_at_rejected and self.tally.rejected > 0

    def add(self, row: _Row) -> None:
        self.size += row.size()
        there = self.waiting.setdefault((row.time, row.key), row)
        if there is not row:
            there.cells |= row.cells
            there.rows += 1
            there.kept += row.kept
        if len(self.waiting) >= self.sender.config.batch_size or self.size >= _REQUEST_BYTES:
            self.flush()

    def flush(self) -> None:
        by_time: dict[int, list[_Row]] = {}
        for row in self.waiting.values():
            by_time.setdefault(row.time, []).append(row)
        self.waiting, self.size = {}, 0
        for rows in by_time.values():
            self._send(rows)

    def _send(self, rows: Sequence[_Row]) -> None:
        """Where HBase refuses them together, down to those that are to blame."""
        if self.is_stopped():
            return
        reason = self._refusal(rows)
        if not reason:
            self.tally.sent += sum(row.rows for row in rows)
        elif len(rows) > 1:
            half = len(rows) // 2
            self._send(rows[:half])
            self._send(rows[half:])
        else:
            shown = json.dumps({"row key": rows[0].key.decode("utf-8", "replace")}, ensure_ascii=False)
            self.tally.add(rows[0].kept or [shown] * rows[0].rows, f"HBase refuses it: {reason}")

    def _refusal(self, rows: Sequence[_Row]) -> str:
        """Why HBase cannot store these rows, "" when it has them. It is asked again for as long as it may come back.

        A request that was not answered may have been carried out: the same cells again, with the same time, change nothing.
        """
        from happybase.batch import BatchMutation, Mutation

        changes = [
            BatchMutation(row.key, [Mutation(isDelete=value is None, column=cell, value=value) for cell, value in row.cells.items()])
            for row in rows
            if row.cells
        ]
        while changes:
            try:
                self.line.call("mutateRowsTs", self.sender.config.table_name, changes, rows[0].time, {})
            except RowsRefused as refused:
                return str(refused)
            except NodeError as error:
                if error.permanent or self.patience.is_over():
                    raise
                self.patience.pause()
            else:
                self.patience.succeeded()
                break
        return ""
