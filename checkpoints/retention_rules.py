"""How many checkpoints of a job are kept, for how long, and how much room they may take: the job's settings, else the installation's."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.template.defaultfilters import filesizeformat
from django.utils import timezone

from checkpoints.models import Checkpoint

NEWEST_KEY = "checkpoint.retention"
AGE_KEY = "checkpoint.retention.age"
BYTES_KEY = "checkpoint.retention.bytes"


@dataclass(frozen=True)
class Rules:
    """`newest` of each generation, younger than `age`, and of the job together at most `bytes` that they alone take; 0: no such limit."""

    newest: int
    age: timedelta
    bytes: int

    def broken_by(self, row: Checkpoint, number: int, taken: int) -> str:
        """Why a checkpoint need not be kept, "" if it should: it is the newest but `number` - 1, with which `taken` bytes are taken."""
        if number > self.newest:
            return f"older than the newest {self.newest}"
        if self.age and timezone.now() - row.create_time > self.age:
            return f"older than {_age_words(self.age)}"
        if self.full_with(taken):
            return f"the checkpoints of its job would take more than {filesizeformat(self.bytes)}".replace("\xa0", " ")
        return ""

    def full_with(self, taken: int) -> bool:
        return 0 < self.bytes < taken


#: How an execution ended → the setting that says what becomes of its checkpoints then, and the words for it.
ENDS = {
    "CANCELLED": ("checkpoint_on_cancel", "its execution was cancelled, and its settings delete checkpoints then"),
    "COMPLETED": ("checkpoint_on_completion", "its execution completed, and its settings delete checkpoints then"),
}


def unwanted_at_end(execution: Any) -> str:
    """Why the settings of an execution that has ended want none of its checkpoints, "" if they do not say so."""
    setting, words = ENDS.get(execution.status, ("", ""))
    return words if execution.resolved.get(setting) == "delete" else ""


def rules_of(job: Any) -> Rules:
    rows = job.config.filter(config_key__in=(NEWEST_KEY, AGE_KEY, BYTES_KEY))
    given = {key: int(value) for key, value in rows.values_list("config_key", "config_value") if value.isdecimal()}
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
