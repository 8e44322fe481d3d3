"""What was written behind a checkpoint, by batches and generations; whether it was rolled back already."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from uuid import UUID

from checkpoints.models import Checkpoint
from checkpoints.renewals import Renewal, renewals_of
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
    begun = rows.values_list("execution_id", "restored_from_checkpoint_id", "roll_back")
    points = {execution_id: origin for execution_id, origin, kept in begun if kept and origin}
    for renewal in reversed(renewals_of(rows)):
        if renewal.execution_id in points:
            points[renewal.execution_id] = renewal.origin_before or points[renewal.execution_id]
    earlier = Checkpoint.objects.filter(pk__in=points.values(), create_time__lt=checkpoint.create_time).order_by("create_time")
    return earlier.values_list("checkpoint_id", flat=True).first()


def _later(checkpoint: Checkpoint) -> set[UUID]:
    own = checkpoint.generation
    job = checkpoint.execution.job_id
    runs = Execution.objects.filter(job=job)
    renewals = renewals_of(runs)
    taken = list(
        Checkpoint.objects.filter(execution__job=job, execution__imported_from__isnull=True).values_list("generation", "pk", "create_time")
    )
    generation_of: dict[int | None, UUID] = {pk: generation for generation, pk, _ in taken}
    begun = list(runs.values_list("generation", "restored_from_checkpoint_id", "create_time"))
    parents = {one: generation_of[origin] for one, origin, _ in begun if origin in generation_of}
    parents |= {one.before: generation_of[one.origin_before] for one in renewals if one.origin_before in generation_of}
    parents |= {one.generation: generation_of.get(one.origin, one.before) for one in renewals}
    began = _first([*_starts(begun, renewals), *((one, time) for one, _, time in taken)])
    before = set(_line(own, parents))
    late = {one for one, time in began.items() if time > checkpoint.create_time}
    return {one for one in began if one not in before and (one in late or own in _line(one, parents))}


def _starts(begun: Iterable[tuple[UUID, int | None, datetime]], renewals: Sequence[Renewal]) -> Iterator[tuple[UUID, datetime]]:
    """When generations began: with an execution, or within one."""
    renewed = {one.generation for one in renewals}
    yield from ((one, time) for one, _, time in begun if one not in renewed)
    for renewal in renewals:
        yield renewal.generation, renewal.time
        yield renewal.before, renewal.time  # at the latest


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
