"""Why an attempt ended before or beside its run, as the execution's failure."""

import traceback
from typing import Any

from jobs.engine.compiler import PlanInvalid
from jobs.engine.failure import ExecutionFailure
from jobs.selectors.refusals import Refusal


def attempt_failure(error: Exception) -> ExecutionFailure:
    """Total: what nobody foresaw is a failure of the driver, with its trace."""
    if isinstance(error, ExecutionFailure):
        return error
    if isinstance(error, PlanInvalid):
        first = error.problems[0] if error.problems else None
        return ExecutionFailure(str(error), node_id=(first and first.node_id) or "", kind="user", permanent=True)
    if isinstance(error, Refusal):
        return ExecutionFailure(error.message, kind="user", permanent=True)
    return ExecutionFailure(f"the driver failed: {error}", stack_trace="".join(traceback.format_exception(error)))


def failure_kept(failure: ExecutionFailure) -> dict[str, Any]:
    """What an execution keeps of it, as `execution_attempt_failed` takes it."""
    told = {"message": failure.message, "node_id": failure.node_id, "error_class": failure.kind, "stack_trace": failure.stack_trace}
    return told | {"permanent": failure.permanent, "outage": failure.outage}
