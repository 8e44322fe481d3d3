"""What a restore of a checkpoint would meet: asked before it is started."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from checkpoints.models import Checkpoint
from checkpoints.selectors import checkpoint_problems, not_restorable
from checkpoints.storages import host_of
from checkpoints.stores.base import StorageFailed
from jobs.dag.document import DagDocument, Node, parse_document
from jobs.engine.change_words import Verdict
from jobs.engine.compiler import step_config
from jobs.engine.graph_changes import Compatibility
from jobs.models import UNFINISHED, Execution, ExecutionStatus, JobVersion
from jobs.nodes.base import Sink
from jobs.nodes.registry import REGISTRY
from jobs.selectors.checkpoint_replays import ReplayOut, checkpoint_replay
from jobs.selectors.graph_comparisons import Incomparable, compared, is_of_another, run_to_be, version_here
from jobs.selectors.refusals import Conflict, NotFound
from jobs.selectors.roll_backs import rolled_back_since
from jobs.selectors.shapes.base import Shape
from jobs.selectors.shapes.roll_back import RollBackOut

#: Changes of a sink that has not written any rows yet.
_WITHOUT_ROWS = ("sink.added", "sink.filled")


class CheckOut(Shape):
    """One thing that was looked at, in a sentence. A warning does not stand in the way."""

    name: str
    ok: bool
    severity: Literal["info", "warning", "error"]
    message: str


class ChangeOut(Shape):
    """What becomes of one node, or with an empty `node_id` of the job's settings. `code` and `facts` are what `message` says."""

    node_id: str
    name: str
    type: str
    verdict: Verdict
    code: str
    facts: dict[str, str]
    message: str


class PrecheckOut(Shape):
    """`ok`: a restore into `version` can be started; with `drops_state` only where that is allowed (`allow_non_restored_state`).

    `checks` in the order to read them; every byte of the files was compared. `changes`: the nodes of `version`, then those that it has
    no more; none where the two cannot be compared. `roll_backs`: what each sink would do with `roll_back`; left
    empty here, for who asks the targets, and adds to `checks` which source lacks what comes next.
    """

    checkpoint: int
    ok: bool
    version: int
    own_version: int | None
    current_version: int | None
    drops_state: bool
    checks: list[CheckOut]
    changes: list[ChangeOut]
    replay: ReplayOut
    roll_backs: list[RollBackOut]


def checkpoint_precheck(checkpoint: Checkpoint, *, version: str = "") -> PrecheckOut:
    """Reads all of its files: as long as their size takes (about 2 GB a second from memory).

    `version`: a number, "current", or "" for the one it was taken of (of a checkpoint that was brought here: one that does the same,
    else the current one). NotFound where the job has none such.
    """
    own = version_here(checkpoint.execution)
    chosen = _chosen(checkpoint, version, own)
    wanted = {chosen} if own is None else {own, chosen}
    rows = {row.version: row for row in JobVersion.objects.filter(job=checkpoint.execution.job_id, version__in=wanted)}
    documents = {number: parse_document(row.dag_definition)[0] for number, row in rows.items()}
    if chosen not in (own, *rows):
        raise NotFound(f'"{checkpoint.execution.job_name}" has no version {chosen}')
    found, fits = _graph(checkpoint, rows.get(chosen))
    fresh = {change.node_id for change in found.changes if change.code in _WITHOUT_ROWS} if found else set()
    of_version = _version(checkpoint, chosen, own, documents.get(chosen), fresh)
    checks = [_files(checkpoint), _job(checkpoint), _unfinished(checkpoint), *fits, *of_version, *_gone(checkpoint)]
    types = {node_id: node.type for one in (_brought(checkpoint), *documents.values()) if one for node_id, node in one.nodes.items()}
    return PrecheckOut(
        checkpoint=checkpoint.pk,
        ok=all(check.ok for check in checks),
        version=chosen,
        own_version=own,
        current_version=checkpoint.execution.job.version,
        drops_state=found is not None and any(change.verdict == "state_dropped" for change in found.changes),
        checks=checks,
        changes=[ChangeOut(type=types.get(change.node_id, ""), **change.data()) for change in found.changes] if found else [],
        replay=checkpoint_replay(checkpoint),
        roll_backs=[],
    )


def _brought(checkpoint: Checkpoint) -> DagDocument | None:
    """The document that came with it."""
    execution = checkpoint.execution
    return parse_document(execution.imported_document)[0] if execution.imported_from is not None else None


