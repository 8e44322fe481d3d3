"""Whether a version may go on from what another one left: refused where Spark would take it with wrong numbers."""

from collections.abc import Iterable, Mapping
from typing import Any

from checkpoints.models import Checkpoint
from checkpoints.selectors import completed
from jobs.dag.problems import Problem
from jobs.engine.change_words import Change
from jobs.engine.graph_changes import Compatibility
from jobs.models import Execution, JobVersion
from jobs.selectors.graph_comparisons import Incomparable, Run, compared, run_of, run_to_be
from jobs.selectors.refusals import Invalid
from jobs.services.executions.not_startable import NotStartable


def going_on_check(*, last: Execution, version: JobVersion, parameters: Mapping[str, Any]) -> tuple[Change, ...]:
    """What people should know when `version` goes on from the live folder of `last`, in its generation.

    NotStartable, with a problem a node, where it needs a fresh start, or a new generation: then `detail["offers"]` has a checkpoint too.
    """
    try:
        found = compared(last, Run(version, parameters, {}))
    except Incomparable as error:
        if version.version == last.version and parameters == last.parameters:
            return ()  # nothing changed: what is wrong with it is told when it runs
        raise _refused(last, f"what version {last.version} left cannot be compared: {error}", error.problems) from error
    if obstacles := found.obstacles():
        message = f"version {version.version} {_hindered(obstacles)}"
        if (newest := _newest(last)) and not found.obstacles(allow_non_restored_state=True):
            raise _restorable(last, f"{message}; {_restore(newest, version)}, which leaves that behind", obstacles, newest)
        raise _refused(last, message, _problems(obstacles), ways=_ways(last, version))
    if not found.in_place:
        raise _regrouped(last, version, found)
    return found.warnings


def restore_check(*, origin: Execution, version: JobVersion, allow_non_restored_state: bool) -> tuple[dict[str, Any], tuple[Change, ...]]:
    """The parameters with which `version` goes on from a checkpoint of `origin`, and what people should know. Invalid where it cannot."""
    if origin.imported_from is None and version.version == origin.version:
        return dict(origin.parameters), _unchanged(origin)
    try:
        run = run_to_be(version, origin.parameters)
        found = compared(origin, run)
    except Incomparable as error:
        raise Invalid(str(error), code="restore.changed", problems=error.problems) from error
    if obstacles := found.obstacles(allow_non_restored_state=allow_non_restored_state):
        message = f"version {version.version} {_hindered(obstacles)}"
        if not found.obstacles(allow_non_restored_state=True):
            message += '; allow that ("allow_non_restored_state"), or restore the version that the checkpoint was taken of'
        raise Invalid(
            message, code="restore.changed", problems=_problems(obstacles), detail={"changes": [change.data() for change in obstacles]}
        )
    return dict(run.parameters), found.warnings


def _unchanged(origin: Execution) -> tuple[Change, ...]:
    """The checkpoint's own version always fits; what the job's settings say now may not. Then the warnings say so."""
    try:
        run = run_of(origin)
        found = compared(origin, Run(run.version, run.parameters, {}))
    except Incomparable:
        return ()
    return found.warnings


def _hindered(obstacles: Iterable[Change]) -> str:
    first, *others = obstacles
    more = f" (and {len(others)} more)" if others else ""
    return f"cannot go on from there: {first.line}{more}"


def _problems(changes: Iterable[Change]) -> list[Problem]:
    return [change.problem for change in changes]


def _ways(last: Execution, version: JobVersion) -> str:
    return f", or continue with version {last.version}" if version.version != last.version else ""


def _refused(last: Execution, message: str, problems: list[Problem], *, ways: str = "") -> NotStartable:
    return NotStartable(
        f"{message}; start from the beginning{ways}",
        code="start.changed",
        problems=problems,
        detail={"offers": ["beginning"], "execution_id": last.execution_id, "version": last.version},
    )


def _regrouped(last: Execution, version: JobVersion, found: Compatibility) -> NotStartable:
    newest = _newest(last)
    where = _restore(newest, version) if newest else f"continue with version {last.version}"
    message = f"version {version.version} has other sinks, and a position belongs to the sinks that were written with it: {where}"
    return _restorable(last, message, found.warnings, newest)


def _newest(last: Execution) -> Checkpoint | None:
    return completed(Checkpoint.objects.filter(generation=last.generation)).first()


def _restore(checkpoint: Checkpoint, version: JobVersion) -> str:
    return f"restore checkpoint {checkpoint.checkpoint_id} into version {version.version}"


def _restorable(last: Execution, message: str, changes: Iterable[Change], newest: Checkpoint | None) -> NotStartable:
    return NotStartable(
        f"{message}, or start from the beginning",
        code="start.changed",
        problems=_problems(changes),
        detail={
            "offers": ["beginning", *([newest.pk] if newest else [])],
            "execution_id": last.execution_id,
            "version": last.version,
        },
    )
