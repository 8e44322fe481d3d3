"""Whether this installation can do its work now."""

from collections.abc import Collection

from django import db
from django.db import connection
from django.utils import timezone

from jobs.models import Driver, DriverKind, DriverStatus, Job
from jobs.selectors.shapes.base import Shape
from jobs.selectors.workers import ALIVE_WITHIN, no_tasks_sentence, no_tasks_since


class ReadinessOut(Shape):
    ready: bool
    database: str
    worker: str
    examples: str


def readiness_out(example_jobs: Collection[str]) -> ReadinessOut:
    """Ready: the database answers, a driver takes executions, a worker takes tasks, and each of `example_jobs` was loaded once."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        worker, examples = _worker(), _examples(example_jobs)
    except db.Error:
        return ReadinessOut(ready=False, database="does not answer", worker="unknown", examples="unknown")
    return ReadinessOut(ready=worker == examples == "ok", database="ok", worker=worker, examples=examples)


def _worker() -> str:
    fresh = timezone.now() - ALIVE_WITHIN
    alive = Driver.objects.filter(kind=DriverKind.SHARED, status=DriverStatus.READY, heartbeat_time__gte=fresh)
    if not alive.exists():
        return "no driver is ready yet"
    since = no_tasks_since()
    return no_tasks_sentence(since) if since else "ok"


def _examples(names: Collection[str]) -> str:
    """A job that somebody deleted since counts as loaded."""
    loaded = Job.objects.filter(job_name__in=names).values("job_name").distinct().count()
    return "ok" if loaded == len(names) else "not loaded yet"
