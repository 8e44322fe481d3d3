"""Why a start is refused."""

from jobs.selectors.refusals import Conflict


class ExecutionConflict(Conflict):
    """The job has an unfinished execution; `detail["execution_id"]` names it."""

    code = "execution.unfinished"


class NotStartable(Conflict):
    """The job, as it stands, cannot be started, or not from there; `detail["offers"]` lists what `from` may be instead."""

    code = "job.not_startable"
