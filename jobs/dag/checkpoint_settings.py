"""Whether a job's settings of its checkpoints fit together, and fit its kind."""

from jobs.dag.document import DagDocument
from jobs.dag.durations import duration_ms
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem


def checkpoint_problems(document: DagDocument) -> list[Problem]:
    """Each on the setting that is to be changed."""
    settings = document.settings
    problems = []
    if settings.checkpoint_each_page and document.type != "BATCH_ROLLER":
        message = "only an import has pages: let checkpoints of this job come by time or by rows"
        problems.append(_on_setting("checkpoint.no_pages", "checkpoint_each_page", message))
    interval, pause = settings.checkpoint_interval, settings.checkpoint_min_pause
    if interval and pause and 0 < duration_ms(interval) < duration_ms(pause):
        message = f'the pause is longer than the interval of "{interval}": checkpoints come after each pause instead'
        problems.append(_on_setting("checkpoint.long_pause", "checkpoint_min_pause", message, warning=True))
    return problems


def _on_setting(code: str, name: str, message: str, *, warning: bool = False) -> Problem:
    return Problem(severity="warning" if warning else "error", code=code, pointer=pointer_of(("settings", name)), message=message)
