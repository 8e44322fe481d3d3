"""Timers of a key, as a person's Python sets them: stored once its function has returned."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Literal

TimeMode = Literal["none", "processing", "event"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def moment(milliseconds: int, zone: tzinfo) -> datetime:
    """Milliseconds since 1970 as a time in `zone`."""
    return (_EPOCH + timedelta(milliseconds=milliseconds)).astimezone(zone)


def milliseconds_of(at: Any) -> int:
    """A time without a zone is taken for UTC, as it is in rows. TypeError where `at` is no time."""
    if not isinstance(at, datetime):
        raise TypeError(f"a timer is a time, not {type(at).__name__}: write timers.now + timedelta(…), or the time of a row")
    return ((at if at.tzinfo else at.replace(tzinfo=UTC)) - _EPOCH) // timedelta(milliseconds=1)


class Timers:
    """`handle` keeps them: Spark's StatefulProcessorHandle or something with the same face. `fires`: the code has an `on_timer`."""

    def __init__(self, handle: Any, mode: TimeMode, now_ms: int, zone: tzinfo, *, fires: bool) -> None:
        self._handle, self._mode, self._now_ms, self._zone, self._fires = handle, mode, now_ms, zone, fires
        self._changed: dict[int, bool] = {}  # milliseconds → registered, else deleted

    @property
    def now(self) -> datetime:
        """By the clock, when the batch began; by event time, up to where rows are taken for complete (1970 in the first batch)."""
        self._require_time()
        return moment(max(self._now_ms, 0), self._zone)

    def register(self, at: datetime) -> None:
        """`on_timer` is called with `at`, cut to milliseconds, once that time has passed; once, however often it is registered."""
        self._require_time()
        if not self._fires:
            raise RuntimeError("a timer needs a function to call: write def on_timer(key, timer, state, timers)")
        self._changed[milliseconds_of(at)] = True

    def delete(self, at: datetime) -> None:
        """Nothing happens where it is not registered."""
        self._require_time()
        self._changed[milliseconds_of(at)] = False

    def list(self) -> list[datetime]:
        """Those of this key, the earliest first."""
        self._require_time()
        known = {int(at): True for at in self._handle.listTimers()} | self._changed
        return [moment(at, self._zone) for at in sorted(known) if known[at]]

    def store(self) -> None:
        for at, registered in self._changed.items():
            self._handle.registerTimer(at) if registered else self._handle.deleteTimer(at)

    def _require_time(self) -> None:
        if self._mode == "none":
            raise RuntimeError("timers need a time to go by: choose processing or event as the node's time")
