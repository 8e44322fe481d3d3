"""From an execution's row to a Plan: its version, connections, places and limits."""

from dataclasses import replace

from django import db
from django.conf import settings

from checkpoints.storage import live_folder
from jobs.dag.document import DagDocument
from jobs.engine.compiler import plan_compile
from jobs.engine.plan import Locations, Plan, Settings
from jobs.models import Execution
from jobs.reporting.visits import database_visit
from jobs.selectors.roll_backs import roll_back_of
from jobs.services.connections import connections_open
from jobs.services.executions.starting import document_of, version_of
from jobs.services.limits import project_limits
from jobs.services.work_folders import work_folders


def execution_locations(execution: Execution) -> Locations:
    """The live folder of the execution's generation, and the folder where its nodes keep what survives a restart."""
    job_uid, generation = str(execution.job.job_uid), str(execution.generation)
    live = live_folder(settings.CHECKPOINT_ROOT, job_uid, generation)
    return Locations(live=live, work=work_folders(settings.DATA_DIR) / job_uid / generation)


def execution_document(execution: Execution) -> DagDocument:
    """The document of the version it runs."""
    return document_of(version_of(execution.job, execution.version))


def execution_plan(execution: Execution) -> Plan:
    """Everything resolved. PlanInvalid with the problems where the version no longer holds; the connections are opened here only."""
    locations = execution_locations(execution)
    locations.work.mkdir(parents=True, exist_ok=True)
    plan = plan_compile(
        execution_document(execution),
        job_uid=str(execution.job.job_uid),
        generation=str(execution.generation),
        attempt=execution.attempt,
        fresh=not _is_restored(execution),
        parameters=execution.parameters,
        settings=Settings(**execution.resolved),
        connections=connections_open(execution.job.project_id),
        locations=locations,
        limits=project_limits(execution.job.project),
        is_run=True,
    )
    return replace(plan, roll_back=roll_back_of(execution))


def plan_renewed(plan: Plan, execution: Execution) -> Plan:
    """The same with the connections as they are kept now; as it was while the database is away."""
    try:
        with database_visit():
            return replace(plan, connections=connections_open(execution.job.project_id))
    except db.Error:
        return plan


def _is_restored(execution: Execution) -> bool:
    """The generation goes back to a checkpoint: the targets hold rows that belong to it."""
    rows = Execution.objects.filter(generation=execution.generation)
    return rows.exclude(restored_from_checkpoint_id=None).exists()
