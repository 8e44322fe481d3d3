"""From where a checkpoint was cut to the store it is to lie in."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from checkpoints.cut import folder_remove
from checkpoints.job_cut import Phases
from checkpoints.ledger import CheckpointResult, Ticket
from checkpoints.stores.base import CheckpointStorage, StorageFailed


class Placing:
    """Into `storage`; None, or the local disk: it stays where it was cut."""

    def __init__(self, storage: CheckpointStorage | None) -> None:
        self._storage = None if storage is None or storage.is_local else storage

    def put(self, ticket: Ticket, result: CheckpointResult, phases: Phases, *, savepoint: bool) -> CheckpointResult:
        """What was cut, and where it is now. A savepoint shares nothing with other checkpoints. Raises what went wrong.

        Either way nothing of it stays on the local disk.
        """
        if self._storage is None:
            return result
        try:
            base = "" if savepoint else ticket.base
            placed = self._storage.put(ticket.folder, ticket.key, base=base, pulse=lambda: phases.step("upload"))
        finally:
            folder_remove(ticket.folder)
        return replace(result, place=placed.place, bytes_exclusive=placed.bytes, phases=phases.milliseconds())

    def take_back(self, ticket: Ticket) -> None:
        """Nobody wants it. What cannot be deleted now is the clean-up's."""
        folder_remove(ticket.folder)
        if self._storage is not None:
            with suppress(StorageFailed):
                self._storage.delete(ticket.key)
