"""What becomes of a position that one version of a job made when another version, or the same with other settings, goes on from it."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from django.conf import settings

from checkpoints.models import Checkpoint
from checkpoints.selectors import batches_kept
from checkpoints.storage import live_folder
from jobs.dag.document import DagDocument, logic_hash, parse_document
from jobs.dag.parameters import resolve_parameters
from jobs.dag.problems import Problem, errors_in
from jobs.engine.change_words import Change
from jobs.engine.compiler import PlanInvalid, settings_resolve
from jobs.engine.graph_changes import Compatibility, changes_classify
from jobs.engine.graph_shape import GraphShape, graph_shape
from jobs.engine.plan import Settings
from jobs.models import Execution, JobConfig, JobVersion, QueryProgress


class Incomparable(Exception):
    """One of the two cannot be read or run as it stands: `version` is its number, `problems` say why."""

    def __init__(self, version: int, problems: list[Problem]) -> None:
        super().__init__(f"version {version} can no longer be run: {'; '.join(problem.message for problem in problems)}")
        self.version = version
        self.problems = problems


@dataclass(frozen=True)
class Run:
    """A version as it was run, or would be: with which parameters and, where they are fixed already, which settings."""

    version: JobVersion
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]


def version_here(execution: Execution) -> int | None:
    """The version of its job that an execution ran. Of a run that was brought here: the newest that does the same, None if none does."""
    if execution.imported_from is None:
        return execution.version
    document = parse_document(execution.imported_document)[0]
    if document is None:
        return None
    alike = JobVersion.objects.filter(job=execution.job_id, logic_hash=logic_hash(document))
    return alike.order_by("-version").values_list("version", flat=True).first()


def run_of(execution: Execution) -> Run:
    """As an execution ran. Its version's row never changes, so the graph that made a checkpoint can always be looked up.

    A run that was brought here has its document with it. Incomparable where the row is gone.
    """
    if execution.imported_from is not None:
        brought = JobVersion(job_id=execution.job_id, version=execution.version, dag_definition=execution.imported_document)
        return Run(brought, execution.parameters, execution.resolved)
    row = JobVersion.objects.filter(job=execution.job_id, version=execution.version).first()
    if row is None:
        raise Incomparable(execution.version, [Problem(code="version.missing", message="it does not exist any more")])
    return Run(row, execution.parameters, execution.resolved)


def node_names(execution: Execution) -> dict[str, str]:
    """Node → its name in the version that an execution ran; empty where that is gone."""
    try:
        document = parse_document(run_of(execution).version.dag_definition)[0]
    except Incomparable:
        return {}
    return {node_id: node.name for node_id, node in document.nodes.items()} if document else {}


def reaches(execution: Execution, node_id: str, sinks: Collection[str]) -> bool:
    """Whether rows of a node reach one of `sinks` in the version that an execution ran; True where that cannot be told any more."""
    try:
        document = parse_document(run_of(execution).version.dag_definition)[0]
    except Incomparable:
        return True
    if document is None:
        return True
    reached, waiting = set(), [node_id] if node_id in document.nodes else []
    while waiting:
        reached.add(node := waiting.pop())
        waiting += [edge.target[0] for edge in document.edges.values() if edge.source[0] == node and edge.target[0] not in reached]
    return not reached.isdisjoint(sinks)


def run_to_be(version: JobVersion, given: Mapping[str, Any]) -> Run:
    """As an execution of `version` would run that is started now with the values of another: those it does not know are left out.

    Incomparable where a parameter that it needs has no value.
    """
    document = _document(version)
    values, problems = resolve_parameters(document, {name: value for name, value in given.items() if name in document.parameters})
    if errors_in(problems):
        raise Incomparable(version.version, errors_in(problems))
    return Run(version, values, {})


def compared(execution: Execution, after: Run) -> Compatibility:
    """What becomes of each node when `after` goes on from what an execution left. Incomparable where one cannot run as it stands."""
    shape = shape_of(after)
    found = changes_classify(shape_of(run_of(execution)), shape, read_earlier=read_earlier(execution))
    return replace(found, changes=tuple(_elsewhere(execution, shape, found.changes)))


def _elsewhere(execution: Execution, after: GraphShape, changes: tuple[Change, ...]) -> Iterator[Change]:
    """A position in a buffer of another job, or in its copies of files, means nothing in this one's."""
    travelled = is_of_another(execution)
    for change in changes:
        is_source = travelled and change.node_id in after.steps.sources
        own = after.steps.source(change.node_id).position_of_one_job(after.step(change.node_id).config) if is_source else ""
        yield Change(change.node_id, change.name, f"source.{own}") if own else change


