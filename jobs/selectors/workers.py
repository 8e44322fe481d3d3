"""Which workers live and yet take no tasks."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from jobs.models import Driver, DriverStatus, Worker

#: A process that did not report for this long does not count as alive.
ALIVE_WITHIN = timedelta(seconds=30)
LATELY = timedelta(seconds=15)


def another_takes_tasks(*, than: str) -> bool:
    """Whether a worker of another name took a task in the last seconds: beat sends, and Redis delivers."""
    return Worker.objects.exclude(name=than).filter(task_time__gte=Now() - LATELY).exists()


def no_tasks_since() -> datetime | None:
    """When the last task ran, if none of the living workers takes any; None when one does, or none lives."""
    deaf, living = _deaf()
    return max(deaf.values()) if deaf and len(deaf) == living else None


def tasks_trouble() -> list[str]:
    """What is wrong with the workers, a sentence each; empty when all of them take tasks."""
    deaf, living = _deaf()
    if deaf and len(deaf) == living:
        return [no_tasks_sentence(max(deaf.values()))]
    words = "The worker {name} takes no tasks since {since}; it starts anew by itself: if not, restart it."
    return [words.format(name=name, since=_words(since)) for name, since in sorted(deaf.items())]


def no_tasks_sentence(since: datetime) -> str:
    return (
        f"The worker takes no tasks since {_words(since)}: nothing scheduled starts, and nothing is tried again. "
        "See whether Redis and beat run; a worker that lost them starts anew by itself."
    )


def _deaf() -> tuple[dict[str, datetime], int]:
    """Of the living workers, those that ran no task for too long, with when they last did or began; and how many live.

    Alive is one whose main process, or any of its drivers, reported lately: a main process that hangs reports nothing.
    """
    lately = Now() - ALIVE_WITHIN
    drivers = Driver.objects.filter(worker=OuterRef("name"), heartbeat_time__gte=lately).exclude(status=DriverStatus.GONE)
    living = Worker.objects.filter(Q(heartbeat_time__gte=lately) | Exists(drivers)).annotate(now=Now())
    most = timedelta(seconds=settings.WORKER_SILENT_SECONDS)
    found = [(row.name, row.task_time or row.start_time, row.now) for row in living]
    return {name: since for name, since, now in found if now - since > most}, len(found)


def _words(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"
