"""The clock of a test: the times of its micro-batches, and the batches themselves where time passes between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from jobs.dag.document import DagDocument
from jobs.dag.pipeline_test_clock import clock_times
from jobs.dag.pipeline_tests import PipelineTest
from jobs.engine.given_rows import GivenTable


@dataclass(frozen=True)
class Timed:
    """`tables` with as many batches each as there are `times`, in milliseconds since 1970; none where the test has no clock."""

    tables: Mapping[str, GivenTable]
    times: tuple[int, ...] = ()


def timed(document: DagDocument, test: PipelineTest, tables: Mapping[str, GivenTable]) -> Timed:
    """The batches of a test with the time of each. Those behind its last time come at that; times behind the last batch make empty ones.

    What acts when time passes does so before the rows of a later time come, as it does in a job that runs: a batch of that time without
    rows comes first.
    """
    times = clock_times(test.clock, ZoneInfo(document.settings.time_zone or "UTC"))
    if document.type != "STREAMING" or not times:
        return Timed(tables, times[:1])
    count = max(len(times), *(len(table.batches) for table in tables.values()), 1)
    times += times[-1:] * (count - len(times))
    places = _places(times, _filled(tables, count))
    return Timed(
        {source: replace(table, batches=tuple(_batch(table, place) for place, _ in places)) for source, table in tables.items()},
        tuple(time for _, time in places),
    )


def _places(times: tuple[int, ...], filled: list[bool]) -> list[tuple[int | None, int]]:
    """Number of the test's batch, None for one in which only time passes → when it comes."""
    places: list[tuple[int | None, int]] = []
    for number, time in enumerate(times):
        if filled[number] and number and time > times[number - 1]:
            places.append((None, time))
        places.append((number, time))
    return places


def _filled(tables: Mapping[str, GivenTable], count: int) -> list[bool]:
    return [any(_batch(table, number) for table in tables.values()) for number in range(count)]


def _batch(table: GivenTable, number: int | None) -> tuple[tuple[object, ...], ...]:
    return table.batches[number] if number is not None and number < len(table.batches) else ()
