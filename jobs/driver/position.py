"""Where an attempt goes on: Spark's live folder, or the checkpoint it was started from, or the newest that can be read."""

import logging
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

from checkpoints.cut import CutDamaged
from checkpoints.fall_back import Readable, newest_readable, passed
from checkpoints.job_cut import job_queries
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint
from checkpoints.restorable import folders_restorable, positions_restorable
from checkpoints.roots import root_away
from checkpoints.selectors import batches_kept
from checkpoints.services import checkpoints_check, damage_note, root_take
from checkpoints.storage import checkpoint_restore
from checkpoints.storages import opened
from checkpoints.stores.base import StorageFailed, StorageUnfit
from checkpoints.stores.local import LOCAL
from checkpoints.threads import Pulse, no_pulse
from checkpoints.verification import live_readable
from jobs.driver.planning import execution_locations, execution_plan
from jobs.driver.remembered import remembered_take
from jobs.engine.failure import ExecutionFailure
from jobs.engine.grouping import query_folder
from jobs.engine.insisting import insisted
from jobs.engine.plan import Plan
from jobs.engine.steps import Steps
from jobs.models import Execution
from jobs.selectors.graph_comparisons import compared, has_position, reaches, run_of
from jobs.services.executions import execution_generation_renew
from jobs.services.metrics import batches_written, query_kept

_NAMED_MOST = 5
#: Its one batch would have a number that its sinks know, and be taken for written.
_LEFT_BEHIND = (
    "this job needs all its rows at once, but so far it was read in steps, and what is behind them would be left out: "
    "start it from the beginning"
)


def plan_with_position(execution: Execution, *, actor: str, log: logging.Logger, pulse: Pulse = no_pulse) -> Plan:
    """The Plan, its live folder in place. A folder that is damaged or gone is never taken for a fresh start.

    Then the generation ends: a new one goes on from its newest readable checkpoint, and the event log says what is sent again.
    ExecutionFailure (permanent) where no checkpoint is left to go on from, or where what went on in steps is read at once today.
    `execution` is brought up to date. What is restored is told to the sources. `pulse` is called all the while, and may raise to end
    it: nothing is left half done.
    """
    restored = _restored(execution, pulse)
    plan = execution_plan(execution)
    if not job_queries(plan) and has_position(execution):
        raise ExecutionFailure(_LEFT_BEHIND, kind="user", permanent=True)
    damage = _damage(execution, plan)
    if not damage:
        _root_take(plan)
        return _told(plan, restored, log)
    if (away := root_away()) and _lies_there(execution):
        raise ExecutionFailure(f"the position of this job cannot be read ({damage}): {away}", kind="external")
    try:
        found = newest_readable(generation=execution.generation, pulse=pulse)
    except StorageFailed as error:
        raise ExecutionFailure(
            f"the position of this job cannot be read ({damage}), nor its checkpoints: {error}", kind="external"
        ) from error
    for checkpoint, problems in found.damaged:
        damage_note(checkpoint=checkpoint, problems=problems)
    if found.checkpoint is None:
        raise ExecutionFailure(_nothing_left(damage, found), kind="system", permanent=True)
    damage_note(checkpoint=found.checkpoint, problems=[])
    execution_generation_renew(execution=execution, checkpoint=found.checkpoint, actor=actor, reason="; ".join([damage, *_words(found)]))
    restored = _restored(execution, pulse)
    return _told(execution_plan(execution), restored, log)


def _root_take(plan: Plan) -> None:
    """What begins where no disk is mounted would be hidden by it later, and the others' checkpoints would seem to be gone."""
    if not job_queries(plan) or plan.settings.checkpoint_storage != LOCAL:
        return
    try:
        root_take()
    except StorageFailed as away:
        if not plan.locations.live.exists():
            raise ExecutionFailure(f"the job cannot begin: {away}", kind="external") from away


def _lies_there(execution: Execution) -> bool:
    """Whether what would be gone on from instead lies on the same disk."""
    newest = next(passed(execution.generation), None)
    return newest is None or newest.storage == LOCAL


def _words(found: Readable) -> list[str]:
    named = [f"checkpoint {checkpoint.checkpoint_id} is damaged too: {problems[0]}" for checkpoint, problems in found.damaged[:_NAMED_MOST]]
    more = len(found.damaged) - len(named)
    return [*named, f"so are {more} older ones"] if more else named


def _nothing_left(damage: str, found: Readable) -> str:
    """What a person may choose instead of a fresh start that nobody asked for."""
    if not found.damaged:
        return f"the position of this job cannot be read ({damage}) and it has no checkpoint: start it from the beginning"
    told = "; ".join([damage, *_words(found)])
    choice = "restore a checkpoint of an earlier execution, import one, or start it from the beginning"
    return f"the position of this job cannot be read and none of its checkpoints is whole: {choice} ({told})"


