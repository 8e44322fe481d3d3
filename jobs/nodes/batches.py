"""What a sink is given with each batch, and what it tells of it."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.nodes.rejected_rows import RejectedRows


@dataclass(frozen=True)
class Batch:
    """One micro-batch as a sink sees it. `first_of_fresh_generation`: an overwriting sink empties its target now."""

    batch_id: int
    query: str
    rows: int | None = None
    first_of_fresh_generation: bool = False
    #: The job ends with the first rejected row: a sink need not go on behind it.
    fails_at_rejected: bool = False
    #: Takes every rejected row, where the drawing leads them on; a sink need not call `begin`, and `complete` only as said there.
    rejections: RejectedRows | None = None


@dataclass(frozen=True)
class Written:
    """What a sink did with a batch. `repeated`: the batch was already there, nothing was written.

    `printed`: JSON texts of the first rows, from a sink that shows them. `rejected_rows`: (reason, JSON text) of some rejected ones.
    """

    rows: int | None = None
    repeated: bool = False
    rejected: int = 0
    printed: tuple[str, ...] = ()
    rejected_rows: tuple[tuple[str, str], ...] = ()
