"""The checkpoints of one attempt: who takes them, when, and where they are kept."""

import logging
from collections.abc import Callable, Mapping
from functools import partial

from checkpoints.coordinator import Coordinator
from checkpoints.job_cut import job_queries, run_facts
from checkpoints.selectors import batches_kept
from checkpoints.storages import storage_chosen
from checkpoints.stores.base import CheckpointStorage
from checkpoints.triggers import Triggers
from jobs.driver.position import positions_tell
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan, Settings
from jobs.engine.steps import Steps
from jobs.models import Execution
from jobs.reporting import RowLedger
from jobs.services.events import event_record

#: By this the execution's page finds the notice again.
_FALLBACK = {"checkpoint_storage": "local"}


def coordinator_of(
    execution: Execution, plan: Plan, *, actor: str, log: logging.Logger, mark: Callable[[Mapping[str, int]], bool]
) -> Coordinator:
    """Takes the checkpoints of the attempt that holds `execution`, as the settings of `plan` ask. `mark`: see Coordinator."""
    storage = _storage(execution, plan, actor, log)
    return Coordinator(
        RowLedger(execution_id=execution.execution_id, attempt=execution.attempt, actor=actor, storage=storage.name),
        run_facts(plan, execution_id=execution.execution_id, version=execution.version),
        job_queries(plan),
        triggers=triggers_of(plan.settings),
        timeout=plan.settings.checkpoint_timeout,
        tolerable_failures=plan.settings.checkpoint_tolerable_failures,
        rows_before=execution.processed_records,
        kept=batches_kept(generation=execution.generation),
        notify=partial(positions_tell, plan, log),
        storage=storage,
        mark=mark,
    )


def _storage(execution: Execution, plan: Plan, actor: str, log: logging.Logger) -> CheckpointStorage:
    """The store that the settings name. Where that cannot be, the history says why, and which one is used."""
    steps = Steps(plan)
    chosen = storage_chosen(plan.settings.checkpoint_storage, stateful=any(steps.is_stateful(step.node_id) for step in plan.steps))
    if chosen.warning:
        log.warning("%s", chosen.warning)
        event_record(execution_id=execution.execution_id, kind="notice", actor=actor, reason=chosen.warning, detail=_FALLBACK)
    return chosen.storage


def triggers_of(settings: Settings) -> Triggers:
    return Triggers(
        interval=settings.checkpoint_interval,
        rows=settings.checkpoint_rows,
        each_page=settings.checkpoint_each_page,
        min_pause=settings.checkpoint_min_pause,
    )


def end_check(coordinator: Coordinator, outcome: str) -> None:
    """ExecutionFailure, which no retry would mend, where a run had to be stopped because its checkpoints failed."""
    if outcome == "stopped" and coordinator.intolerable:
        raise ExecutionFailure(f"{coordinator.intolerable}: mend that, then continue", kind="system", permanent=True)
