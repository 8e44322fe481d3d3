"""All Problems of a document: its structure and configs, then Spark's own analysis of each node with schemas only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from jobs.dag.catalogue import Catalogue
from jobs.dag.document import DagDocument
from jobs.dag.graph import structure_problems, topological_order
from jobs.dag.parameters import references, substitute, trial_values
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.engine.acting import refuse_repeats
from jobs.engine.analysis_problems import problem_of
from jobs.engine.behind_sinks import refuse_behind_sinks, refuse_led_on
from jobs.engine.cautions import (
    caution_of_all_at_once,
    caution_of_times,
    caution_of_updates,
    cautions_of,
    refuse_memory,
    refuse_mixed_modes,
    refuse_second_watermark,
    refuse_state_behind_updates,
)
from jobs.engine.compiler import PlanInvalid, parameters_held, step_compile
from jobs.engine.counts import NoCounter
from jobs.engine.failure import AtNode
from jobs.engine.frames import Frames
from jobs.engine.given_rows import GivenTable, columns_told, table_frames
from jobs.engine.late_port import refuse_late
from jobs.engine.plan import Locations, Plan, Settings, Step
from jobs.engine.steps import Steps
from jobs.engine.stream_check import StreamCheck
from jobs.engine.user_code import Cancelled, never
from jobs.nodes.base import ConnectionSettings, Limits, NodeError, NodeType, Sink, Source
from jobs.nodes.registry import REGISTRY, NodeRegistry

Schema = list[dict[str, Any]]


@dataclass(frozen=True)
class Analysis:
    """`schemas`: node id → port (inputs too) → columns {"name", "type", "nullable"}, wherever Spark could tell."""

    problems: list[Problem] = field(default_factory=list)
    schemas: dict[str, dict[str, Schema]] = field(default_factory=dict)


def document_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    """What can be said without Spark: the graph, the configs, the parameters."""
    return structure_problems(document, catalogue)


def analyse(
    spark: SparkSession,
    document: DagDocument,
    *,
    connections: Mapping[str, ConnectionSettings],
    limits: Limits,
    parameters: Mapping[str, Any],
    job_uid: str = "",
    registry: NodeRegistry = REGISTRY,
    given: Mapping[str, GivenTable] | None = None,
    is_cancelled: Callable[[], bool] = never,
) -> Analysis:
    """Every Problem of `document`. Reads no rows; a source may ask its system for columns. `job_uid`: of the saved job, "" before it is.

    `given`: tables of sources that are then not asked. A node is analysed when all above it holds, so one fault is told once, where it is;
    behind a source that cannot be read, but lists its columns, too. Cancelled when `is_cancelled` says so before a node.
    """
    problems = structure_problems(document, registry.catalogue())
    try:
        order = topological_order(document)
    except ValueError:
        return Analysis(problems)
    values, wrong = trial_values(document, parameters)
    problems += wrong
    unknown = {name: values[name] for name, one in document.parameters.items() if one.default is None and name not in parameters}
    broken = {problem.node_id for problem in problems if problem.severity == "error" and problem.node_id and not problem.edge_id}
    broken |= {document.edges[problem.edge_id].target[0] for problem in problems if problem.edge_id in document.edges}
    steps: list[Step] = []
    for node_id in order:
        above = {edge.source[0] for edge in document.edges.values() if edge.target[0] == node_id}
        if node_id in broken or above & broken:
            broken.add(node_id)
            continue
        try:
            steps.append(step_compile(document, node_id, values, registry))
        except PlanInvalid as error:
            blamed = _blamed(error.problems, node_id, parameters_held(node_id, document.nodes[node_id], unknown, registry))
            problems.extend(problem for problem in blamed if problem not in problems)
            broken.add(node_id)
    plan = schema_plan(document, tuple(steps), connections, limits, values, job_uid)
    found = _Analyser(spark.newSession(), document, Steps(plan, registry), given or {}, unknown).analysis(is_cancelled)
    return Analysis([*problems, *found.problems], found.schemas)


def _blamed(problems: Sequence[Problem], node_id: str, held: Mapping[str, str]) -> list[Problem]:
    """Those that do not come from the sample values that stand in fields (pointer → parameter) until a start gives others."""
    excused = {*held, pointer_of(("nodes", node_id, "config"))} if held else set()
    return [problem for problem in problems if problem.pointer not in excused]


class _Analyser:
    """`unknown`: parameters to which only a start gives a value → the samples that stand for them."""

    def __init__(
        self, spark: SparkSession, document: DagDocument, steps: Steps, given: Mapping[str, GivenTable], unknown: Mapping[str, Any]
    ) -> None:
        self._spark = spark
        self._unknown = unknown
        self._document = document
        self._values = steps.plan.parameters
        self._steps = steps
        self._given = table_frames(spark, steps, {source: given[source] for source in given if source in steps.by_id}, most=0)
        self._frames = Frames(self._steps, spark, NoCounter(), mode="batch", schema_only=True, given=self._given)
        self._streams = StreamCheck(spark, self._steps, self._frames)
        self._broken: set[str] = set()
        self._found = Analysis()

    def analysis(self, is_cancelled: Callable[[], bool]) -> Analysis:
        for step in self._steps.plan.steps:
            if is_cancelled():
                raise Cancelled
            if self._broken & {arrow.source for arrow in self._steps.arriving(step.node_id, references=True)}:
                self._broken.add(step.node_id)
            else:
                self._analyse(step)
        return self._found

    def _analyse(self, step: Step) -> None:
        node_type = self._steps.types[step.node_id]
        schemas: dict[str, Schema] = {}
        arriving: list[StructType] = []
        context = self._steps.context(step.node_id, "batch", schema_only=True)
        try:
            for arrow in self._steps.arriving(step.node_id, references=True):
                frame = self._frames.of(arrow.source, arrow.port)
                schemas.setdefault(arrow.input, _schema(frame))
                arriving.append(frame.schema)
            if step.node_id not in self._given:
                node_type.check_connection(context)
            refuse_behind_sinks(self._steps, step.node_id)
            refuse_mixed_modes(self._steps, step.node_id)
            if isinstance(node_type, Sink):
                if node_type.rejects_rows:
                    schemas["errors"] = _schema(self._frames.of(step.node_id, "errors"))
                schema = self._frames.into(step.node_id).schema
                refuse_led_on(self._steps, step.node_id, schema)
                node_type.check(self._spark, schema, context)
                self._found.problems.extend(caution_of_updates(self._steps, step.node_id, schema.names))
            else:
                for port in self._output_ports(node_type, step):
                    schemas[port] = _schema(self._frames.of(step.node_id, port))
                for refuse in (refuse_state_behind_updates, refuse_second_watermark, refuse_memory, refuse_repeats, refuse_late):
                    refuse(self._steps, step.node_id)
                self._streams.check(step.node_id)
            graph = [*caution_of_times(self._steps, step.node_id), *caution_of_all_at_once(self._steps, step.node_id)]
            self._found.problems.extend([*graph, *cautions_of(node_type, context, arriving)])
        except Exception as error:
            self._found.problems.append(self._problem(error, step, arriving))
            if isinstance(node_type, Source) and not _is_about_columns(error) and self._columns_give(step.node_id):
                schemas |= {port: _schema(self._frames.of(step.node_id, port)) for port in self._output_ports(node_type, step)}
            else:
                self._broken.add(step.node_id)
        if schemas:
            self._found.schemas[step.node_id] = schemas

    def _columns_give(self, source: str) -> bool:
        """Lets the nodes behind a source that cannot be read see the columns that it has all the same; whether they are known."""
        told = columns_told(self._spark, Steps(replace(self._steps.plan, connections={}, limits=Limits()), self._steps.registry), source)
        if told is not None:
            frames = table_frames(self._spark, self._steps, {source: GivenTable(told, ())}, most=0)
            self._frames.give(source, frames[source])
        return told is not None

    def _problem(self, error: Exception, step: Step, arriving: list[StructType]) -> Problem:
        columns = list(dict.fromkeys(name for schema in arriving for name in schema.names))
        cause = error.__cause__ if isinstance(error, AtNode) and error.__cause__ else error
        node = self._document.nodes[step.node_id]
        config = substitute(node.config, self._values)
        family = self._steps.types[step.node_id].family
        problem = problem_of(cause, step.node_id, node, config, columns, family=family)
        name = self._sample_behind(problem, family)
        return _supposed(problem, name, self._unknown[name]) if name else problem

    def _sample_behind(self, problem: Problem, family: str) -> str:
        """A parameter whose sample may be what is wrong, "" for none: of another system's words any, of an expression's a text in it."""
        assert problem.node_id
        for path, name in references(self._document.nodes[problem.node_id].config):
            is_in_field = pointer_of(("nodes", problem.node_id, "config", *path)) == problem.pointer
            if name in self._unknown and (family != "flow" or (is_in_field and isinstance(self._unknown[name], str))):
                return name
        return ""

    def _output_ports(self, node_type: NodeType[Any], step: Step) -> list[str]:
        ports = self._frames.ports_of(step.node_id)
        return [port for port in ports if port != "errors" or node_type.rejects_rows]


def _supposed(problem: Problem, name: str, sample: Any) -> Problem:
    """What another system says of a sample need not hold of what a start gives."""
    message = f'{problem.message}; ${{{name}}} has no default, so this was tried with "{sample}"'
    return problem.model_copy(update={"severity": "warning", "message": message})


def _is_about_columns(error: Exception) -> bool:
    cause = error.__cause__ if isinstance(error, AtNode) else error
    return isinstance(cause, NodeError) and cause.field.startswith("columns")


def schema_plan(
    document: DagDocument,
    steps: tuple[Step, ...],
    connections: Mapping[str, ConnectionSettings],
    limits: Limits,
    values: Mapping[str, Any],
    job_uid: str = "",
) -> Plan:
    """A Plan to look at frames with, never to be run: it has no folders and no generation."""
    nowhere = Path("/nonexistent")
    return Plan(
        job_name=document.name,
        job_type=document.type,
        job_uid=job_uid,
        generation="",
        attempt=0,
        fresh=True,
        steps=steps,
        settings=Settings(time_zone=document.settings.time_zone or "UTC", state_store=document.settings.state_store or "rocksdb"),
        locations=Locations(live=nowhere, work=nowhere),
        limits=limits,
        connections=connections,
        parameters=values,
    )


def _schema(frame: DataFrame) -> Schema:
    return [{"name": one.name, "type": one.dataType.simpleString(), "nullable": one.nullable} for one in frame.schema.fields]
