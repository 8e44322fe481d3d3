"""What a run takes of a spool that reads all at once: noted, so that its next attempt takes the same."""

from __future__ import annotations

import json
from pathlib import Path

from jobs.nodes.durable_text import text_first
from jobs.nodes.spool import Spool

#: There is one such reader at a time.
_READER = "at once"


def taken_at_once(spool: Spool, note: Path) -> tuple[int, int]:
    """ "after" and "upto", as of `Spool.plan`: all that nobody had read when it was first asked. `note`: a file of this run."""
    noted = text_first(note, lambda: json.dumps([max(spool.last_read(), spool.oldest() - 1), spool.newest()]))
    after, upto = json.loads(noted)
    spool.plan(after, upto, _READER)
    return after, upto


def read_at_once(spool: Spool, note: Path, *, max_kept: int) -> None:
    """What was taken is written: it is read now, and of all that was read `max_kept` are kept. Nothing where nothing was taken."""
    if note.is_file():
        _, upto = json.loads(note.read_text(encoding="utf-8"))
        spool.plan(upto, upto, _READER)
        spool.trim_read(max_kept)
