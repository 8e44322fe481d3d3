"""The background's door: short tasks that beat calls. Each may run twice, late, or not at all without harm."""

from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

from celery import Task, shared_task
from django.conf import settings

from checkpoints.cleaning import checkpoints_clean
from checkpoints.orphans import GRACE
from checkpoints.retention import Scope
from jobs.scheduling.firing import schedules_tick
from jobs.scheduling.reconciling import reconcile
from jobs.services.audit import audit_record
from jobs.services.drivers import drivers_forget
from jobs.services.events import checkpoint_deleted_by
from jobs.services.file_copies import mirrors_forget, samples_forget
from jobs.services.history import history_prune
from jobs.services.metrics import metrics_prune, metrics_roll_up, rejected_rows_prune
from jobs.services.spools import spools_forget
from jobs.services.work_folders import work_folders_forget
from jobs.services.workers import worker_task_ran, workers_forget


@shared_task(name="jobs.canary", bind=True)
def canary_task(self: "Task[Any, Any]") -> None:
    """Proves that this worker takes tasks: /readyz and the overview say so when it does not."""
    worker_task_ran(name=str(self.request.hostname))


@shared_task(name="jobs.reconcile")
def reconcile_task() -> None:
    reconcile()


@shared_task(name="jobs.schedules")
def schedules_task() -> None:
    schedules_tick()


@shared_task(name="jobs.metrics_roll_up")
def metrics_roll_up_task() -> None:
    metrics_roll_up()


@shared_task(name="jobs.prune")
def prune_task() -> None:
    metrics_prune()
    rejected_rows_prune()
    drivers_forget(older_than=timedelta(days=7))
    workers_forget(older_than=timedelta(days=7))
    spools_forget(data_dir=Path(settings.DATA_DIR), older_than=timedelta(days=1))


@shared_task(name="jobs.history_prune")
def history_prune_task() -> None:
    if forgotten := history_prune():
        audit_record(user=None, action="history forgotten", object_type="execution", object_id="", detail=asdict(forgotten))


@shared_task(name="jobs.checkpoints_clean")
def checkpoints_clean_task() -> None:
    found = checkpoints_clean(scope=Scope(), dry_run=False, deleted_by="retention", told=checkpoint_deleted_by("retention"))
    work_folders_forget(data_dir=Path(settings.DATA_DIR), older_than=GRACE)
    mirrors_forget(data_dir=Path(settings.DATA_DIR), older_than=timedelta(days=1))
    samples_forget(data_dir=Path(settings.DATA_DIR), older_than=timedelta(days=7))
    going = [decision for decision in found if decision.action == "delete"]
    if going:
        detail = {"deleted": len(going), "bytes": sum(decision.bytes for decision in going), "job_name": None}
        audit_record(user=None, action="checkpoints cleaned up", object_type="checkpoint", object_id="", detail=detail)
