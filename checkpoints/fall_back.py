"""What a generation goes on from when its live folder cannot: the checkpoints that it passed through, newest first."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from checkpoints.models import Checkpoint
from checkpoints.renewals import renewals_of
from checkpoints.selectors import checkpoint_problems, completed, executions
from checkpoints.threads import Pulse, no_pulse


@dataclass(frozen=True)
class Readable:
    """The newest checkpoint that can be read, and what is wrong with those that are newer."""

    checkpoint: Checkpoint | None
    damaged: list[tuple[Checkpoint, list[str]]] = field(default_factory=list)


def newest_readable(*, generation: UUID | str, pulse: Pulse = no_pulse) -> Readable:
    """What to fall back to when the live folder of a generation cannot be read. Every byte of what is offered was checked.

    Its own checkpoints, then the one that it was begun from and those before that. StorageFailed where a store does not answer:
    an older checkpoint is no answer to that.
    """
    damaged: list[tuple[Checkpoint, list[str]]] = []
    for checkpoint in passed(generation):
        problems = checkpoint_problems(checkpoint, pulse)
        if not problems:
            return Readable(checkpoint, damaged)
        damaged.append((checkpoint, problems))
    return Readable(None, damaged)


def passed(generation: UUID | str) -> Iterator[Checkpoint]:
    """The complete checkpoints that a generation and its executions passed through, newest first, back to a start from the beginning."""
    rows, seen, taken_by = completed(), set[int](), timezone.now()
    of_renewed: dict[str, int | None] = {}
    while True:
        runs = executions().filter(generation=generation)
        own = Q(generation=generation) | Q(execution__in=runs)
        for checkpoint in rows.filter(own, create_time__lte=taken_by).exclude(pk__in=seen):
            seen.add(checkpoint.pk)
            yield checkpoint
        for renewal in renewals_of(runs):
            of_renewed |= {str(renewal.before): renewal.origin_before, str(renewal.generation): renewal.origin}
        begun_from = runs.exclude(restored_from_checkpoint_id=None).values_list("restored_from_checkpoint_id", flat=True)
        origins = [*begun_from, of_renewed.get(str(generation))]
        origin = Checkpoint.objects.filter(pk__in=origins, create_time__lt=taken_by).order_by("create_time").first()
        if origin is None or origin.generation == generation:
            return
        generation, taken_by = origin.generation, origin.create_time
