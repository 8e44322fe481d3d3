"""Rows put into an HBase table as plain Python: what `sink.hbase` is in a script."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import happybase
import pyarrow as pa

from jobs.nodes.sinks.hbase_values import encoder

#: What becomes of a row's cells: bytes, or None to delete one, or a family where it names no qualifier; by time and row key.
_Changes = dict[tuple[int, bytes], dict[bytes, bytes | None]]


@dataclass(frozen=True)
class HbasePutting:
    """Rows with key, reason, at, deleted, superseded, and c0, c1 … of these `types`, which become `cells`; a task at a time.

    `families`: those of the table where it is to be made. `now`: the time of a batch's cells, in milliseconds; a batch that is written
    again gets another, and its cells a newer version.
    """

    host: str
    port: int
    transport: str
    protocol: str
    timeout_seconds: float
    table: bytes
    key_type: pa.DataType
    cells: tuple[bytes, ...]
    types: tuple[pa.DataType, ...]
    batch_size: int
    families: tuple[str, ...] = ()
    deletes_empty: bool = False
    stops_at_rejected: bool = False
    now: int = field(default_factory=lambda: time.time_ns() // 1_000_000, init=False)

    def put(self, rows: Iterable[Any]) -> None:
        """A row without a key or time is left out; what HBase refuses ends the script."""
        good = self._good(rows)
        while some := list(islice(good, self.batch_size)):
            self._send(some)

    def _connection(self) -> Any:
        wait = round(self.timeout_seconds * 1000)
        return happybase.Connection(self.host, self.port, timeout=wait, transport=self.transport, protocol=self.protocol)

    def _good(self, rows: Iterable[Any]) -> Iterator[Any]:
        for row in rows:
            if row.reason is not None and self.stops_at_rejected:
                raise RuntimeError(row.reason)
            if row.reason is None and not row.superseded:
                yield row

    def _send(self, rows: Sequence[Any]) -> None:
        with closing(self._connection()) as connection:
            self._make_table(connection)
            table = connection.table(self.table)
            batches: dict[int, Any] = {}
            for (at, key), cells in self._changes(rows, [name.rstrip(b":") for name in table.families()]).items():
                batch = batches.setdefault(at, table.batch(timestamp=at))
                batch.put(key, {cell: value for cell, value in cells.items() if value is not None})
                if gone := [cell for cell, value in cells.items() if value is None]:
                    batch.delete(key, gone)
            for batch in batches.values():
                batch.send()

    def _make_table(self, connection: Any) -> None:
        if not self.families or self.table in connection.tables():
            return
        usual = {"max_versions": 1, "bloom_filter_type": "ROW", "block_cache_enabled": True}
        try:
            connection.create_table(self.table, dict.fromkeys(self.families, usual))
        except Exception:  # another task may have made it meanwhile
            if self.table not in connection.tables():
                raise

    def _changes(self, rows: Sequence[Any], families: Sequence[bytes]) -> _Changes:
        """A batch's deletions stand one millisecond before its values, so that they hide what was there and none of those."""
        key_bytes, encoders = encoder(self.key_type), [encoder(kind) for kind in self.types]
        found: _Changes = {}
        for row in rows:
            at = row.at if row.at is not None else self.now - 1 if row.deleted else self.now
            changed = found.setdefault((at, key_bytes(row.key)), {})
            if row.deleted:
                changed |= dict.fromkeys(families)
                continue
            for number, (cell, encode) in enumerate(zip(self.cells, encoders, strict=True)):
                if (value := row[f"c{number}"]) is not None or self.deletes_empty:
                    changed[cell] = None if value is None else encode(value)
        return found
