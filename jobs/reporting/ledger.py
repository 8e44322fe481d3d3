"""Keeps the checkpoints of one attempt: rows, their events, and retention once one is complete."""

import logging
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from django.db import transaction

from checkpoints.cleaning import checkpoints_retain
from checkpoints.ledger import CheckpointResult, Ticket
from checkpoints.models import Checkpoint
from checkpoints.selectors import newest_key
from checkpoints.services import checkpoint_begin, checkpoint_complete, checkpoint_fail
from checkpoints.storages import key_of
from checkpoints.stores.local import LOCAL
from jobs.reporting.visits import database_visit
from jobs.services.events import checkpoint_deleted_by, event_record

logger = logging.getLogger(__name__)


class RowLedger:
    """The coordinator's Ledger over the database. Refused where `attempt` no longer holds the execution."""

    def __init__(self, *, execution_id: str, attempt: int, actor: str, storage: str = LOCAL) -> None:
        self._execution_id, self._attempt, self._actor, self._storage = execution_id, attempt, actor, storage

    def begin(self, *, origin: str, requested_by: str, savepoint: bool, label: str) -> Ticket:
        with database_visit(), transaction.atomic():
            row = checkpoint_begin(
                execution_id=self._execution_id,
                attempt=self._attempt,
                origin=origin,
                requested_by=requested_by,
                savepoint=savepoint,
                label=label,
                storage=self._storage,
            )
            self._record("checkpoint_pending", row, actor=requested_by)
            base = newest_key(generation=row.generation, storage=row.storage) if row.storage != LOCAL else ""
            return Ticket(number=row.checkpoint_id, folder=Path(row.storage_path), row=row.pk, key=key_of(row), base=base)

    def complete(self, ticket: Ticket, result: CheckpointResult) -> None:
        told = partial(self._record, "checkpoint_completed")
        with database_visit():
            self._retain(checkpoint_complete(row=ticket.row, result=result, told=told))

    def fail(self, ticket: Ticket, reason: str, phases: Mapping[str, int]) -> None:
        told = partial(self._record, "checkpoint_failed", reason=reason)
        with database_visit():
            checkpoint_fail(row=ticket.row, reason=reason, phases=phases, told=told)

    def _retain(self, row: Checkpoint) -> None:
        """What becomes of older ones takes nothing from this one: it is complete."""
        try:
            checkpoints_retain(checkpoint=row, told=checkpoint_deleted_by("retention"))
        except Exception as error:
            logger.warning("checkpoint %s is complete, and older ones stay until the next clean-up: %s", row.checkpoint_id, error)

    def _record(self, kind: str, row: Checkpoint, *, actor: str = "", reason: str = "") -> None:
        event_record(
            execution_id=self._execution_id,
            kind=kind,
            actor=actor or self._actor,
            reason=reason,
            detail={"checkpoint_id": row.checkpoint_id, "origin": row.origin},
            checkpoint=row.pk,
        )
