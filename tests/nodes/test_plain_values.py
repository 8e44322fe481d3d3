"""Python's own values come back as they were kept."""

import re
from collections import Counter, defaultdict, deque
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.nodes.user_python.plain_values import plain_text, plain_value

HASHED = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary()
    | st.dates() | st.datetimes(timezones=st.sampled_from([None, UTC, timezone(timedelta(hours=8))])) | st.times() | st.timedeltas()
    | st.decimals(allow_nan=False)
)  # fmt: skip
VALUES = st.recursive(
    HASHED | st.frozensets(HASHED) | st.sets(HASHED),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(HASHED, inner)
        | st.dictionaries(st.text() | st.just("$set"), inner)
        | st.lists(inner).map(deque)
        | st.dictionaries(HASHED, st.integers()).map(Counter)
    ),
    max_leaves=20,
)


def typed(value: Any) -> Any:
    """With the types of all that is in it: True is no 1 here."""
    if isinstance(value, dict):
        return type(value), [(typed(key), typed(one)) for key, one in value.items()]
    if isinstance(value, set | frozenset):
        return type(value), value
    if isinstance(value, list | tuple | deque):
        return type(value), [typed(one) for one in value]
    return type(value), value


@given(VALUES)
def test_what_is_kept_comes_back_as_it_was(value: Any) -> None:
    assert typed(plain_value(plain_text(value))) == typed(value)


def test_plain_values_are_plain_json() -> None:
    assert plain_text({"rows": 3, "names": ["a", None, True, 1.5]}) == '{"rows":3,"names":["a",null,true,1.5]}'


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": [re.compile("x")]}, "re.compile('x') is a Pattern, which is not kept"),
        (defaultdict(int, a=1), "is a defaultdict, which is not kept"),
        (deque([1], maxlen=3), "is a deque of limited length, which is not kept"),
        (print, "which is not kept"),
    ],
)
def test_what_is_not_pythons_own_is_told(value: Any, told: str) -> None:
    with pytest.raises(TypeError, match=re.escape(told)):
        plain_text(value)


def test_each_kind_of_time_is_its_own() -> None:
    value = [date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5, 6), time(7, 8), timedelta(days=-1, microseconds=1), Decimal("1.10")]
    assert typed(plain_value(plain_text(value))) == typed(value)
