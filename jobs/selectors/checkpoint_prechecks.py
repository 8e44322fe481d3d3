"""What a restore of a checkpoint would meet: asked before it is started."""

from collections.abc import Iterator
from typing import Literal

from checkpoints.models import Checkpoint
from checkpoints.selectors import folder_of, not_restorable
from checkpoints.verification import checkpoint_verify
from jobs.dag.document import DagDocument, parse_document
from jobs.models import UNFINISHED, Execution, ExecutionStatus, JobVersion
from jobs.nodes.base import Sink
from jobs.nodes.registry import REGISTRY
from jobs.selectors.shapes.base import Shape


class CheckOut(Shape):
    """One thing that was looked at, in a sentence. A warning does not stand in the way."""

    name: str
    ok: bool
    severity: Literal["info", "warning", "error"]
    message: str


class PrecheckOut(Shape):
    """`ok`: a restore can be started. `checks` in the order to read them; every byte of the files was compared."""

    checkpoint: int
    ok: bool
    checks: list[CheckOut]


def checkpoint_precheck(checkpoint: Checkpoint) -> PrecheckOut:
    """Reads all of its files: as long as their size takes (about 2 GB a second from memory)."""
    checks = [_files(checkpoint), _job(checkpoint), _unfinished(checkpoint), *_version(checkpoint)]
    return PrecheckOut(checkpoint=checkpoint.pk, ok=all(check.ok for check in checks), checks=checks)


def _check(name: str, ok: bool, message: str, severity: Literal["info", "warning", "error"] | None = None) -> CheckOut:
    return CheckOut(name=name, ok=ok, severity=severity or ("info" if ok else "error"), message=message)


def _files(checkpoint: Checkpoint) -> CheckOut:
    if reason := not_restorable(checkpoint):
        return _check("files", False, f"It cannot be restored: {reason}")
    problems = checkpoint_verify(folder_of(checkpoint))
    if problems:
        more = f" ({len(problems)} files are wrong)" if len(problems) > 1 else ""
        return _check("files", False, f"It cannot be read: {problems[0]}{more}. Choose an earlier one")
    return _check("files", True, f"All {checkpoint.file_count} files are there and whole")


def _job(checkpoint: Checkpoint) -> CheckOut:
    job = checkpoint.execution.job
    if job.deleted_at is not None:
        return _check("job", False, "Its job was deleted")
    if not job.enabled:
        return _check("job", False, "Its job is disabled: enable it first")
    return _check("job", True, "Its job can be started")


def _unfinished(checkpoint: Checkpoint) -> CheckOut:
    other = Execution.objects.filter(job=checkpoint.execution.job_id, status__in=UNFINISHED).order_by("-id").first()
    if other is None:
        return _check("execution", True, "No other execution of the job is under way")
    if other.status == ExecutionStatus.PAUSED:
        words = f"Execution {other.execution_id} is paused: the restore cancels it and keeps its checkpoints"
        return _check("execution", True, words, "warning")
    return _check("execution", False, f"Execution {other.execution_id} is {other.status}: stop or cancel it first")


def _version(checkpoint: Checkpoint) -> Iterator[CheckOut]:
    execution = checkpoint.execution
    ran, current = execution.version, execution.job.version
    row = JobVersion.objects.filter(job=execution.job_id, version=ran).first()
    document = parse_document(row.dag_definition)[0] if row else None
    if document is None:
        yield _check("version", False, f"Version {ran}, which it was taken of, can no longer be read")
        return
    if ran == current:
        yield _check("version", True, f"It starts version {ran}, the current one, in a new generation")
    else:
        yield _check("version", True, f"It starts version {ran}, which it was taken of; version {current} is current", "warning")
    yield from _sinks(document)


def _sinks(document: DagDocument) -> Iterator[CheckOut]:
    """What each sink promises about rows that are written again after a step back."""
    for node_id, node in sorted(document.nodes.items()):
        node_type = REGISTRY.get(node.type)
        if node_type is not None and issubclass(node_type, Sink):
            repeats = f'"{node.name}": rows written since this checkpoint are still there and are written again'
            promise = f" (within one generation the sink writes {node_type.guarantee})" if node_type.guarantee else ""
            yield _check(f"sink.{node_id}", True, repeats + promise, "warning")
