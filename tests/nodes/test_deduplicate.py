"""What Deduplicate goes by where there is no clock."""

from jobs.nodes.flows.deduplicate import Deduplicate, DeduplicateConfig


def test_without_a_clock_nothing_is_forgotten_by_a_time_column_that_is_hidden() -> None:
    by_clock = DeduplicateConfig(keys=("id",), time="processing", time_column="left_over")
    assert not Deduplicate().without_clock(by_clock).forgets
    by_event = DeduplicateConfig(keys=("id",), time_column="at")
    assert Deduplicate().without_clock(by_event) == by_event
