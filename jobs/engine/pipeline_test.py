"""Runs one test of a document: its sources give the test's rows, what would reach a sink is compared, no system is touched."""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from jobs.dag.beside import part_read
from jobs.dag.document import DagDocument
from jobs.dag.graph import structure_problems, topological_order
from jobs.dag.parameters import trial_values
from jobs.dag.pipeline_test_problems import pipeline_test_problems, problems_of_test
from jobs.dag.pipeline_tests import PipelineTest, Rows, outlet_parts
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem, errors_in
from jobs.engine.code_prints import CodePrints
from jobs.engine.compiler import PlanInvalid, plan_compile, settings_resolve, step_compile
from jobs.engine.error_texts import first_sentence
from jobs.engine.failure import ExecutionFailure
from jobs.engine.given_rows import GivenTable, given_table, table_write, typed_rows
from jobs.engine.pipeline_test_end import Patience, Stopped, hold
from jobs.engine.plan import Locations, Plan, Step
from jobs.engine.row_differences import ComparedRow, RowDifferences, row_differences
from jobs.engine.runner import Run
from jobs.engine.steps import Steps
from jobs.engine.trial_clock import timed
from jobs.engine.trial_document import Trial, trial_of
from jobs.engine.trial_nodes import TRIAL_REGISTRY, kept_rows
from jobs.engine.typed_values import Misfit, comparable, typed
from jobs.engine.user_code import steps_of_code
from jobs.engine.validation import analyse, schema_plan
from jobs.nodes.base import Config, Flow, Limits, NodeError
from jobs.nodes.registry import REGISTRY

logger = logging.getLogger(__name__)

#: What one test may take.
MOST_SECONDS = 60.0
#: Of what Python prints in one test: all tests of a job are told at once.
_MOST_PRINTED = 16_000
_END_SECONDS = 10.0
_POLL_SECONDS = 0.2
_LEFT_BEHIND_SECONDS = 3600.0

Status = Literal["passed", "failed", "error"]


@dataclass(frozen=True)
class OutletResult:
    """What came out at one outlet beside what was expected there. `columns`: those that were compared. `rows`: all that came; a test that
    expects them passes."""

    outlet: str
    columns: list[str]
    differences: RowDifferences
    rows: Rows = field(default_factory=list)


@dataclass(frozen=True)
class PipelineTestResult:
    """`error`: the test could not be run to its end; `message` says why, `problems` where in the document.

    `printed`: [{"node_id", "text"}], what Python printed at the nodes, the first 16,000 characters of it.
    """

    name: str
    status: Status
    seconds: float
    message: str = ""
    node_id: str = ""
    problems: list[Problem] = field(default_factory=list)
    outlets: list[OutletResult] = field(default_factory=list)
    printed: list[dict[str, str]] = field(default_factory=list)
    #: It could not be ended, and goes on in this process.
    hanging: bool = False


