"""Checkpoints with rows and files, of live folders laid out as Spark does, without Spark."""

import json
import uuid
from pathlib import Path
from typing import Any

from django.conf import settings

from checkpoints.job_cut import JobCut, JobQuery, Phases, RunFacts
from checkpoints.ledger import CheckpointResult, Ticket
from checkpoints.models import Checkpoint
from checkpoints.placing import Placing
from checkpoints.selectors import newest_key
from checkpoints.services import checkpoint_begin, checkpoint_complete
from checkpoints.storages import folder_of, key_of, storage_named
from jobs.models import Execution, ExecutionStatus, Job


def spark_folder(folder: Path, batches: int) -> Path:
    """A stateless query that committed so many batches of a numbered source."""
    for log in ("offsets", "commits"):
        (folder / log).mkdir(parents=True, exist_ok=True)
    if not (folder / "metadata").exists():
        (folder / "metadata").write_text(json.dumps({"id": str(uuid.uuid4())}))
    for batch in range(batches):
        if not (folder / "commits" / str(batch)).exists():
            (folder / "offsets" / str(batch)).write_text('v2\n{"batchWatermarkMs":0}\n' + f'numbers:{{"next":{(batch + 1) * 10}}}')
            (folder / "commits" / str(batch)).write_text('v2\n{"nextBatchWatermarkMs":0,"stateUniqueIds":{}}')
    return folder


def execution_row(job: Job, *, status: str = ExecutionStatus.RUNNING, **given: Any) -> Execution:
    facts = {"generation": uuid.uuid4(), "attempt": 1, "triggered_by": "MANUAL", "version": 1} | given
    return Execution.objects.create(job=job, job_name=job.job_name, job_type=job.job_type, status=status, **facts)


def live_of(execution: Execution) -> Path:
    return Path(settings.CHECKPOINT_ROOT) / str(execution.job.job_uid) / str(execution.generation)


def cut_of(execution: Execution, checkpoint: Checkpoint, batches: int, *, savepoint: bool = False) -> CheckpointResult:
    """The files of a checkpoint behind the last of so many batches of its live folder."""
    live = spark_folder(live_of(execution) / "out", batches)
    job = execution.job
    facts = RunFacts(execution.execution_id, str(job.job_uid), job.job_name, job.job_type, 1, str(execution.generation), 1)
    ticket = Ticket(checkpoint.checkpoint_id, folder_of(checkpoint), checkpoint.pk)
    query = JobQuery(live, ("out",))
    return JobCut(facts).take(ticket, {"out": query}, {"out": batches - 1}, Phases(60), savepoint=savepoint)


def stored(execution: Execution, storage: str, batches: int = 2, *, savepoint: bool = False) -> Checkpoint:
    """The same in another store than the local disk."""
    begun = checkpoint_begin(
        execution_id=execution.execution_id, attempt=execution.attempt, origin="INTERVAL", savepoint=savepoint, storage=storage
    )
    result = cut_of(execution, begun, batches, savepoint=savepoint)
    base = newest_key(generation=execution.generation, storage=storage)
    ticket = Ticket(begun.checkpoint_id, folder_of(begun), begun.pk, key_of(begun), base)
    placed = Placing(storage_named(storage)).put(ticket, result, Phases(60), savepoint=savepoint)
    return checkpoint_complete(row=begun.pk, result=placed)


def kept(execution: Execution, batches: int = 2, *, savepoint: bool = False, **given: Any) -> Checkpoint:
    """A COMPLETED checkpoint of the execution, files and all."""
    begun = checkpoint_begin(
        execution_id=execution.execution_id, attempt=execution.attempt, origin="INTERVAL", savepoint=savepoint, **given
    )
    return checkpoint_complete(row=begun.pk, result=cut_of(execution, begun, batches, savepoint=savepoint))
