"""JSON whose numbers come out as they went in: a long decimal loses nothing on its way through Python."""

from __future__ import annotations

import json
import re
from typing import Any
from uuid import uuid4

#: Stands before a number that no float holds, while it is a text; new in every process, so that no text can look like it.
_MARK = f"number-{uuid4().hex}:"
_MARKED = re.compile(f'"{_MARK}([^"]*)"')
#: A float holds so many characters of a plain decimal for sure.
_HELD = 16


def exact_loads(text: str | bytes) -> Any:
    """Like json.loads; a number that no float may hold is a text for which `is_kept` is true."""
    return json.loads(text, parse_float=_number)


def exact_dumps(value: Any) -> str:
    """JSON text of what `exact_loads` gave in this process, every number as it was written there."""
    text = json.dumps(value, ensure_ascii=False)
    return _MARKED.sub(r"\1", text) if _MARK in text else text


def is_kept(text: str) -> bool:
    return text.startswith(_MARK)


def _number(text: str) -> float | str:
    return float(text) if len(text) <= _HELD and "e" not in text.lower() else _MARK + text
