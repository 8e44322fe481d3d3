"""A person's function called for each row for what it does: the rows go on as they came, with the reason of those for which it raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from jobs.nodes.base import REJECTED
from jobs.nodes.user_python.columns import storable
from jobs.nodes.user_python.loaded import RAISED, Code


@dataclass(frozen=True)
class Calls:
    """`names`: what the function calls the columns. Where the job ends with a row that is refused, none goes on behind it."""

    code: Code
    names: tuple[str, ...]
    rows_per_call: int
    stops_at_rejected: bool

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The same rows with the column REJECTED."""
        function = self.code.load()
        for batch in batches:
            reasons = self._reasons(function, batch)
            yield with_reasons(batch.slice(0, len(reasons)).columns, batch.schema.names, reasons)
            if self.stops_at_rejected and any(reasons):
                return

    def _reasons(self, function: Callable[[Any], Any], batch: pa.RecordBatch) -> list[str | None]:
        rows = iter(pa.RecordBatch.from_arrays(batch.columns, names=list(self.names)).to_pylist(maps_as_pydicts="lossy"))
        reasons: list[str | None] = []
        while group := list(islice(rows, self.rows_per_call)):
            reason = self._called(function, group)
            reasons += [reason] * len(group)
            if reason and self.stops_at_rejected:
                break
        return reasons

    def _called(self, function: Callable[[Any], Any], rows: list[dict[str, Any]]) -> str | None:
        try:
            function(rows[0] if self.rows_per_call == 1 else rows)
        except RAISED as error:
            return self.code.reason(error)
        return None


def with_reasons(columns: list[Any], names: list[str], reasons: list[str | None]) -> pa.RecordBatch:
    """The rows as they came, with the column REJECTED."""
    told = pa.array([reason and storable(reason) for reason in reasons], pa.string())
    return pa.RecordBatch.from_arrays([*columns, told], names=[*names, REJECTED])
