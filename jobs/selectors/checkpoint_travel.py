"""A checkpoint as it travels: what has to go with its files."""

import json
from contextlib import ExitStack
from dataclasses import replace

from checkpoints.archive_facts import Taken, TakenCheckpoint, TakenJob, TakenRun
from checkpoints.archive_writing import Archive, archive_of
from checkpoints.cut import CutDamaged
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint
from checkpoints.selectors import not_restorable
from checkpoints.storages import opened
from checkpoints.stores.base import StorageFailed
from checkpoints.verification import checkpoint_verify
from jobs.models import Execution
from jobs.selectors.graph_comparisons import Incomparable, read_earlier, run_of
from jobs.selectors.refusals import Conflict


def checkpoint_taken(checkpoint: Checkpoint) -> Taken:
    """What is known of a checkpoint that can be started from, and of the run it was taken of. Conflict says why there is none."""
    if reason := not_restorable(checkpoint):
        raise Conflict(f"checkpoint {checkpoint.checkpoint_id} has no files to take along: {reason}", code="checkpoint.not_restorable")
    execution = Execution.with_imported.select_related("job__project").get(execution_id=checkpoint.execution_id)
    try:
        run = run_of(execution)
    except Incomparable as error:
        raise Conflict(f"the version that it was taken of is not known any more: {error}") from None
    return Taken(
        checkpoint=TakenCheckpoint(
            number=checkpoint.checkpoint_id,
            origin=str(checkpoint.origin),
            label=checkpoint.label,
            requested_by=checkpoint.requested_by,
            attempt=checkpoint.attempt,
            create_time=checkpoint.create_time,
            state_data=checkpoint.state_data,
            operators=checkpoint.operators,
            phases=checkpoint.phases,
        ),
        run=TakenRun(
            execution_id=execution.execution_id,
            version=execution.version,
            job_type=execution.job_type,
            parameters=execution.parameters,
            resolved=execution.resolved,
            read_earlier=sorted(read_earlier(execution)),
        ),
        job=_taken_job(execution),
        document=json.loads(run.version.dag_definition),
    )


def _taken_job(execution: Execution) -> TakenJob:
    """The job whose run took it: of one that was brought here the one it was taken of, however often it travelled since."""
    if brought := execution.imported_from:
        return TakenJob(job_uid=brought["job_uid"], job_name=brought["job_name"], project=brought["project"])
    return TakenJob(job_uid=str(execution.job.job_uid), job_name=execution.job_name, project=execution.job.project.slug)


def checkpoint_archive(checkpoint: Checkpoint) -> Archive:
    """Its archive, every byte of which was compared before. Conflict where it is damaged or gone."""
    taken = checkpoint_taken(checkpoint)
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(opened(checkpoint))
            if problems := checkpoint_verify(folder):
                raise CutDamaged(problems)
            archive = archive_of(folder, taken)
        except (ManifestDamaged, CutDamaged, FileNotFoundError) as error:
            raise Conflict(f"checkpoint {checkpoint.checkpoint_id} is damaged: {error}", code="checkpoint.damaged") from None
        except (StorageFailed, OSError) as failed:
            raise Conflict(f"checkpoint {checkpoint.checkpoint_id} cannot be read now: {failed}", code="checkpoint.storage") from None
        return replace(archive, sent=stack.pop_all().close)