def _chosen(checkpoint: Checkpoint, version: str, own: int | None) -> int:
    execution = checkpoint.execution
    if execution.job.version is None:
        raise Conflict(f'"{execution.job_name}" has no version yet: publish one first', code="job.unpublished")
    current = str(execution.job.version)
    wanted = {"": current if own is None else str(own), "current": current}.get(version, version)
    if not wanted.isdecimal() or len(wanted) > 9:
        raise NotFound(f'"{execution.job_name}" has no version {version[:100]}')
    return int(wanted)


def _graph(checkpoint: Checkpoint, row: JobVersion | None) -> tuple[Compatibility | None, list[CheckOut]]:
    """What becomes of each node, and what of it stands in the way. A version always goes on from its own checkpoints."""
    if row is None:  # the check of the version says so
        return None, []
    is_own = checkpoint.execution.imported_from is None and row.version == checkpoint.execution.version
    try:
        found = compared(checkpoint.execution, run_to_be(row, checkpoint.execution.parameters))
    except Incomparable as error:
        return None, [] if is_own else [_check("graph", False, f"The two versions cannot be compared: {error}")]
    obstacles = () if is_own else found.obstacles(allow_non_restored_state=True)
    return found, [_check("graph", False, change.line) for change in obstacles]


def _check(name: str, ok: bool, message: str, severity: Literal["info", "warning", "error"] | None = None) -> CheckOut:
    return CheckOut(name=name, ok=ok, severity=severity or ("info" if ok else "error"), message=message)


def _files(checkpoint: Checkpoint) -> CheckOut:
    if reason := not_restorable(checkpoint, trusting=True):
        return _check("files", False, f"It cannot be restored: {reason}")
    if host := host_of(checkpoint):
        return _check("files", True, f"Its files are on the disk of {host}, where the restore checks them", "warning")
    try:
        problems = checkpoint_problems(checkpoint)
    except StorageFailed as failed:
        return _check("files", False, f"It cannot be read now: {failed}")
    if problems:
        more = f" ({len(problems)} files are wrong)" if len(problems) > 1 else ""
        return _check("files", False, f"It cannot be read: {problems[0]}{more}. Choose an earlier one")
    return _check("files", True, f"All {checkpoint.file_count} files are there and whole")


def _gone(checkpoint: Checkpoint) -> Iterator[CheckOut]:
    if (number := rolled_back_since(checkpoint)) is not None:
        words = f"Sinks were rolled back to checkpoint {number} since: rows that they wrote from there to this one are not brought back"
        yield _check("rolled_back", True, words, "warning")


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


def _version(checkpoint: Checkpoint, version: int, own: int | None, document: DagDocument | None, fresh: set[str]) -> Iterator[CheckOut]:
    current, brought = checkpoint.execution.job.version, checkpoint.execution.imported_from
    if document is None:
        whose = ", which it was taken of," if version == own else ""
        yield _check("version", False, f"Version {version}{whose} can no longer be read")
        return
    if brought is not None:
        origin = f'version {checkpoint.execution.version} of "{brought["job_name"]}"'
        yield _check("version", True, f"It starts version {version}; it was taken of {origin}", "info" if version == own else "warning")
    elif version == own == current:
        yield _check("version", True, f"It starts version {version}, the current one, in a new generation")
    elif version == own:
        yield _check("version", True, f"It starts version {version}, which it was taken of; version {current} is current", "warning")
    else:
        yield _check("version", True, f"It starts version {version}; it was taken of version {own}", "warning")
    yield from _sinks(document, fresh, checkpoint.execution)


def _sinks(document: DagDocument, fresh: set[str], execution: Execution) -> Iterator[CheckOut]:
    """What each sink promises about rows that are written again after a step back; the `fresh` ones have none yet."""
    is_elsewhere = is_of_another(execution)
    for node_id, node in sorted(document.nodes.items()):
        node_type = REGISTRY.get(node.type)
        if node_type is not None and issubclass(node_type, Sink) and node_id not in fresh:
            name = f"sink.{node_id}"
            if is_elsewhere:
                yield _check(name, True, f'"{node.name}": what this job wrote before stays where it is', "warning")
            elif _replaces(node_type, node, execution.parameters):
                yield _check(name, True, f'"{node.name}": rows since this checkpoint come again and replace those with the same keys')
            else:
                repeats = f'"{node.name}": rows written since this checkpoint are still there and are written again'
                promise = f" (within one generation the sink writes {node_type.guarantee})" if node_type.guarantee else ""
                yield _check(name, True, repeats + promise, "warning")


def _replaces(sink: type[Sink[Any]], node: Node, parameters: Mapping[str, Any]) -> bool:
    """False, too, where its settings are not those of this version of the sink: then it does not start anyway."""
    try:
        return sink().replaces(step_config(sink, node.config, parameters))
    except ValueError:
        return False
