"""Two lists of rows beside each other: what is missing, what nobody expected, and which columns differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

#: Rows of each kind that are shown; the counts tell of all.
MOST_SHOWN = 20
#: Rows of each side among which partners are looked for.
_MOST_PAIRED = 200

Shown = dict[str, Any]


@dataclass(frozen=True)
class ComparedRow:
    """`shown`: as it is told. `values`: a hashable value of each compared column, in the order of the columns."""

    shown: Shown
    values: tuple[Any, ...]


@dataclass(frozen=True)
class DifferingRow:
    """A row that came with other values in `columns` than were expected."""

    expected: Shown
    actual: Shown
    columns: list[str]


@dataclass(frozen=True)
class RowDifferences:
    """`missing_rows`, `unexpected_rows` and `differing_rows` count all; the lists hold at most MOST_SHOWN.

    `first_out_of_order`: number (from 1) of the first row that is not the expected one, where all the rows are there but in another
    order; 0 elsewhere.
    """

    expected_rows: int
    actual_rows: int
    missing_rows: int = 0
    unexpected_rows: int = 0
    differing_rows: int = 0
    first_out_of_order: int = 0
    missing: list[Shown] = field(default_factory=list)
    unexpected: list[Shown] = field(default_factory=list)
    differing: list[DifferingRow] = field(default_factory=list)

    @property
    def none(self) -> bool:
        return not (self.missing_rows or self.unexpected_rows or self.differing_rows or self.first_out_of_order)


def row_differences(
    expected: Sequence[ComparedRow], actual: Sequence[ComparedRow], columns: Sequence[str], *, ordered: bool = False
) -> RowDifferences:
    """Each row counts as often as it stands there. Their order matters only if `ordered`, and where the rows themselves are right."""
    missing, unexpected = _left_over(expected, actual), _left_over(actual, expected)
    pairs = _pairs(missing, unexpected, len(columns))
    lefts, rights = {left for left, _ in pairs}, {right for _, right in pairs}
    missing = [row for place, row in enumerate(missing) if place not in lefts]
    told = [_differing(one, other, columns) for one, other in pairs.values()]
    alone = [row for place, row in enumerate(unexpected) if place not in rights]
    out_of_order = 0
    if ordered and not (told or missing or alone):
        out_of_order = next(
            (place for place, (one, other) in enumerate(zip(expected, actual, strict=True), 1) if one.values != other.values), 0
        )
    return RowDifferences(
        expected_rows=len(expected),
        actual_rows=len(actual),
        missing_rows=len(missing),
        unexpected_rows=len(alone),
        differing_rows=len(told),
        first_out_of_order=out_of_order,
        missing=[row.shown for row in missing[:MOST_SHOWN]],
        unexpected=[row.shown for row in alone[:MOST_SHOWN]],
        differing=told[:MOST_SHOWN],
    )


def _left_over(rows: Sequence[ComparedRow], others: Sequence[ComparedRow]) -> list[ComparedRow]:
    """What of `rows` has no equal among `others`, each of which is the equal of one row only."""
    there = Counter(row.values for row in others)
    left = []
    for row in rows:
        if there[row.values]:
            there[row.values] -= 1
        else:
            left.append(row)
    return left


def _pairs(
    missing: Sequence[ComparedRow], unexpected: Sequence[ComparedRow], columns: int
) -> dict[tuple[int, int], tuple[ComparedRow, ComparedRow]]:
    """Rows that are one another but for some columns: those that agree most first, and in half of the columns at least."""
    agreeing = [
        (sum(one == other for one, other in zip(row.values, candidate.values, strict=True)), -left, -right)
        for left, row in enumerate(missing[:_MOST_PAIRED])
        for right, candidate in enumerate(unexpected[:_MOST_PAIRED])
    ]
    pairs: dict[tuple[int, int], tuple[ComparedRow, ComparedRow]] = {}
    taken: set[tuple[str, int]] = set()
    for agreed, left, right in sorted(agreeing, reverse=True):
        if agreed and 2 * agreed >= columns and ("left", -left) not in taken and ("right", -right) not in taken:
            taken |= {("left", -left), ("right", -right)}
            pairs[(-left, -right)] = (missing[-left], unexpected[-right])
    return pairs


def _differing(expected: ComparedRow, actual: ComparedRow, columns: Sequence[str]) -> DifferingRow:
    pairs = zip(columns, expected.values, actual.values, strict=True)
    return DifferingRow(expected.shown, actual.shown, [name for name, one, other in pairs if one != other])
