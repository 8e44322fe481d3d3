"""Rows that a person's function made: those that go on, and why others do not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from jobs.nodes.base import AS_IT_CAME, REJECTED
from jobs.nodes.user_python.columns import batch_of, fitting, misfit, shown, storable

_SHOWN_CHARACTERS = 2000
_JSON_KEYS = (str, int, float, bool, type(None))
#: (the row that goes on, "") or (the row as it came, why it is rejected).
Made = tuple[Mapping[str, Any], str]


@dataclass(frozen=True)
class Rejecting:
    """`schema` is that of the rows that go on; `came` adds to a reason the row as it came, where that is another one."""

    schema: pa.Schema
    came: bool

    def why(self, reason: str, came: Mapping[str, Any]) -> str:
        return f"{reason}{AS_IT_CAME}{_json_text(came)[:_SHOWN_CHARACTERS]}" if self.came else reason

    def batch(self, made: list[Made], came: Sequence[Mapping[str, Any]] = ()) -> pa.RecordBatch:
        """A batch of `schema` with the column REJECTED. `came`: of what each was made, which is shown of a misfit."""
        made, fitted = self._judged(made, came or [row for row, _ in made])
        reasons = pa.array([reason or None for _, reason in made], pa.string())
        return pa.RecordBatch.from_arrays([*fitted.columns, reasons], schema=self.schema.append(pa.field(REJECTED, pa.string())))

    def judged(self, made: list[Made]) -> list[Made]:
        """Every row fits `schema`: of one that does not, what fits is left, with the reason."""
        return self._judged(made, [row for row, _ in made])[0]

    def _judged(self, made: list[Made], came: Sequence[Mapping[str, Any]]) -> tuple[list[Made], pa.RecordBatch]:
        if not any(reason for _, reason in made) and (good := batch_of([row for row, _ in made], self.schema)) is not None:
            return made, good
        made = [self._looked_at(row, reason, shown) for (row, reason), shown in zip(made, came, strict=True)]
        fitted = batch_of([row for row, _ in made], self.schema)
        assert fitted is not None
        return made, fitted

    def _looked_at(self, row: Mapping[str, Any], reason: str, came: Mapping[str, Any]) -> Made:
        """Of a rejected row what fits stays, so that it can be looked at."""
        if not reason and (found := misfit(row, self.schema)):
            row, reason = came, self.why(found, came)
        return (fitting(row, self.schema), storable(reason)) if reason else (row, "")


def _json_text(row: Mapping[str, Any]) -> str:
    """Whatever is in `row`, which a person's code may have made."""
    try:
        return json.dumps(_with_json_keys(row), default=str, ensure_ascii=False)
    except Exception:  # it holds itself, or an object of the person's own whose text raises
        return shown(row)


def _with_json_keys(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key if isinstance(key, _JSON_KEYS) else str(key): _with_json_keys(one) for key, one in value.items()}
    return [_with_json_keys(one) for one in value] if isinstance(value, list | tuple) else value


def undeclared(row: Iterable[Any], names: frozenset[str]) -> str:
    extra = ", ".join(str(name) for name in row if name not in names)
    return f"the columns do not list {extra}: add it there, or leave it out of the row"
