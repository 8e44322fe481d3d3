"""A person's function called for each row: what becomes of a row it gives back, and of one for which it raises."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from jobs.nodes.user_python.code import FUNCTION
from jobs.nodes.user_python.columns import dicts_taken, shown
from jobs.nodes.user_python.loaded import RAISED, Code
from jobs.nodes.user_python.rejecting import Made, Rejecting, undeclared

#: Rows that go on to Spark at a time, whatever came in at a time.
_AT_ONCE = 10_000


@dataclass(frozen=True)
class RowByRow:
    """`names`: of the columns that come, which Spark numbers."""

    code: Code
    rejecting: Rejecting
    names: tuple[str, ...]

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Batches of `schema` with the column REJECTED."""
        function, known = self.code.load(), frozenset(self.rejecting.schema.names)
        waiting: list[Made] = []
        given: list[Mapping[str, Any]] = []
        for batch in batches:
            for row in batch.rename_columns(list(self.names)).to_pylist(maps_as_pydicts="lossy"):
                came = dict(row)  # the function may change it
                made = self._made(function, row, came, known)
                waiting += made
                given += [came] * len(made)
                if len(waiting) >= _AT_ONCE:
                    yield self.rejecting.batch(waiting, given)
                    waiting, given = [], []
        if waiting:
            yield self.rejecting.batch(waiting, given)

    def _made(self, function: Callable[[Any], Any], row: dict[str, Any], came: dict[str, Any], known: frozenset[str]) -> list[Made]:
        try:
            made = _rows_of(function(row), row)
        except RAISED as error:
            return [(came, self.rejecting.why(self.code.reason(error), came))]
        for one in made:
            if not one.keys() <= known:
                return [(came, self.rejecting.why(undeclared(one, known), came))]
        return [(one, "") for one in made]


def _rows_of(made: Any, row: dict[str, Any]) -> list[dict[str, Any]]:
    if made is True:
        return [row]
    if made is None or made is False:
        return []
    if isinstance(made, dict):
        return [made if made is row else dict(made)]
    if isinstance(made, list | tuple | Iterator):
        rows = dicts_taken(made)
        if all(isinstance(one, dict) for one in rows):
            return rows
        made = next(one for one in rows if not isinstance(one, dict))
        raise TypeError(f"{FUNCTION} gave {shown(made)} among its rows: a row is a dict")
    raise TypeError(f"{FUNCTION} returned {shown(made)}: return a dict, a list of dicts, True, False or None")
