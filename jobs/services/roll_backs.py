"""What the sinks of a job would do if they were rolled back to a checkpoint: their targets are asked, nothing is changed."""

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from django.conf import settings

from checkpoints.models import Checkpoint
from jobs.engine.compiler import PlanInvalid, plan_compile
from jobs.engine.plan import Locations, Plan, RollBackPlan, Settings
from jobs.engine.rolling_back import roll_back_points, roll_back_words
from jobs.engine.steps import Steps
from jobs.models import JobVersion
from jobs.nodes.roll_back import RollBack, RollBackPoint
from jobs.selectors.refusals import Invalid
from jobs.selectors.roll_backs import roll_back_plan
from jobs.selectors.shapes.roll_back import RollBackOut
from jobs.services.connections import connections_open
from jobs.services.executions.starting import document_of
from jobs.services.limits import project_limits
from jobs.services.work_folders import work_folders

logger = logging.getLogger(__name__)

_AT_ONCE = 4


def roll_backs_viewed(checkpoint: Checkpoint, *, version: int) -> list[RollBackOut]:
    """Each sink of `version` that wrote, or may have written, behind the checkpoint.

    None where nothing can be rolled back to it, or the version cannot run as it stands.
    """
    wanted = roll_back_plan(checkpoint)
    row = JobVersion.objects.filter(job=checkpoint.execution.job_id, version=version).first()
    if wanted is None or row is None:
        return []
    try:
        steps = Steps(plan_behind(checkpoint, row))
    except (Invalid, PlanInvalid):
        return []
    concerned = {sink: point for sink, point in roll_back_points(steps, wanted).items() if _concerns(point, wanted)}
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="roll back") as pool:
        views = list(pool.map(lambda sink: _view(steps, sink, concerned[sink]), concerned))
    return [_out(steps, sink, view) for sink, view in zip(concerned, views, strict=True)]


def _concerns(point: RollBackPoint, wanted: RollBackPlan) -> bool:
    return point.batch_id is not None or bool(wanted.later)


def plan_behind(checkpoint: Checkpoint, version: JobVersion) -> Plan:
    """By which nodes are asked what a restore of the checkpoint would meet."""
    job, origin = checkpoint.execution.job, checkpoint.execution
    work = work_folders(Path(settings.DATA_DIR)) / str(job.job_uid)
    return plan_compile(
        document_of(version),
        job_uid=str(job.job_uid),
        generation=str(origin.generation),
        attempt=0,
        fresh=False,
        parameters=origin.parameters,
        settings=Settings(),
        connections=connections_open(job.project_id),
        locations=Locations(live=work, work=work),
        limits=project_limits(job.project),
    )


def _view(steps: Steps, sink: str, point: RollBackPoint) -> RollBack:
    try:
        return steps.sink(sink).roll_back_view(steps.context(sink, "batch"), point)
    except Exception as error:
        logger.info("what %s would roll back is unknown: %s", sink, error)
        return RollBack("repeated", hindrance="silent")


def _out(steps: Steps, sink: str, view: RollBack) -> RollBackOut:
    step = steps.by_id[sink]
    return RollBackOut(
        node_id=sink,
        name=step.name,
        type=step.type,
        way=view.way,
        unit=view.unit,
        count=view.count,
        hindrance=view.hindrance,
        message=roll_back_words(step.name, view),
    )
