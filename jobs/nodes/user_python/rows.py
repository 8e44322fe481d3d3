"""A person's function called for each row: what becomes of a row it gives back, and of one for which it raises."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from jobs.nodes.base import AS_IT_CAME, REJECTED
from jobs.nodes.user_python.code import FUNCTION
from jobs.nodes.user_python.columns import batch_of, fitting, misfit, shown
from jobs.nodes.user_python.loaded import RAISED, UserCode

#: Rows that go on to Spark at a time, whatever came in at a time.
_AT_ONCE = 10_000
_SHOWN_CHARACTERS = 2000
#: (the row that goes on, "") or (the row as it came, why it is rejected).
_Made = tuple[Mapping[str, Any], str]


@dataclass(frozen=True)
class RowByRow:
    """`schema` is that of the rows that go on; `came` adds to a reason the row as it came, where that is another one."""

    code: UserCode
    schema: pa.Schema
    came: bool

    def run(self, function: Callable[[Any], Any], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of `schema` with the column REJECTED."""
        names = frozenset(self.schema.names)
        waiting: list[_Made] = []
        for batch in batches:
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                waiting += self._made(function, row, names)
                if len(waiting) >= _AT_ONCE:
                    yield self._batch(waiting)
                    waiting = []
        if waiting:
            yield self._batch(waiting)

    def _made(self, function: Callable[[Any], Any], row: dict[str, Any], names: frozenset[str]) -> list[_Made]:
        came = dict(row)  # the function may change it
        try:
            made = _rows_of(function(row), row)
        except RAISED as error:
            return [(came, self._why(self.code.reason(error), came))]
        for one in made:
            if not one.keys() <= names:
                return [(came, self._why(_undeclared(one, names), came))]
        return [(one, "") for one in made]

    def _why(self, reason: str, came: Mapping[str, Any]) -> str:
        return f"{reason}{AS_IT_CAME}{json.dumps(came, default=str, ensure_ascii=False)[:_SHOWN_CHARACTERS]}" if self.came else reason

    def _batch(self, made: list[_Made]) -> pa.RecordBatch:
        good = batch_of([row for row, _ in made], self.schema) if not any(reason for _, reason in made) else None
        if good is None:
            made = [self._judged(row, reason) for row, reason in made]
            good = batch_of([row for row, _ in made], self.schema)
            assert good is not None
        reasons = pa.array([reason or None for _, reason in made], pa.string())
        return pa.RecordBatch.from_arrays([*good.columns, reasons], schema=self.schema.append(pa.field(REJECTED, pa.string())))

    def _judged(self, row: Mapping[str, Any], reason: str) -> _Made:
        """Of a rejected row what fits stays, so that it can be looked at."""
        reason = reason or self._misfit(row)
        return (fitting(row, self.schema), reason) if reason else (row, "")

    def _misfit(self, row: Mapping[str, Any]) -> str:
        found = misfit(row, self.schema)
        return found and self._why(found, row)


def _rows_of(made: Any, row: dict[str, Any]) -> list[dict[str, Any]]:
    if made is True:
        return [row]
    if made is None or made is False:
        return []
    if isinstance(made, dict):
        return [made]
    if isinstance(made, list | tuple | Iterator):
        rows = list(made)
        if all(isinstance(one, dict) for one in rows):
            return rows
        made = next(one for one in rows if not isinstance(one, dict))
        raise TypeError(f"{FUNCTION} gave {shown(made)} among its rows: a row is a dict")
    raise TypeError(f"{FUNCTION} returned {shown(made)}: return a dict, a list of dicts, True, False or None")


def _undeclared(row: Mapping[str, Any], names: frozenset[str]) -> str:
    extra = ", ".join(str(name) for name in row if name not in names)
    return f"the columns do not list {extra}: add it there, or leave it out of the row"
