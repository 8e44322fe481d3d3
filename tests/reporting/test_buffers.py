"""What waits at the sources of an execution."""

from typing import Any

import pytest

from jobs.engine.events import BufferStands
from jobs.reporting.buffers import Buffers


def buffers(**waiting: int) -> Buffers:
    found = Buffers({}, {})
    for node_id, messages in waiting.items():
        found.note(BufferStands(node_id, messages, 0, "HOLDING"))
    return found


def test_what_waits_in_a_full_buffer_is_the_backlog_of_its_source() -> None:
    assert buffers(plant=1000).backlog([{"plant": 0}]) == 1000


def test_sources_with_a_buffer_and_without_wait_together() -> None:
    assert buffers(plant=7).backlog([{"plant": 0, "orders": 20}, {"clicks": 3}]) == 30


def test_a_buffer_is_told_before_the_first_batch() -> None:
    assert buffers(plant=7).backlog([]) == 7


def test_nothing_is_said_where_no_source_can_tell() -> None:
    assert buffers().backlog([{}]) is None


def dropped(columns: dict[str, Any], **dropped: int) -> dict[str, Any]:
    """Columns of the execution after an attempt that began with `columns` heard of so many."""
    found = Buffers(columns.get("dropped_before", {}), columns.get("dropped_counted") or {})
    for node_id, messages in dropped.items():
        found.note(BufferStands(node_id, 0, messages, "DROPPING"))
    return found.columns()


def test_what_was_dropped_before_an_execution_is_not_its_own() -> None:
    columns = dropped({}, plant=500)
    assert columns["dropped_records"] == 0
    assert dropped(columns, plant=620)["dropped_records"] == 120


@pytest.mark.parametrize("before", [0, 500])
def test_a_counter_that_begins_anew_takes_nothing_away(before: int) -> None:
    """As in a new generation, or where another host goes on."""
    columns = dropped(dropped({}, plant=before, orders=0), plant=before + 120, orders=7)
    assert columns["dropped_records"] == 127
    renewed = dropped(columns, plant=0)
    assert renewed["dropped_records"] == 127
    assert dropped(renewed, plant=30, orders=10)["dropped_records"] == 120 + 30 + 10


def test_a_counter_that_begins_anew_never_makes_a_total_negative() -> None:
    """Rows of earlier releases know only what was dropped before."""
    assert dropped({"dropped_before": {"plant": 500}, "dropped_counted": None}, plant=0)["dropped_records"] == 0
