"""For how long the rates of a sample hold: one is kept where something changed, and seldom while nothing does."""

from collections.abc import Iterator, Sequence
from datetime import datetime

#: An execution where nothing changes still leaves a sample this often.
IDLE_SECONDS = 10.0
#: On a busy machine the next one is a little late.
LONGEST_SECONDS = IDLE_SECONDS + 2


def held_seconds(times: Sequence[datetime], *, resolution: int, window: int, now: datetime) -> Iterator[tuple[int, int, float]]:
    """(place in `times`, begin of a window of `window` seconds, seconds of that window for which the rates of the sample hold).

    `times`: of one execution's samples of `resolution` seconds, oldest first. A sample holds until the next one; the newest to the end
    of its window. One that no other followed in time was the last before its driver fell silent, and holds for its own seconds only.

    Rates times seconds, summed over a window and divided by its length: what lies below such a curve is what was counted.
    """
    begins = [time.timestamp() for time in times]
    for place, begin in enumerate(begins):
        following = begins[place + 1] if place + 1 < len(begins) else None
        until = _until(begin, following, resolution=resolution, window=window, now=now.timestamp())
        first = int(begin // window) * window
        while first < until:
            yield place, first, min(until, first + window) - max(begin, first)
            first += window


def _until(begin: float, following: float | None, *, resolution: int, window: int, now: float) -> float:
    if (now if following is None else following) - begin > LONGEST_SECONDS:
        return begin + resolution
    return (begin // window + 1) * window if following is None else following
