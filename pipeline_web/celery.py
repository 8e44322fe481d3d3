"""The Celery application: short tasks, a beat schedule, and a worker whose main process looks after the driver processes."""

import os
import signal
from datetime import timedelta
from typing import Any

from celery import Celery
from celery.schedules import crontab
from celery.signals import beat_embedded_init, celeryd_init, worker_process_init

from pipeline_web.checked import decimal

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "pipeline_web.settings")
# The checks load every route and form; a worker serves none, and `manage.py migrate` has run them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

app = Celery("pipeline_web")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["jobs"])


def _every(task: str, seconds: float) -> dict[str, Any]:
    """A tick that found no worker in time is dropped: the next one does its work."""
    return {"task": task, "schedule": timedelta(seconds=seconds), "options": {"expires": max(seconds * 2, 5.0)}}


app.conf.beat_schedule = {
    "canary": _every("jobs.canary", 5.0),
    "reconcile": _every("jobs.reconcile", decimal("RECONCILE_SECONDS", 2.0, least=0.1)),
    "schedules": _every("jobs.schedules", 2.0),
    "roll up metrics": _every("jobs.metrics_roll_up", 10.0),
    "prune": _every("jobs.prune", 300.0),
    # A night that was missed is made up for at the next start.
    "clean up checkpoints": {"task": "jobs.checkpoints_clean", "schedule": crontab(hour="2", minute="0"), "options": {"expires": 6 * 3600}},
    "prune the history": {"task": "jobs.history_prune", "schedule": crontab(hour="3", minute="0"), "options": {"expires": 6 * 3600}},
}


@celeryd_init.connect
def worker_look_after_drivers(**_: Any) -> None:
    """Only a worker gets the step: web and beat start no drivers."""
    from kombu.transport.redis import Channel

    from jobs.driver.step import DriversStep

    # Our tasks are hints: what a broken connection left unacknowledged need not go back into the queue, and kombu 5.7, which tries that
    # over the connection it has just closed, ends the worker with an AttributeError.
    Channel.do_restore = False
    app.steps["worker"].add(DriversStep)


@worker_process_init.connect
@beat_embedded_init.connect
def process_die_with_worker(**_: Any) -> None:
    """A worker that is killed outright leaves neither its pool nor its beat behind."""
    from jobs.driver.mortality import die_with_parent

    die_with_parent(signal.SIGKILL)
