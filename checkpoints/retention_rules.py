"""How many checkpoints of a job are kept, for how long, and how much room they may take: the job's settings, else the installation's."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.apps import apps
from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from checkpoints.models import Checkpoint

NEWEST_KEY = "checkpoint.retention"
AGE_KEY = "checkpoint.retention.age"
BYTES_KEY = "checkpoint.retention.bytes"
#: More jobs than this are not named one by one in a query.
_NAMED_MOST = 500


Kind = Literal[
    "SAVEPOINT", "PINNED", "NEWEST", "NEWEST_GOOD", "EXECUTION", "COUNT", "AGE", "ROOM", "JOB_DELETED", "CANCELLED", "COMPLETED", "ORPHAN"
]


@dataclass(frozen=True)
class Why:
    """Why a checkpoint stays or goes, for programs and in words.

    `newest` and `age` (seconds, 0 for none): the rule that keeps a NEWEST one, or of which it has got beyond (COUNT, AGE); `room`: the
    bytes that its job may take; `execution`: the one that needs it.
    """

    kind: Kind
    words: str
    newest: int | None = None
    age: float | None = None
    room: int | None = None
    execution: str = ""


@dataclass(frozen=True)
class Rules:
    """`newest` of each generation, younger than `age`, and of the job together at most `bytes` that they alone take; 0: no such limit."""

    newest: int
    age: timedelta
    bytes: int

    def broken_by(self, row: Checkpoint, number: int, taken: int) -> Why | None:
        """Why a checkpoint need not be kept, None if it should: it is the newest but `number` - 1, with which `taken` bytes are taken."""
        if number > self.newest:
            return Why("COUNT", f"older than the newest {self.newest}", newest=self.newest)
        if self.age and timezone.now() - row.create_time > self.age:
            return Why("AGE", f"older than {_age_words(self.age)}", age=self.age.total_seconds())
        if self.full_with(taken):
            room = filesizeformat(self.bytes).replace("\xa0", " ")
            return Why("ROOM", f"the checkpoints of its job would take more than {room}", room=self.bytes)
        return None

    def kept_by(self) -> Why:
        """Of one that is none of these."""
        return Why("NEWEST", f"one of the newest {self.newest}", newest=self.newest, age=self.age.total_seconds())

    def full_with(self, taken: int) -> bool:
        return 0 < self.bytes < taken


#: How an execution ended → the setting that says what becomes of its checkpoints then, and the words for it.
ENDS: dict[str, tuple[str, Why]] = {
    "CANCELLED": (
        "checkpoint_on_cancel",
        Why("CANCELLED", "its execution was cancelled, and its settings delete checkpoints then"),
    ),
    "COMPLETED": (
        "checkpoint_on_completion",
        Why("COMPLETED", "its execution completed, and its settings delete checkpoints then"),
    ),
}


def unwanted_at_end(execution: Any) -> Why | None:
    """Why the settings of an execution that has ended want none of its checkpoints, None if they do not say so."""
    if execution.status not in ENDS:
        return None
    setting, why = ENDS[execution.status]
    return why if execution.resolved.get(setting) == "delete" else None


def rules_by_job(job_ids: Collection[int]) -> dict[int, Rules]:
    """Job → its rules, in one query."""
    config = apps.get_model("jobs", "JobConfig")._default_manager
    given: dict[int, dict[str, int]] = defaultdict(dict)
    asked = config.filter(config_key__in=(NEWEST_KEY, AGE_KEY, BYTES_KEY))
    asked = asked.filter(job__in=job_ids) if len(job_ids) <= _NAMED_MOST else asked
    for job_id, key, value in asked.values_list("job_id", "config_key", "config_value"):
        if value.isdecimal():
            given[job_id][key] = int(value)
    return {job_id: _rules(given[job_id]) for job_id in job_ids}


def _rules(given: dict[str, int]) -> Rules:
    return Rules(
        newest=max(1, given.get(NEWEST_KEY, settings.CHECKPOINTS_KEPT)),
        age=timedelta(milliseconds=given[AGE_KEY]) if AGE_KEY in given else timedelta(hours=settings.CHECKPOINTS_KEPT_HOURS),
        bytes=given.get(BYTES_KEY, settings.CHECKPOINTS_KEPT_BYTES),
    )


def _age_words(age: timedelta) -> str:
    """In the largest unit that writes it exactly."""
    seconds = age.total_seconds()
    for unit, length in (("day", 86_400), ("hour", 3600), ("minute", 60)):
        if seconds % length == 0:
            number = int(seconds // length)
            return f"{number} {unit}{'' if number == 1 else 's'}"
    return f"{seconds:g} seconds"