def positions_tell(plan: Plan, log: logging.Logger, positions: Mapping[str, Any]) -> None:
    """Tell each source of `plan` its position in a checkpoint; one that cannot act on it is named in the log."""
    steps = Steps(plan)
    for node_id in steps.sources:
        if node_id in positions:
            try:
                source, context = steps.source(node_id), steps.context(node_id, "stream")
                insisted(partial(source.checkpointed, positions[node_id], context))
                source.trim(partial(_restorable, plan.job_uid, node_id, positions[node_id]), context)
                with ExitStack() as stack:
                    folders = partial(folders_restorable, job_uid=plan.job_uid, node_id=node_id, until=stack, reaches=reaches)
                    source.put_away(folders, context)
            except Exception as error:
                log.warning("the checkpoint is good, but its position was not passed on: %s", error, extra={"node_id": node_id})


def _restorable(job_uid: str, node_id: str, newest: Any) -> list[Any]:
    """Every position of a source that a checkpoint can bring back."""
    return [newest, *(found[node_id] for found in positions_restorable(job_uid=job_uid) if node_id in found)]


def _told(plan: Plan, restored: Checkpoint | None, log: logging.Logger) -> Plan:
    if restored is not None:
        positions_tell(plan, log, restored.state_data["sources"])
    return plan


def _restored(execution: Execution, pulse: Pulse) -> Checkpoint | None:
    """Put the checkpoint that the generation was started from in place; None if there is none, or that has been done.

    A generation that has gone on since may have newer ones: what becomes of it is decided where its folder is missed.
    """
    rows = Execution.objects.filter(generation=execution.generation, restored_from_checkpoint_id__isnull=False)
    origins = rows.values_list("restored_from_checkpoint_id", flat=True)[:1]
    live: Path = execution_locations(execution).live
    if not origins or live.exists() or _has_gone_on(execution):
        return None
    checkpoint = Checkpoint.objects.select_related("execution__job").filter(pk__in=list(origins)).first()
    if checkpoint is None:
        raise ExecutionFailure("the checkpoint to start from does not exist any more: choose another", kind="user", permanent=True)
    folders = _folders(checkpoint, execution)
    try:
        remembered_take(checkpoint, execution, same_version=folders is None)
        with opened(checkpoint, pulse=pulse) as folder:
            checkpoint_restore(folder, live, folders, pulse=pulse)
    except StorageFailed as error:
        message = f"checkpoint {checkpoint.checkpoint_id} cannot be fetched: {error}"
        raise ExecutionFailure(message, kind="external", permanent=isinstance(error, StorageUnfit)) from error
    except (ManifestDamaged, CutDamaged) as error:
        checkpoints_check(generation=checkpoint.generation)
        message = f"checkpoint {checkpoint.checkpoint_id} cannot be restored: {error}; choose an earlier one"
        raise ExecutionFailure(message, kind="system", permanent=True) from error
    except OSError as error:
        message = f"checkpoint {checkpoint.checkpoint_id} cannot be put in place ({error.filename or live}): {error.strerror or error}"
        raise ExecutionFailure(message, kind="external") from error
    return checkpoint


def _has_gone_on(execution: Execution) -> bool:
    """Whether its generation wrote, or keeps, any batch."""
    known = (batches_written(generation=execution.generation), batches_kept(generation=execution.generation))
    return any(batch >= 0 for batches in known for batch in batches.values())


def _folders(checkpoint: Checkpoint, execution: Execution) -> dict[str, str] | None:
    """The folder of each query that goes on → the query of the checkpoint that it goes on with; None where the version is the same."""
    origin = Execution.with_imported.select_related("job").get(execution_id=checkpoint.execution_id)
    if origin.imported_from is None and origin.version == execution.version:
        return None
    found = compared(origin, run_of(execution))
    if obstacles := found.obstacles(allow_non_restored_state=True):
        raise ExecutionFailure(f"version {execution.version} does not fit it: {obstacles[0].message}", kind="user", permanent=True)
    return {query_folder(new): old for new, old in found.queries.items()}


def _damage(execution: Execution, plan: Plan) -> str:
    """Which query cannot go on and why, "" if all can. What was written was planned; what is in a checkpoint was committed."""
    queries = job_queries(plan)
    if queries and not plan.locations.live.exists() and _has_gone_on(execution):
        return "its folder is gone"
    written = batches_written(generation=execution.generation)
    kept = batches_kept(generation=execution.generation)
    for key, query in queries.items():
        planned = written.get(query_kept(key), -1)
        if reason := live_readable(query.folder, expected_batch=max(planned - 1, kept.get(key, -1)), planned_batch=planned):
            return f"query {key}: {reason}"
    return ""
