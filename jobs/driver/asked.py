"""What becomes of a checkpoint that somebody asked for."""

import logging
from concurrent.futures import Future

from django import db

from checkpoints.coordinator import NothingToCut
from checkpoints.ledger import Ticket
from jobs.models import Command
from jobs.reporting.visits import database_visit
from jobs.services.commands import command_settle
from jobs.services.events import event_record


def checkpoint_settle(command: Command, future: Future[Ticket], *, actor: str, log: logging.Logger) -> None:
    """Tell with the command, and with an event when there was nothing to keep, how it ended."""
    error = future.exception()
    result = str(error) if error else f"checkpoint {future.result().number}"
    try:
        with database_visit():
            command_settle(command=command, done=error is None, result=result)
            if isinstance(error, NothingToCut):
                event_record(execution_id=command.execution_id, kind="notice", actor=actor, reason=f"no checkpoint: {error}")
    except db.Error as trouble:
        log.warning("the end of a request for a checkpoint is not kept: %s", trouble)
