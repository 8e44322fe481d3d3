"""Python's own values as text, and back: of the same types, in the same order, nothing changed in silence."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter, deque
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta
from datetime import time as time_of_day
from decimal import Decimal
from typing import Any

from jobs.nodes.user_python.columns import shown

_MARK = "$"
#: Of a pair of surrogates: no text that is stored holds it as it is.
_HALF = re.compile(r"[\ud800-\udfff]")
_AS_THEY_ARE = (type(None), bool, int, float, str)
#: Types that are written as a text, and what makes them of it.
_WRITTEN: Mapping[str, tuple[type, Callable[[Any], Any], Callable[[Any], Any]]] = {
    "$datetime": (datetime, datetime.isoformat, datetime.fromisoformat),
    "$date": (date, date.isoformat, date.fromisoformat),
    "$time": (time_of_day, time_of_day.isoformat, time_of_day.fromisoformat),
    "$timedelta": (timedelta, lambda value: [value.days, value.seconds, value.microseconds], lambda parts: timedelta(*parts)),
    "$decimal": (Decimal, str, Decimal),
    "$bytes": (bytes, lambda value: base64.b64encode(value).decode(), base64.b64decode),
}
#: Types that hold others, as a list of what is in them.
_HOLDING: Mapping[str, tuple[type, Callable[[Any], Any]]] = {
    "$tuple": (tuple, tuple),
    "$set": (set, set),
    "$frozenset": (frozenset, frozenset),
    "$deque": (deque, deque),
}
#: Dicts whose keys are not all texts, and those of another kind, as a list of pairs.
_PAIRS: Mapping[str, tuple[type, Callable[[Any], Any]]] = {"$dict": (dict, dict), "$counter": (Counter, lambda pairs: Counter(dict(pairs)))}
_MARKS = {kind: mark for known in (_WRITTEN, _HOLDING, _PAIRS) for mark, (kind, *_) in known.items()}


def plain_text(value: Any) -> str:
    """JSON text. TypeError that names a part of `value` that is not Python's own, such as an object of a library."""
    text = json.dumps(_out(value), ensure_ascii=False, separators=(",", ":"))
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def plain_value(text: str) -> Any:
    """What `plain_text` was given."""
    return _in(json.loads(text))


def _out(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if kind is list:
        return [_out(one) for one in value]
    if kind is dict and all(type(key) is str and not key.startswith(_MARK) for key in value):
        return {key: _out(one) for key, one in value.items()}
    if kind is deque and value.maxlen is not None:
        raise TypeError(f"{shown(value)} is a deque of limited length, which is not kept: keep a list and cut it")
    if (mark := _MARKS.get(kind)) is None:
        raise TypeError(f"{shown(value)} is a {kind.__name__}, which is not kept: keep numbers, texts, times, lists, dicts and the like")
    if mark in _WRITTEN:
        return {mark: _WRITTEN[mark][1](value)}
    return {mark: [[_out(key), _out(one)] for key, one in value.items()] if mark in _PAIRS else [_out(one) for one in value]}


def _in(read: Any) -> Any:
    if isinstance(read, list):
        return [_in(one) for one in read]
    if not isinstance(read, dict):
        return read
    mark = next(iter(read), "")
    if not mark.startswith(_MARK):
        return {key: _in(one) for key, one in read.items()}
    if mark in _WRITTEN:
        return _WRITTEN[mark][2](read[mark])
    if mark in _PAIRS:
        return _PAIRS[mark][1]([(_in(key), _in(one)) for key, one in read[mark]])
    return _HOLDING[mark][1](_in(one) for one in read[mark])
