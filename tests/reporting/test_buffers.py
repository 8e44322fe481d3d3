"""What waits at the sources of an execution."""

from jobs.engine.events import BufferStands
from jobs.reporting.buffers import Buffers


def buffers(**waiting: int) -> Buffers:
    found = Buffers({})
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
