"""Workers as rows: announced, alive, and when they last ran a task."""

from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now

from jobs.models import Worker
from jobs.services.executions.clock import now_plus


def worker_announce(*, name: str, pid: int) -> None:
    """Its main process has just begun; what an earlier life under the same name did counts no more."""
    facts = {"host": settings.STORAGE_HOST, "pid": pid, "start_time": Now(), "heartbeat_time": Now(), "task_time": None}
    Worker.objects.update_or_create(name=name[:200], defaults=facts)


def worker_heartbeat(*, name: str) -> None:
    """Its main process is alive now, by the database's clock."""
    Worker.objects.filter(name=name[:200]).update(heartbeat_time=Now())


def worker_task_ran(*, name: str) -> None:
    """A task runs in it now, by the database's clock: it takes tasks from the queue, and its pool works."""
    Worker.objects.filter(name=name[:200]).update(task_time=Now())


def worker_gone(*, name: str, pid: int) -> None:
    """It ends as it was asked to: nobody waits for it."""
    Worker.objects.filter(name=name[:200], pid=pid).delete()


def workers_forget(*, older_than: timedelta) -> int:
    """Delete the rows of workers that have been silent for so long."""
    return Worker.objects.filter(heartbeat_time__lt=now_plus(-older_than.total_seconds())).delete()[0]
