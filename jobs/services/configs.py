"""Settings that an operator lays over a job's document; keys with a meaning are checked by type and range."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction

from jobs.dag.problems import Problem
from jobs.models import ConfigType, Job, JobConfig, Role
from jobs.selectors.refusals import Conflict, Invalid, NotFound
from jobs.selectors.surveys import surveys_outdate
from jobs.services.access import role_check
from jobs.services.audit import audit_record

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: How alike two keys are of which one is taken for a slip.
_ALIKE = 0.9
_KEY = re.compile(r"[a-z][a-z0-9_.]{0,99}")


@dataclass(frozen=True)
class ConfigKey:
    """A key with a meaning. INT values lie within [least, most] or, if `or_zero`, are 0; STRING values are one of `choices` where there
    are any."""

    key: str
    type: ConfigType
    help: str
    least: int = 0
    most: int = 2**31 - 1
    choices: tuple[str, ...] = ()
    or_zero: bool = False


_WEEK = 7 * 24 * 3_600_000
_ON_END = ("KEEP", "DELETE")

KNOWN_KEYS: Mapping[str, ConfigKey] = {
    found.key: found
    for found in (
        ConfigKey("parallelism", ConfigType.INT, "Shuffle partitions of the job.", 1, 10_000),
        ConfigKey(
            "checkpoint.interval", ConfigType.INT, "Milliseconds between two checkpoints; 0: not by time.", 1000, _WEEK, or_zero=True
        ),
        ConfigKey("checkpoint.rows", ConfigType.INT, "Rows read between two checkpoints; 0: not by rows.", 0, 10**12),
        ConfigKey("checkpoint.each.page", ConfigType.BOOLEAN, "Whether an import takes a checkpoint behind each page or batch."),
        ConfigKey("checkpoint.timeout", ConfigType.INT, "Milliseconds that a checkpoint may take before it has failed.", 1000, _WEEK),
        ConfigKey("checkpoint.min.pause", ConfigType.INT, "Milliseconds at least between the end of a checkpoint and the next.", 0, _WEEK),
        ConfigKey("checkpoint.max.concurrent", ConfigType.INT, "Checkpoints taken at once: only 1 is possible, others wait.", 1, 1),
        ConfigKey(
            "checkpoint.tolerable.failures",
            ConfigType.INT,
            "Checkpoints that may fail in a row before the execution fails; -1 any number.",
            -1,
            10_000,
        ),
        ConfigKey("checkpoint.storage", ConfigType.STRING, "The store that its checkpoints go to, by its name."),
        ConfigKey(
            "checkpoint.on.cancel", ConfigType.STRING, "What becomes of its checkpoints when an execution is cancelled.", choices=_ON_END
        ),
        ConfigKey("checkpoint.on.completion", ConfigType.STRING, "The same when it has read everything.", choices=_ON_END),
        ConfigKey("trigger.interval", ConfigType.INT, "Milliseconds between the starts of two batches of a stream.", 0, 24 * 3_600_000),
        ConfigKey("checkpoint.retention", ConfigType.INT, "How many checkpoints are kept.", 1, 10_000),
        ConfigKey("checkpoint.retention.age", ConfigType.INT, "Milliseconds for which a checkpoint is kept; 0 for ever.", 0, 10**12),
        ConfigKey("checkpoint.retention.bytes", ConfigType.INT, "Bytes that the job's checkpoints may take; 0 any.", 0, 10**16),
        ConfigKey(
            "backpressure.strategy",
            ConfigType.STRING,
            "What happens when rows come faster than they are written.",
            choices=("BUFFER", "DROP", "LATEST", "ERROR"),
        ),
        ConfigKey("source.batch.size", ConfigType.INT, "Rows, or files, that a source hands over at once.", 1, 100_000_000),
        ConfigKey("sink.batch.size", ConfigType.INT, "Rows that a sink sends in one statement.", 1, 1_000_000),
        ConfigKey("max.retry.times", ConfigType.INT, "How often a failed attempt is tried again.", 0, 1000),
        ConfigKey("retry.interval", ConfigType.INT, "Milliseconds before the first retry.", 0, 24 * 3_600_000),
    )
}


@transaction.atomic
def configs_replace(*, job: Job, user: "User", entries: Sequence[Mapping[str, Any]]) -> None:
    """The job's settings are `entries` and nothing else. Each: config_key, config_value, config_type?, description?."""
    role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    rows = _rows(job, entries)
    JobConfig.objects.filter(job=job).exclude(config_key__in=[row.config_key for row in rows]).delete()
    _write(rows)
    _audit(job, user, {row.config_key: row.config_value for row in rows})


@transaction.atomic
def config_set(*, job: Job, user: "User", entry: Mapping[str, Any]) -> None:
    """One setting is written, the others stay."""
    role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    rows = _rows(job, [entry])
    _write(rows)
    _audit(job, user, {row.config_key: row.config_value for row in rows})


