"""Whether the sources of a job still have what comes behind a checkpoint: their systems are asked, nothing is changed."""

import logging
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from django.conf import settings

from checkpoints.models import Checkpoint
from checkpoints.storages import host_of
from checkpoints.stores.local import LOCAL
from jobs.engine.compiler import PlanInvalid
from jobs.engine.plan import Plan
from jobs.engine.steps import Steps
from jobs.models import JobVersion
from jobs.nodes.base import NodeError
from jobs.selectors.checkpoint_prechecks import CheckOut
from jobs.selectors.graph_comparisons import is_of_another
from jobs.selectors.refusals import Invalid
from jobs.services.roll_backs import plan_behind

logger = logging.getLogger(__name__)

_AT_ONCE = 4


def inputs_left(checkpoint: Checkpoint, *, version: int) -> list[CheckOut]:
    """One check for each source of `version` that cannot read on behind the checkpoint, or cannot be asked now.

    None where the version cannot run as it stands. Messages that the job's own workers keep are looked for where these are on this host.
    """
    row = JobVersion.objects.filter(job=checkpoint.execution.job_id, version=version).first()
    if row is None:
        return []
    try:
        steps = Steps(_with_notes(plan_behind(checkpoint, row), checkpoint))
    except (Invalid, PlanInvalid):
        return []
    positions: Mapping[str, Any] = checkpoint.state_data.get("sources", {})
    keeps_here = _keeps_here(checkpoint)
    asked = [node for node in steps.sources if node in positions and (keeps_here or not steps.source(node).has_own_buffer)]
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="input left") as pool:
        found = pool.map(lambda node: _fault(steps, node, positions[node]), asked)
        return [check for check in found if check is not None]


def _with_notes(plan: Plan, checkpoint: Checkpoint) -> Plan:
    """So that sources find what they remember of what the checkpoint's generation read."""
    return replace(plan, locations=replace(plan.locations, work=plan.locations.work / str(checkpoint.generation)))


def _keeps_here(checkpoint: Checkpoint) -> bool:
    """Whether what the job received lies on the disk of this host: it stays where it was received, whatever becomes of checkpoints."""
    execution = checkpoint.execution
    if settings.CHECKPOINT_ROOT_SHARED or is_of_another(execution):
        return False
    is_same = execution.storage_host in ("", settings.STORAGE_HOST)
    return is_same or (checkpoint.storage == LOCAL and not host_of(checkpoint))


def _fault(steps: Steps, node_id: str, position: Any) -> CheckOut | None:
    name = steps.by_id[node_id].name
    try:
        steps.source(node_id).check_input(position, steps.context(node_id, "stream"))
    except NodeError as error:
        if error.permanent:
            return CheckOut(name=f"source.{node_id}", ok=False, severity="error", message=f'"{name}": {error.message}')
        logger.info("what %s still has is unknown: %s", node_id, error)
    except Exception:
        logger.exception("what %s still has is unknown", node_id)
    else:
        return None
    unknown = f'"{name}": whether it still has what comes behind this checkpoint cannot be asked now'
    return CheckOut(name=f"source.{node_id}", ok=True, severity="warning", message=unknown)
