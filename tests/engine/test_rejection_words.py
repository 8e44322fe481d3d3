"""What a rejected row says about itself: which of its values are to blame."""

import pytest

from jobs.engine.counts import rejection_told
from jobs.nodes.base import AS_IT_CAME, LINE_MISFIT


@pytest.mark.parametrize(
    ("why", "came", "row", "told"),
    [
        (LINE_MISFIT, "two,20", '{"id": null, "amount": 20.0}', f"{LINE_MISFIT}: id"),
        (LINE_MISFIT, 'x;"1;5"', '{"id": null, "note": "1;5"}', f"{LINE_MISFIT}: id"),
        (LINE_MISFIT, "4", '{"id": 4, "amount": null}', f"{LINE_MISFIT}: 1 value for 2 columns"),
        (LINE_MISFIT, "4,5,6", '{"id": 4, "amount": 5.0}', f"{LINE_MISFIT}: 3 values for 2 columns"),
        (LINE_MISFIT, "4,", '{"id": 4, "amount": null}', LINE_MISFIT),
        (LINE_MISFIT, "4,5", '{"id": 4, "amou', LINE_MISFIT),
        ("the row does not fit", '{"id": "x", "a": null}', '{"id": null, "a": null}', "the row does not fit: id"),
        ("the row does not fit", "no, object", '{"id": null, "a": null}', "the row does not fit"),
        (
            "the row does not fit: id should be bigint, not 1.5",
            '{"id": 1.5}',
            '{"id": null}',
            "the row does not fit: id should be bigint, not 1.5",
        ),
        ("the row does not fit", "[1]", '{"id": null, "a": null}', "the row does not fit"),
    ],
)
def test_the_values_to_blame_are_named(why: str, came: str, row: str, told: str):
    assert rejection_told(f"{why}{AS_IT_CAME}{came}", row) == (told, came)


def test_a_reason_without_the_row_leaves_the_row_as_it_is():
    assert rejection_told("too large", '{"id": 1}') == ("too large", '{"id": 1}')
