"""What is told of a rejected row."""

from jobs.engine.counts import rejection_told
from jobs.nodes.base import AS_IT_CAME


def test_a_row_that_the_reason_holds_is_shown_as_it_came():
    why = "the line does not fit the columns: 1 value for 2 columns"
    assert rejection_told(f"{why}{AS_IT_CAME}4", '{"id": 4, "amount": null}') == (why, "4")


def test_a_reason_without_the_row_leaves_the_row_as_it_is():
    assert rejection_told("too large", '{"id": 1}') == ("too large", '{"id": 1}')