def is_of_another(execution: Execution) -> bool:
    """Whether it is the record of a run of another job, whose positions and sinks are not this one's."""
    return execution.imported_from is not None and execution.imported_from["job_uid"] != str(execution.job.job_uid)


def read_earlier(execution: Execution) -> set[str]:
    """Sources of every version that the line of positions went through, back over the checkpoints that it was restored from."""
    generations, waiting = set(), [execution.generation]
    found: set[str] = set(execution.imported_from["read_earlier"]) if execution.imported_from is not None else set()
    versions = {execution.version} if execution.imported_from is None else set()
    while waiting:
        generation = waiting.pop()
        if generation in generations:
            continue
        generations.add(generation)
        rows = Execution.with_imported.filter(job=execution.job_id, generation=generation)
        origins = rows.exclude(restored_from_checkpoint_id=None).values_list("restored_from_checkpoint_id", flat=True)
        waiting += Checkpoint.objects.filter(pk__in=list(origins)).values_list("generation", flat=True)
        for version, imported_from in rows.values_list("version", "imported_from"):
            if imported_from is None:
                versions.add(version)
            else:
                found |= set(imported_from["read_earlier"])
    for row in JobVersion.objects.filter(job=execution.job_id, version__in=versions):
        document = parse_document(row.dag_definition)[0]
        found |= {node_id for node_id, node in document.nodes.items() if node.type.startswith("source.")} if document else set()
    return found


def kept_no_position(execution: Execution) -> bool:
    """Whether it read everything at once, so that nothing can go on from what it left. False where that cannot be told any more."""
    try:
        return reads_at_once(run_of(execution)) and not has_position(execution)
    except Incomparable:
        return False


def reads_at_once(run: Run) -> bool:
    """Whether it has no position as things are today. False where it cannot run as it stands."""
    try:
        return shape_of(run).is_whole
    except Incomparable:
        return False


def has_position(execution: Execution) -> bool:
    """Whether its generation went on in steps, whatever its graph is taken for today: what reads at once has one batch and no checkpoint.

    Where nothing is known but a first batch, it may have been that one.
    """
    live = live_folder(Path(settings.CHECKPOINT_ROOT), str(execution.job.job_uid), str(execution.generation))
    kept = batches_kept(generation=execution.generation).values()
    counted = QueryProgress.objects.filter(execution__generation=execution.generation, batch_id__gt=0)
    return any(live.glob("*/commits/[0-9]*")) or any(batch >= 0 for batch in kept) or counted.exists()


def shape_of(run: Run) -> GraphShape:
    """The graph of a run with its parameters and settings. Incomparable where it cannot run as it stands."""
    document = _document(run.version)
    try:
        return graph_shape(document, parameters=run.parameters, settings=_settings(run, document))
    except PlanInvalid as error:
        raise Incomparable(run.version.version, error.problems) from error


def _settings(run: Run, document: DagDocument) -> Settings:
    if run.settings:
        return Settings(**run.settings)
    overrides = dict(JobConfig.objects.filter(job=run.version.job_id).values_list("config_key", "config_value"))
    try:
        return settings_resolve(document, overrides)
    except ValueError as error:
        raise Incomparable(run.version.version, [Problem(code="config.invalid", message=str(error))]) from error


def _document(version: JobVersion) -> DagDocument:
    document, problems = parse_document(version.dag_definition)
    if document is None:
        raise Incomparable(version.version, problems)
    return document
