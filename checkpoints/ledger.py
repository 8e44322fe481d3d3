"""What the coordinator asks of whoever keeps the rows: it takes checkpoints, the ledger numbers and remembers them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class Ticket:
    """One checkpoint that has begun. `folder` (absolute) does not exist yet: it appears whole, or never. `row` is the ledger's own key.

    `key` is what stores call it. `base`: the key of an earlier one in the same store, which stays at least until this one has ended, "" if
    there is none.
    """

    number: int
    folder: Path
    row: int = 0
    key: str = ""
    base: str = ""


@dataclass(frozen=True)
class CheckpointResult:
    """A finished checkpoint, its files checked and in their store. `place`: where there, "" where it was cut.

    `queries`: as `query_facts` has them. `operators`: {"query", "operator", "node_id", "rows", "bytes"} each. `rows`: source rows of the
    execution up to here; `backlog`: those that waited at its sources then, None where none can tell. `phases`: milliseconds of "wait",
    "copy", "check", "write" and, beyond the local disk, "upload". `state_data` as kept in the row.
    """

    state_data: Mapping[str, Any]
    queries: Mapping[str, Mapping[str, Any]]
    phases: Mapping[str, int]
    files: int
    bytes_logical: int
    bytes_exclusive: int
    rows: int = 0
    backlog: int | None = None
    operators: tuple[Mapping[str, Any], ...] = field(default=())
    place: str = ""


class LedgerRefused(Exception):
    """The ledger has another owner by now, or another word on this checkpoint: asking again does not help."""


class Ledger(Protocol):
    """Called from the coordinator's thread, one checkpoint at a time.

    A call that raises anything but LedgerRefused is tried again a few times: be idempotent.
    """

    def begin(self, *, origin: str, requested_by: str, savepoint: bool, label: str) -> Ticket:
        """A PENDING row with the next number of the execution. `origin` is INTERVAL, ROWS, PAGE, MANUAL or STOP."""

    def complete(self, ticket: Ticket, result: CheckpointResult) -> None:
        """PENDING → COMPLETED; the moment to apply retention."""

    def fail(self, ticket: Ticket, reason: str, phases: Mapping[str, int]) -> None:
        """PENDING → FAILED; `reason` is one sentence for people. Nothing of it is on disk."""
