"""The checkpoints of one attempt: who takes them, when, and where they are kept."""

import logging
from functools import partial

from checkpoints.coordinator import Coordinator
from checkpoints.job_cut import job_queries, run_facts
from checkpoints.triggers import Triggers
from jobs.driver.position import positions_tell
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Plan, Settings
from jobs.models import Execution
from jobs.reporting import RowLedger


def coordinator_of(execution: Execution, plan: Plan, *, actor: str, log: logging.Logger) -> Coordinator:
    """Takes the checkpoints of the attempt that holds `execution`, as the settings of `plan` ask."""
    return Coordinator(
        RowLedger(execution_id=execution.execution_id, attempt=execution.attempt, actor=actor),
        run_facts(plan, execution_id=execution.execution_id, version=execution.version),
        job_queries(plan),
        triggers=triggers_of(plan.settings),
        timeout=plan.settings.checkpoint_timeout,
        tolerable_failures=plan.settings.checkpoint_tolerable_failures,
        rows_before=execution.processed_records,
        notify=partial(positions_tell, plan, log),
    )


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
