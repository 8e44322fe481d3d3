"""Variables that are more than text, as they are given; else ImproperlyConfigured with the variable's name and what it must be.

A line of a `.env` file with nothing behind the `=` counts as not set.
"""

import json
import math
from collections.abc import Callable
from typing import Any

from django.core.exceptions import ImproperlyConfigured

from pipeline_web.variables import VARIABLES

_ON, _OFF = ("true", "on", "ok", "yes", "y", "1"), ("false", "off", "no", "n", "0")


def whole(name: str, default: int, *, least: int = 0, most: int | None = None, zero: str = "") -> int:
    """A whole number from `least` to `most`; `zero` says what 0 means, where that is no number of what is counted."""
    return int(_number(name, default, int, "a whole number", (least, most, zero)))


def decimal(name: str, default: float, *, least: float = 0, most: float | None = None, zero: str = "") -> float:
    """The same with a fraction."""
    return _number(name, default, float, "a number", (least, most, zero))


def switch(name: str, default: bool) -> bool:
    given = _given(name).lower()
    if given and given not in _ON + _OFF:
        raise ImproperlyConfigured(f"{name} is {given}; it must be true or false")
    return given in _ON if given else default


def choice(name: str, default: str, among: tuple[str, ...]) -> str:
    """One of `among`, in capital or small letters."""
    given = _given(name) or default
    for word in among:
        if word.lower() == given.lower():
            return word
    raise ImproperlyConfigured(f"{name} is {given}; it must be {', '.join(among[:-1])} or {among[-1]}")


def objects(name: str) -> dict[str, dict[str, Any]]:
    """JSON objects by name. What was given is not repeated, for it may hold secrets."""
    try:
        found = json.loads(_given(name) or "{}")
    except ValueError:
        found = None
    if not isinstance(found, dict) or not all(isinstance(value, dict) for value in found.values()):
        raise ImproperlyConfigured(f'{name} must be JSON objects by name, such as {{"hdfs": {{"user": "pipeline"}}}}')
    return found


def _given(name: str) -> str:
    return VARIABLES.get(name, "").strip()


def _number(name: str, default: float, kind: Callable[[str], float], called: str, limits: tuple[float, float | None, str]) -> float:
    given, (least, most, zero) = _given(name), limits
    try:
        value = kind(given) if given else default
    except ValueError:
        value = math.nan
    # What is no number is neither less nor more.
    if not least <= value <= (math.inf if most is None else most) or math.isinf(value):
        first = f"{least} ({zero})" if zero else f"{least}"
        bounds = f", {first} or more" if most is None else f" from {first} to {most}"
        raise ImproperlyConfigured(f"{name} is {given}; it must be {called}{bounds}")
    return value
