"""Why a start is refused."""

from checkpoints.models import Checkpoint
from checkpoints.selectors import nearest_good
from jobs.selectors.refusals import Conflict, Invalid


class ExecutionConflict(Conflict):
    """The job has an unfinished execution; `detail["execution_id"]` names it."""

    code = "execution.unfinished"


class NotStartable(Conflict):
    """The job, as it stands, cannot be started, or not from there; `detail["offers"]` lists what `from` may be instead."""

    code = "job.not_startable"


class NotRestorable(Invalid):
    """Nothing can start from this checkpoint; `detail["nearest"]` names another of its job that may do, null if there is none."""

    code = "checkpoint.not_restorable"

    def __init__(self, checkpoint: Checkpoint, reason: str) -> None:
        nearest = nearest_good(checkpoint)
        words = f"checkpoint {checkpoint.checkpoint_id} cannot be started from: {reason}"
        good = nearest and f"the nearest good one is checkpoint {nearest.checkpoint_id} of execution {nearest.execution_id}"
        named = nearest and {"id": nearest.pk, "checkpoint_id": nearest.checkpoint_id, "execution_id": nearest.execution_id}
        super().__init__(f"{words}; {good or 'its job has no good one'}", detail={"nearest": named})