def pipeline_test_run(
    spark: SparkSession,
    document: DagDocument,
    number: int,
    *,
    folder: Path,
    owner: str = "",
    seconds: float = MOST_SECONDS,
    code_seconds: float | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> PipelineTestResult:
    """Run the test with this number in `document`. Never raises for what the document or its rows do.

    A bounded job runs as one batch; a stream runs as one, each list of given rows one micro-batch, with a checkpoint below `folder`
    that is removed. It ends after `seconds`, or soon after `cancelled` says so. A person's code runs in Python workers that serve the
    tests of `owner` alone, and has `code_seconds` in each of its tasks.
    """
    test = document.tests[number]
    begun, prints = time.monotonic(), CodePrints(_MOST_PRINTED, elsewhere="pipeline.test")

    def ended(status: Status, message: str = "", **found: Any) -> PipelineTestResult:
        return PipelineTestResult(test.name, status, time.monotonic() - begun, message, printed=prints.found(), **found)

    if seconds <= 0:
        return ended("error", "there was no time left for it: run fewer tests at once")
    try:
        outlets = _run(spark, document, number, folder, owner, Patience(begun + seconds, cancelled, code_seconds), prints)
    except Stopped as stopped:
        return ended("error", stopped.message, node_id=stopped.node_id, problems=stopped.problems, hanging=stopped.hanging)
    except Exception as error:  # the other tests' results are told all the same
        logger.exception('the test "%s"', test.name)
        return ended("error", first_sentence(error))
    return ended("passed" if all(outlet.differences.none for outlet in outlets) else "failed", outlets=outlets)


def _run(
    spark: SparkSession, document: DagDocument, number: int, folder: Path, owner: str, patience: Patience, prints: CodePrints
) -> list[OutletResult]:
    test = document.tests[number]
    hold(problems_of_test(pipeline_test_problems(document, REGISTRY.catalogue()), number))
    part = part_read(document, [outlet_parts(outlet)[0] for outlet in test.expect], REGISTRY.catalogue())
    found = errors_in(structure_problems(part, REGISTRY.catalogue()))
    hold([problem for problem in found if not problem.code.startswith("graph.")])
    values, wrong = trial_values(document, test.parameters)
    hold(wrong)
    session, zone = spark.newSession(), ZoneInfo(document.settings.time_zone or "UTC")
    tables = _tables(session, part, test, number, values, zone)
    folder.mkdir(parents=True, exist_ok=True)
    _left_behind_remove(folder)
    with tempfile.TemporaryDirectory(prefix="test-", dir=folder, ignore_cleanup_errors=True) as name:
        place = Path(name)
        trial = trial_of(part, test, {source: table.schema for source, table in tables.items()}, place)
        plan = replace(_plan(trial, document, values, place, owner), code_seconds=patience.code_seconds)
        by_clock = timed(document, test, tables)
        for source, table in by_clock.tables.items():
            table_write(session, table, trial.given[source], one_batch=part.type != "STREAMING", look=patience.look)
        plan = replace(plan, clock=by_clock.times) if by_clock.times else _unclocked_plan(plan)
        _bring_forth(spark, plan, trial, patience, prints)
        return [_compared(test, number, outlet, kept, zone) for outlet, kept in trial.kept.items()]


def _left_behind_remove(folder: Path) -> None:
    """What tests left whose process was killed."""
    for place in folder.glob("test-*"):
        with suppress(FileNotFoundError):
            if time.time() - place.stat().st_mtime > _LEFT_BEHIND_SECONDS:
                shutil.rmtree(place, ignore_errors=True)


def _tables(
    session: SparkSession, part: DagDocument, test: PipelineTest, number: int, values: Mapping[str, Any], zone: ZoneInfo
) -> dict[str, GivenTable]:
    order = [node_id for node_id in topological_order(part) if node_id in test.given]
    try:
        compiled = tuple(step_compile(part, node_id, values, REGISTRY) for node_id in order)
    except PlanInvalid as error:
        raise Stopped("the job has problems", error.problems) from None
    steps = Steps(schema_plan(part, compiled, {}, Limits(), values))
    tables: dict[str, GivenTable] = {}
    problems: list[Problem] = []
    for source in order:
        table, wrong = given_table(session, steps, test, number, source, zone)
        problems += wrong
        if table is not None:
            tables[source] = table
    hold(problems, "rows that are given do not fit their columns")
    return tables


def _plan(trial: Trial, document: DagDocument, values: Mapping[str, Any], place: Path, owner: str) -> Plan:
    """One partition keeps rows in their order; what reads a port in the whole job counts as reading it here too.

    The tests of an owner are one job to Spark, which keeps Python workers of their own for each job that has a person's code.
    """
    try:
        plan = plan_compile(
            trial.document,
            job_uid=str(uuid.uuid5(uuid.NAMESPACE_OID, f"tests of {owner}")),
            generation=str(uuid.uuid4()),
            attempt=1,
            fresh=True,
            parameters=values,
            settings=replace(settings_resolve(document, {}), parallelism=1),
            connections={},
            locations=Locations(live=place / "live", work=place / "work"),
            limits=Limits(data_dir=place),
            registry=TRIAL_REGISTRY,
        )
    except PlanInvalid as error:
        raise Stopped("the job has problems", error.problems) from None
    used = {edge.source for edge in document.edges.values()}
    steps = (
        replace(step, outputs_used=step.outputs_used | {port for node_id, port in used if node_id == step.node_id}) for step in plan.steps
    )
    return replace(plan, steps=tuple(steps), until_drained=True)


def _unclocked_plan(plan: Plan) -> Plan:
    if plan.job_type != "STREAMING":
        return plan
    return replace(plan, steps=tuple(replace(step, config=_unclocked(step)) for step in plan.steps))


def _unclocked(step: Step) -> Config:
    node_type = TRIAL_REGISTRY.get(step.type)
    if node_type is None or not issubclass(node_type, Flow):
        return step.config
    try:
        config: Config = node_type().without_clock(step.config)
    except NodeError as error:
        raise Stopped(error.message, node_id=step.node_id) from None
    return config


def _bring_forth(spark: SparkSession, plan: Plan, trial: Trial, patience: Patience, prints: CodePrints) -> None:
    """Run the plan to its end, so that its outlets are filled."""
    run = Run(spark, plan, lambda event: None, registry=TRIAL_REGISTRY, log=prints.logger())
    run.start()
    try:
        while run.wait(_POLL_SECONDS) is None:
            if why := patience.over(has_code=bool(steps_of_code(plan.steps, TRIAL_REGISTRY))):
                raise Stopped(why, hanging=not _ended(run))
    except ExecutionFailure as failure:
        found = analyse(spark, trial.document, connections={}, limits=plan.limits, parameters=plan.parameters, registry=TRIAL_REGISTRY)
        node_id = trial.beside.get(failure.node_id, failure.node_id)
        raise Stopped(failure.message, errors_in(found.problems), node_id) from None


def _ended(run: Run) -> bool:
    """Whether it ended when it was told to."""
    run.interrupt()
    try:
        return run.wait(_END_SECONDS) is not None and not run.hanging
    except ExecutionFailure:
        return not run.hanging


def _compared(test: PipelineTest, number: int, outlet: str, kept: Path, zone: ZoneInfo) -> OutletResult:
    schema, rows = kept_rows(kept)
    expected = test.expect[outlet]
    columns = [name for name in schema.names if not test.only_columns or any(name in row for row in expected)]
    of = f'"{test.name}": {outlet}'
    values, misfits = typed_rows(expected, schema, zone, prefix=("tests", number, "expect", outlet), of=of)
    hold(misfits, "rows that are expected do not fit the columns that come out")
    actual = _came_out(rows, schema, columns, number, outlet, zone)
    places = [schema.names.index(name) for name in columns]
    wanted = [tuple(own[place] for place in places) for own in values]
    differences = row_differences(_comparable(expected, wanted, columns), _comparable(rows, actual, columns), columns, ordered=test.ordered)
    return OutletResult(outlet, columns, differences, rows)


def _came_out(rows: Rows, schema: StructType, columns: Sequence[str], number: int, outlet: str, zone: ZoneInfo) -> list[tuple[Any, ...]]:
    """The values of `columns` in each row. Some of Spark's have no place in JSON or in Python, such as intervals and far years."""

    def value(row: Mapping[str, Any], name: str) -> Any:
        kind = schema[name].dataType
        try:
            return typed(row.get(name), kind, zone)
        except Misfit:
            message = f"the column {name} of {outlet} is {kind.simpleString()}, and what comes out cannot be compared: make it text before"
            pointer = pointer_of(("tests", number, "expect", outlet))
            raise Stopped(message, [Problem(code="test.incomparable", pointer=pointer, message=message)]) from None

    return [tuple(value(row, name) for name in columns) for row in rows]


def _comparable(rows: Rows, values: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> list[ComparedRow]:
    """`values`: those of `columns` in each row."""
    return [
        ComparedRow(
            {name: _shown(row.get(name), one) for name, one in zip(columns, own, strict=True)}, tuple(comparable(one) for one in own)
        )
        for row, own in zip(rows, values, strict=True)
    ]


def _shown(value: Any, own: Any) -> Any:
    """`value` as it is told; times all alike, so that those that are equal look it, whatever zone they were written in."""
    return own.isoformat().replace("+00:00", "Z") if isinstance(own, date) else value


def result_data(result: PipelineTestResult, *, rows: bool = False) -> dict[str, Any]:
    """The result as JSON data; all that came out with it if `rows`."""
    shown = result if rows else replace(result, outlets=[replace(outlet, rows=[]) for outlet in result.outlets])
    data = {**asdict(shown), "problems": [problem.model_dump() for problem in result.problems]}
    return {key: value for key, value in data.items() if key != "hanging"}
