"""Positions that a person sets: a copy of a checkpoint in which sources stand elsewhere, to be restored like any other."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from checkpoints.copying import checkpoint_positions, checkpoint_reposition
from checkpoints.cut import CutDamaged
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import Checkpoint
from checkpoints.spark_folder import FolderDamaged
from checkpoints.state_data import offsets_by_node
from checkpoints.storages import opened
from checkpoints.stores.base import StorageFailed
from jobs.dag.problems import Problem
from jobs.engine.graph_shape import GraphShape
from jobs.models import Job, Role
from jobs.nodes.base import NodeContext, NodeError
from jobs.nodes.hand_positions import Wanted, position_moved
from jobs.selectors.checkpoint_positions import position_fixed, position_shape
from jobs.selectors.checkpoint_travel import checkpoint_taken
from jobs.selectors.refusals import Conflict, Invalid
from jobs.services.access import role_check
from jobs.services.checkpoint_arrivals import copy_arrive
from jobs.services.connections import connections_open
from jobs.services.limits import project_limits
from jobs.services.work_folders import work_folders

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Query → what Spark calls a source → its offset.
Ends = dict[str, dict[str, Any]]


def positions_plan(*, checkpoint: Checkpoint, user: "User", wanted: Mapping[str, Wanted]) -> tuple[Ends, dict[str, Any]]:
    """Where each query's sources would stand, and the same by node. Changes nothing.

    Invalid with a problem a source: one that cannot be set, or not so. Conflict where the checkpoint cannot be started from.
    """
    role_check(user=user, project=checkpoint.execution.job.project_id, role=Role.OPERATOR)
    checkpoint_taken(checkpoint)
    shape = position_shape(checkpoint)
    try:
        with opened(checkpoint, wanted=lambda name: "state" not in name.split("/")) as folder:
            before = checkpoint_positions(folder)
    except (ManifestDamaged, CutDamaged, FolderDamaged, FileNotFoundError) as damaged:
        raise Conflict(f"checkpoint {checkpoint.checkpoint_id} is damaged: {damaged}", code="checkpoint.damaged") from None
    except (StorageFailed, OSError) as failed:
        raise Conflict(f"checkpoint {checkpoint.checkpoint_id} cannot be read now: {failed}", code="checkpoint.storage") from None
    problems, ends = [], Ends()
    for node_id, one in wanted.items():
        try:
            _move(ends, before, node_id, one, shape, checkpoint)
        except NodeError as error:
            problems.append(Problem(code="position.invalid", node_id=node_id, pointer=f"/sources/{node_id}", message=error.message))
    if problems or not wanted:
        message = f'the position of "{problems[0].node_id}" cannot be set: {problems[0].message}' if problems else "no source is named"
        raise Invalid(message, code="positions.invalid", problems=problems)
    moved = [{**offsets, **ends.get(key, {})} for key, offsets in before.items()]
    return ends, offsets_by_node(moved, shape.steps.sources)


def positions_edit(*, checkpoint: Checkpoint, user: "User", wanted: Mapping[str, Wanted]) -> Checkpoint:
    """A savepoint of the same job whose sources stand where they are wanted; the original stays as it is."""
    ends, _ = positions_plan(checkpoint=checkpoint, user=user, wanted=wanted)

    def change(folder: Path) -> None:
        checkpoint_reposition(folder, ends)

    job = Job.objects.select_related("project").get(pk=checkpoint.execution.job_id)
    return copy_arrive(job=job, user=user, way="POSITIONS", checkpoint=checkpoint, change=change)


def _move(
    ends: Ends, before: Mapping[str, Mapping[str, Any]], node_id: str, wanted: Wanted, shape: GraphShape, checkpoint: Checkpoint
) -> None:
    if node_id not in shape.steps.sources:
        raise NodeError("the job has no such source")
    if fixed := position_fixed(shape, node_id, checkpoint.state_data.get("sources", {})):
        raise NodeError(fixed)
    hand = shape.steps.source(node_id).hand_positions
    assert hand is not None
    if wanted.to not in hand.ways:
        raise NodeError(f"it can be set by {', '.join(hand.ways)} only")
    context = _context(shape, node_id, checkpoint)
    for query in shape.queries:
        for name in query.names_of(node_id) & set(before.get(query.key, {})):
            ends.setdefault(query.key, {})[name] = position_moved(hand, before[query.key][name], wanted, context)


def _context(shape: GraphShape, node_id: str, checkpoint: Checkpoint) -> NodeContext[Any]:
    step, job = shape.step(node_id), checkpoint.execution.job
    work = work_folders(Path(settings.DATA_DIR))
    return NodeContext(
        node_id=node_id,
        node_name=step.name,
        config=step.config,
        job_type=shape.plan.job_type,
        job_uid=str(job.job_uid),
        connections=connections_open(job.project_id),
        limits=project_limits(job.project),
        work_dir=work,
        live_dir=work,
    )
