"""A look at the rows before and behind one node: a few rows are read, no sink is touched."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from jobs.dag.beside import part_read
from jobs.dag.document import DagDocument
from jobs.dag.graph import structure_problems, topological_order
from jobs.dag.parameters import example_values, references, substitute, trial_values
from jobs.dag.problems import Problem, errors_in
from jobs.dag.samples import MAX_SAMPLE_ROWS, SampleRows
from jobs.engine.analysis_problems import problem_of
from jobs.engine.code_prints import CodePrints
from jobs.engine.compiler import PlanInvalid, step_compile
from jobs.engine.counts import Marks, NoCounter
from jobs.engine.failure import AtNode, told_by_node
from jobs.engine.frames import Frames
from jobs.engine.given_rows import GivenTable, table_frames
from jobs.engine.plan import Plan
from jobs.engine.references import References
from jobs.engine.sample_tables import sample_tables
from jobs.engine.session import session_enter
from jobs.engine.shown_rows import rows_shown
from jobs.engine.steps import Arrow, Steps
from jobs.engine.user_code import Cancelled, Limit, never, steps_of_code, time_limit, worker_death
from jobs.engine.validation import analyse, schema_plan
from jobs.nodes.base import ConnectionSettings, Limits, NodeError, Sink
from jobs.nodes.registry import REGISTRY, NodeRegistry
from jobs.nodes.user_python.workers import workers_of
from jobs.nodes.worker_errors import node_error_in

#: Python workers may take so long to start, for each table; then what hangs outside of Python, where it cannot end itself, is cut off.
_START_SECONDS = 20.0


class _Asked(NoCounter):
    """Computes what a run counts besides the rows: where that fails, the run would, and Spark leaves out what nobody asks for."""

    def count(self, frame: DataFrame, node_id: str, *, sample: bool, ports: Marks | None = None, tallies: Marks | None = None) -> DataFrame:
        return frame.observe(f"asked of {node_id}", *(F.count_if(counts) for counts in tallies.values())) if tallies else frame


def preview(
    spark: SparkSession,
    document: DagDocument,
    node_id: str,
    *,
    rows: int = 50,
    connections: Mapping[str, ConnectionSettings],
    limits: Limits,
    parameters: Mapping[str, Any] | None = None,
    samples: Mapping[str, SampleRows] | None = None,
    job_uid: str = "",
    registry: NodeRegistry = REGISTRY,
    workers: str = "",
    code_seconds: float = 30.0,
    is_cancelled: Callable[[], bool] = never,
) -> dict[str, Any]:
    """{"inputs": {name: table}, "out": table | None, "rejected": table | None}.

    A table is what `rows_shown` gives. An input is called as its port, or where several edges lead into one
    port as the node it comes from, with ".PORT" unless that is out. "ports" holds the tables of other output ports by name; "not_acted"
    the nodes up to this one that act on another system in a run: here they pass their rows on. "given" are the sources whose rows came
    from `samples`: nothing of their systems is touched. "printed" is what Python prints at nodes meanwhile: [{"node_id", "text"}].
    "supposed" are the parameters up to this node without a value, and what stood for each.

    Each source above the node gives at most `rows` rows, so a filter may leave none; what is looked up in is read whole, as in a run.
    PlanInvalid if the node, or one above it, does not hold, or sample rows do not fit their columns. Faults elsewhere in the document
    do not matter.

    A person's code runs in Python workers that belong to `workers` alone, and has `code_seconds` in each of its tasks.
    Cancelled soon after `is_cancelled` says so: it is asked in another thread.
    """
    rows = max(1, min(rows, MAX_SAMPLE_ROWS))
    part, values = _part(document, node_id, parameters or {}, registry)
    compiled = tuple(step_compile(part, step_id, values, registry) for step_id in topological_order(part))
    prints = CodePrints()
    plan = schema_plan(part, compiled, connections, limits, values, job_uid)
    steps = Steps(replace(plan, code_seconds=code_seconds), registry, prints.logger())
    session = _session(spark, steps.plan)
    given = sample_tables(session, Steps(schema_plan(part, compiled, {}, Limits(), values), registry), samples or {})
    group = f"preview-{uuid4()}"
    session.sparkContext.setJobGroup(group, f"preview of {node_id}", interruptOnCancel=True)
    seconds = code_seconds + _START_SECONDS if steps_of_code(compiled, registry) else None
    try:
        with workers_of(workers), time_limit(session, group, seconds, is_cancelled) as limit:
            tables = _tables(steps, session, node_id, rows, limit, given)
        acting, supposed = [*filter(steps.acts, steps.by_id)], _supposed(part, parameters or {}, steps)
        return {**tables, "not_acted": acting, "given": list(given), "printed": prints.found(), "supposed": supposed}
    except AtNode as error:
        found = list[Problem]()
        if not limit.passed:  # Spark refuses what it is asked for after that, and the analysis would blame a source
            known: Any = {"connections": connections, "limits": limits, "parameters": values, "job_uid": job_uid, "given": given}
            found = _faults(session, part, group, is_cancelled, registry=registry, **known)
        raise PlanInvalid(found or [_problem(error, part, values, steps)]) from error
    finally:  # this thread's next question must not be cancelled with it
        session.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]


def _faults(session: SparkSession, part: DagDocument, group: str, is_cancelled: Callable[[], bool], **known: Any) -> list[Problem]:
    """What the analysis finds wrong with `part`, until it is cancelled."""
    with time_limit(session, group, None, is_cancelled):
        told = analyse(session, part, is_cancelled=is_cancelled, **known).problems
    return [problem for problem in errors_in(told) if not problem.code.startswith("graph.")]


def _session(spark: SparkSession, plan: Plan) -> SparkSession:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", plan.settings.time_zone)
    session_enter(session, plan)
    return session


def _part(document: DagDocument, node_id: str, parameters: Mapping[str, Any], registry: NodeRegistry) -> tuple[DagDocument, dict[str, Any]]:
    """The node with all above it, and the values of the parameters; PlanInvalid where one of them does not hold."""
    if node_id not in document.nodes:
        raise LookupError(f"there is no node {node_id}")
    values, wrong = trial_values(document, parameters)
    part = part_read(document, [node_id], registry.catalogue())
    faults = [problem for problem in errors_in(structure_problems(part, registry.catalogue())) if not problem.code.startswith("graph.")]
    if faults or wrong:
        raise PlanInvalid([*wrong, *faults])
    return part, values


def _supposed(part: DagDocument, given: Mapping[str, Any], steps: Steps) -> dict[str, Any]:
    """Code may read any parameter."""
    used = {name for node in part.nodes.values() for _, name in references(node.config)}
    has_code = bool(steps_of_code(steps.plan.steps, steps.registry))
    without = {name for name, parameter in part.parameters.items() if parameter.default is None and name not in given}
    return {name: value for name, value in example_values(part).items() if name in without and (has_code or name in used)}


def _tables(steps: Steps, session: SparkSession, node_id: str, rows: int, limit: Limit, given: Mapping[str, GivenTable]) -> dict[str, Any]:
    references = References(steps, lambda event: None, prepares=False)
    frames = Frames(
        steps,
        session,
        _Asked(),
        mode="batch",
        given=table_frames(session, steps, given, rows),
        counted=frozenset(steps.by_id),
        keep=lambda step_id, frame: frame.limit(rows) if step_id in steps.sources else frame,
        references=references,
        beside=table_frames(session, steps, given, MAX_SAMPLE_ROWS) if any(arrow.reference for arrow in steps.arrows) else None,
    )

    def shown(frame: DataFrame) -> dict[str, Any]:
        limit.renew()
        return rows_shown(frame, rows)

    try:
        behind = None if isinstance(steps.types[node_id], Sink) else frames.ports_of(node_id)
        return {
            "inputs": {name: shown(frames.arriving(arrow)) for name, arrow in _inputs(steps, node_id)},
            "out": shown(frames.of(node_id, "out")) if behind and "out" in behind else None,
            "rejected": shown(frames.of(node_id, "errors")) if behind and "errors" in behind else None,
            "ports": {port: shown(frames.of(node_id, port)) for port in behind or () if port not in ("out", "errors")},
        }
    except Exception as error:  # rows are only computed when they are taken
        if limit.cancelled:
            raise Cancelled from error
        at, cause = _blamed(error, steps, node_id, limit)
        raise AtNode(at, cause) from cause
    finally:
        references.close()


def _inputs(steps: Steps, node_id: str) -> list[tuple[str, Arrow]]:
    """The edges into a node by the names of its inputs."""
    arriving = steps.arriving(node_id, references=True)
    into = Counter(arrow.input for arrow in arriving)
    return [(arrow.input if into[arrow.input] == 1 else _origin(arrow), arrow) for arrow in arriving]


def _origin(arrow: Arrow) -> str:
    return arrow.source if arrow.port == "out" else f"{arrow.source}.{arrow.port}"


def _blamed(error: Exception, steps: Steps, node_id: str, limit: Limit) -> tuple[str, Exception]:
    """What went wrong while rows were computed, and the node that did it as far as that can be told."""
    if isinstance(error, AtNode):
        node_id, error = error.node_id, error.__cause__ if isinstance(error.__cause__, Exception) else error
    code = steps_of_code(steps.plan.steps, steps.registry)
    if limit.passed and code:
        return code[-1].node_id, limit.error()
    if carried := node_error_in(str(error)):
        return (carried.node_id if carried.node_id in steps.by_id else node_id), carried.error
    if died := worker_death(str(error), code):
        return died[0] or node_id, died[1]
    if not isinstance(error, NodeError) and (told := told_by_node(error, steps.plan, node_id)):
        return told
    return node_id, error


def _problem(error: AtNode, document: DagDocument, values: Mapping[str, Any], steps: Steps) -> Any:
    node = document.nodes[error.node_id]
    cause = error.__cause__ or error
    config = substitute(node.config, values)
    return problem_of(cause, error.node_id, node, config, [], family=steps.types[error.node_id].family)