@transaction.atomic
def configs_delete(*, job: Job, user: "User", key: str | None = None) -> None:
    """One setting is taken off, or all of them. NotFound where the job has no such setting."""
    role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    rows = JobConfig.objects.filter(job=job)
    gone, _ = (rows if key is None else rows.filter(config_key=key)).delete()
    if key is not None and not gone:
        raise NotFound(f'the job has no setting "{key[:100]}"')
    _audit(job, user, {"deleted": key or "all"})


@transaction.atomic
def configs_change(*, job: Job, user: "User", changes: Sequence[Mapping[str, Any]]) -> None:
    """What is named is written, or taken off where its config_value is None; the others stay.

    `seen`: the update_time of the setting when it was read, None where there was none. Conflict where somebody changed it since.
    """
    role_check(user=user, project=job.project_id, role=Role.OPERATOR)
    kept = {row.config_key: row.update_time for row in JobConfig.objects.select_for_update().filter(job=job)}
    if changed := [key for change in changes if kept.get(key := str(change["config_key"])) != change["seen"]]:
        raise Conflict(
            f"somebody changed {', '.join(changed)} meanwhile: close the settings, open them again, and change them as they are now",
            code="config.changed",
        )
    rows = _rows(job, [change for change in changes if change["config_value"] is not None])
    gone = [change["config_key"] for change in changes if change["config_value"] is None]
    JobConfig.objects.filter(job=job, config_key__in=gone).delete()
    _write(rows)
    _audit(job, user, {row.config_key: row.config_value for row in rows} | ({"deleted": ", ".join(gone)} if gone else {}))


def _audit(job: Job, user: "User", detail: Mapping[str, str]) -> None:
    audit_record(user=user, action="settings changed", object_type="job", object_id=job.job_name, project=job.project, detail=detail)
    surveys_outdate()


def _write(rows: Sequence[JobConfig]) -> None:
    for row in rows:
        values = {"config_value": row.config_value, "config_type": row.config_type, "description": row.description}
        JobConfig.objects.update_or_create(job=row.job, config_key=row.config_key, defaults=values)


def _rows(job: Job, entries: Sequence[Mapping[str, Any]]) -> list[JobConfig]:
    problems: list[Problem] = []
    rows: dict[str, JobConfig] = {}
    kept = set(JobConfig.objects.filter(job=job).values_list("config_key", flat=True))
    for entry in entries:
        key = str(entry["config_key"])
        known = KNOWN_KEYS.get(key)
        kind = known.type if known else ConfigType(entry.get("config_type") or _type_of(entry["config_value"]))
        text, fault = _text_of(entry["config_value"], kind, known)
        if not _KEY.fullmatch(key):
            fault = "a key is lower-case words, joined by dots"
        elif known is None and key not in kept and (meant := _meant(key)):
            fault = f"this key is written {meant}"
        elif key in rows:
            fault = "the key stands here twice"
        elif known and entry.get("config_type") not in (None, "", known.type):
            fault = f"the value of this key is {known.type}"
        if fault:
            problems.append(Problem(code="config.invalid", pointer=f"/{key[:100]}", message=f"{key[:100]}: {fault}"))
        rows[key] = JobConfig(
            job=job, config_key=key, config_value=text, config_type=kind, description=str(entry.get("description") or "")[:500]
        )
    if problems:
        raise Invalid("the settings have problems", problems=problems)
    return list(rows.values())


def _meant(key: str) -> str:
    """The key with a meaning that this one is a slip of the pen for; "" where it is a key of its owner's own."""
    near = difflib.get_close_matches(key.replace("_", "."), KNOWN_KEYS, n=1, cutoff=_ALIKE)
    return near[0] if near else ""


def _type_of(value: Any) -> ConfigType:
    if isinstance(value, bool):
        return ConfigType.BOOLEAN
    if isinstance(value, int):
        return ConfigType.INT
    return ConfigType.STRING if isinstance(value, str) else ConfigType.JSON


def _text_of(value: Any, kind: ConfigType, known: ConfigKey | None) -> tuple[str, str]:
    """(the text to keep, what is wrong with the value or "")."""
    text = value if isinstance(value, str) else json.dumps(value)
    if len(text) > 100_000:
        return "", "the value is too long: at most 100,000 characters"
    if kind == ConfigType.INT:
        return _int_text(text, known)
    if kind == ConfigType.BOOLEAN:
        lower = text.lower()
        return (lower, "") if lower in ("true", "false") else (text, "the value must be true or false")
    if kind == ConfigType.JSON:
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return text, "the value is not JSON"
        return text, ""
    if known and known.choices and text.upper() not in known.choices:
        return text, f"the value must be one of {', '.join(known.choices)}"
    if known and not text.strip():
        return text, "the value must not be empty: take the setting off instead"
    return (text.upper() if known and known.choices else text), ""


def _int_text(text: str, known: ConfigKey | None) -> tuple[str, str]:
    if not re.fullmatch(r"-?\d{1,18}", text.strip()):
        return text, "the value must be a whole number"
    number = int(text)
    if known and not known.least <= number <= known.most and not (known.or_zero and number == 0):
        return text, f"the value must be from {known.least:,} to {known.most:,}"
    return str(number), ""
