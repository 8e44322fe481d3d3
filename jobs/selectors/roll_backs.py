"""What was written behind a checkpoint, by batches and generations; whether it was rolled back already."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

from checkpoints.models import Checkpoint
from jobs.engine.plan import RollBackPlan
from jobs.models import Execution


def roll_back_plan(checkpoint: Checkpoint) -> RollBackPlan | None:
    """Where sinks would go back to. None of one that was brought here or got other positions: it does not tell what came after it.

    Later than the checkpoint is a generation that goes back to one of its own generation, or that began after it in another way.
    """
    if checkpoint.execution.imported_from is not None:
        return None
    batches = {sink: int(query["batch_id"]) for query in checkpoint.queries.values() for sink in query["sinks"]}
    return RollBackPlan(str(checkpoint.generation), batches, tuple(sorted(str(one) for one in _later(checkpoint))))


def roll_back_of(execution: Execution) -> RollBackPlan | None:
    """What a person asked for when the generation was begun; an attempt or execution that goes on in it may have it still to do."""
    rows = Execution.objects.filter(generation=execution.generation, restored_from_checkpoint_id__isnull=False)
    wanted = next((kept for kept in rows.values_list("roll_back", flat=True) if kept), None)
    return RollBackPlan.of(wanted) if wanted else None


def rolled_back_since(checkpoint: Checkpoint) -> int | None:
    """Number of an earlier checkpoint to which the sinks were rolled back after this one: rows between the two are gone from them."""
    rows = Execution.objects.filter(job=checkpoint.execution.job_id, create_time__gt=checkpoint.create_time, attempt__gt=0)
    rows = rows.filter(restored_from_checkpoint_id__isnull=False)
    points = [origin for origin, kept in rows.values_list("restored_from_checkpoint_id", "roll_back") if kept and origin]
    earlier = Checkpoint.objects.filter(pk__in=points, create_time__lt=checkpoint.create_time).order_by("create_time")
    return earlier.values_list("checkpoint_id", flat=True).first()


def _later(checkpoint: Checkpoint) -> set[UUID]:
    own = checkpoint.generation
    job = checkpoint.execution.job_id
    runs = list(Execution.objects.filter(job=job).values_list("generation", "restored_from_checkpoint_id", "create_time"))
    taken = list(
        Checkpoint.objects.filter(execution__job=job, execution__imported_from__isnull=True).values_list("generation", "pk", "create_time")
    )
    generation_of = {pk: generation for generation, pk, _ in taken}
    began = _first([*((one, time) for one, _, time in runs), *((one, time) for one, _, time in taken)])
    parents = {one: generation_of[origin] for one, origin, _ in runs if origin in generation_of}
    before = set(_line(own, parents))
    late = {one for one, time in began.items() if time > checkpoint.create_time}
    return {one for one in began if one not in before and (one in late or own in _line(one, parents))}


def _first(times: Iterable[tuple[UUID, datetime]]) -> dict[UUID, datetime]:
    found: dict[UUID, datetime] = {}
    for generation, time in times:
        found[generation] = min(time, found.get(generation, time))
    return found


def _line(generation: UUID, parents: dict[UUID, UUID]) -> list[UUID]:
    """It and what it came of, back to a start from the beginning."""
    line = [generation]
    while (parent := parents.get(line[-1])) is not None and parent not in line:
        line.append(parent)
    return line
