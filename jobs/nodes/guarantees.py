"""What becomes of a row when something fails between reading and writing it: the words, and how several go together."""

from collections.abc import Iterable
from typing import Literal

Guarantee = Literal["exactly once", "at least once", "at most once", "no guarantee"]

_LOSES = ("at most once", "no guarantee")
_REPEATS = ("at least once", "no guarantee")


def together(guarantees: Iterable[str]) -> Guarantee:
    """Of a row that passes all of them: it may be lost where one may lose it, and come again where one may repeat it."""
    given = set(guarantees)
    may_lose, may_repeat = not given.isdisjoint(_LOSES), not given.isdisjoint(_REPEATS)
    if may_lose:
        return "no guarantee" if may_repeat else "at most once"
    return "at least once" if may_repeat else "exactly once"
