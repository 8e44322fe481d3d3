"""The result of a test as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from jobs.engine.pipeline_test import OutletResult, PipelineTestResult

_LONGEST = 500


def result_lines(result: PipelineTestResult) -> Iterator[str]:
    """One line that says how it went; below it what differs, or what stands in the way, and what Python printed."""
    yield f"{result.status:<6} {result.name} ({result.seconds:.1f} s)" + (f": {result.message}" if result.message else "")
    for problem in result.problems:
        yield f"  {problem.code} {problem.pointer}: {problem.message}"
    for outlet in result.outlets:
        if not outlet.differences.none:
            yield from _outlet_lines(outlet)
    for printed in result.printed:
        yield from (f"  printed at {printed['node_id']}: {line}" for line in printed["text"].splitlines())


def _outlet_lines(outlet: OutletResult) -> Iterator[str]:
    found = outlet.differences
    rows = "row" if found.expected_rows == 1 else "rows"
    yield f"  {outlet.outlet}: {found.expected_rows} {rows} expected, {found.actual_rows} came"
    yield from _rows("missing", found.missing_rows, [_text(row) for row in found.missing])
    yield from _rows("unexpected", found.unexpected_rows, [_text(row) for row in found.unexpected])
    differing = [
        ", ".join(f"{name}: {_text(row.actual[name])} instead of {_text(row.expected[name])}" for name in row.columns)
        + f" in {_text({name: value for name, value in row.expected.items() if name not in row.columns})}"
        for row in found.differing
    ]
    yield from _rows("different", found.differing_rows, differing)
    if found.first_out_of_order:
        yield f"    the rows are right, but in another order: row {found.first_out_of_order} is not the expected one"


def _rows(what: str, count: int, lines: list[str]) -> Iterator[str]:
    yield from (f"    {what}: {line}" for line in lines)
    if count > len(lines):
        yield f"    … and {count - len(lines)} more {what}"


def _text(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
