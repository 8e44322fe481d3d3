"""When the next checkpoint of a running job is due: a decision of its settings, the clock and what was committed."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Triggers:
    """What asks for checkpoints besides a person and a stop; any of them is enough, and none of 0 or False asks.

    `interval`: seconds from the beginning of one to that of the next. `rows`: rows read. `each_page`: every committed batch.
    `min_pause`: seconds that pass at least between the end of one and the beginning of the next of these.
    """

    interval: float = 0.0
    rows: int = 0
    each_page: bool = False
    min_pause: float = 0.0


@dataclass(frozen=True)
class Standing:
    """Where a run stands. Times are seconds of a steady clock.

    `begun`, `ended`: of the latest checkpoint, whatever became of it; before the first, the start of the run and minus infinity.
    `rows`, `batches`: committed since it began. `unprotected`: a batch is committed that no complete checkpoint holds.
    """

    begun: float
    ended: float = -math.inf
    rows: int = 0
    batches: int = 0
    unprotected: bool = False


@dataclass(frozen=True)
class Due:
    """`origin` is INTERVAL, ROWS or PAGE; `at` a time of the same clock, perhaps past."""

    origin: str
    at: float


def next_due(triggers: Triggers, standing: Standing) -> Due | None:
    """The checkpoint to take next, if nothing more is committed until then; None: nothing needs one.

    One that failed is tried again when its trigger comes round again, not at once: what made it fail is mostly still there.
    """
    if not standing.unprotected:
        return None
    rested = standing.ended + triggers.min_pause
    if triggers.each_page and standing.batches:
        return Due("PAGE", rested)
    if 0 < triggers.rows <= standing.rows:
        return Due("ROWS", rested)
    return Due("INTERVAL", max(standing.begun + triggers.interval, rested)) if triggers.interval else None
