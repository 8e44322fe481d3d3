"""A document as a plain PySpark script, which reads, does and writes what a run of it does."""

from __future__ import annotations

import builtins
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from jobs.dag.document import DagDocument
from jobs.dag.problems import Problem
from jobs.engine.analysis_problems import problem_of
from jobs.engine.clock import asks_for_time
from jobs.engine.compiler import plan_compile, settings_resolve
from jobs.engine.counts import NoCounter
from jobs.engine.failure import AtNode
from jobs.engine.frames import Frames
from jobs.engine.grouping import QueryPlan, frontier_port, query_folder, query_plans
from jobs.engine.plan import Locations
from jobs.engine.script.code import Call, Code, assignment, identifier, statement
from jobs.engine.script.layout import Section, script_text
from jobs.engine.script.recording import Recording, name_given, recorded
from jobs.engine.script.values import Unwritable
from jobs.engine.session import execution_session, session_enter
from jobs.engine.steps import Steps
from jobs.nodes.base import ConnectionSettings, Flow, Limits, NodeError
from jobs.nodes.columns import empty_frame
from jobs.nodes.formats import format_fault
from jobs.nodes.registry import REGISTRY, NodeRegistry

_IMPORT = ("import ", "from ")
#: Names that the script itself has, beside Python's own.
_OTHERS = ("spark", "rows", "batch_id", "queries", "avro", "closing", "database", "cursor", "numbered", *sys.stdlib_module_names)
_OTHERS += ("psycopg2", "pymysql", "pyspark", "jobs", "functions")


@dataclass(frozen=True)
class Script:
    """`text` is "" where `problems` tell which nodes have no counterpart in plain PySpark."""

    text: str = ""
    problems: list[Problem] = field(default_factory=list)


def script_write(
    spark: SparkSession,
    document: DagDocument,
    *,
    connections: Mapping[str, ConnectionSettings],
    limits: Limits,
    parameters: Mapping[str, Any],
    registry: NodeRegistry = REGISTRY,
) -> Script:
    """The script of `document` with these parameters. `connections`: with a `secret_stand_in` for each secret. PlanInvalid as for a run.

    Reads no rows and writes nothing; a source may look at a sample for its columns.
    """
    with TemporaryDirectory(prefix="pipeline-script-") as folder:
        plan = plan_compile(
            document,
            job_uid=document.name,
            generation="",
            attempt=0,
            fresh=True,
            parameters=parameters,
            settings=settings_resolve(document, {}),
            connections=connections,
            locations=Locations(live=Path(folder) / "live", work=Path(folder) / "work"),
            limits=limits,
            registry=registry,
        )
        plan = replace(plan, for_script=True, settings=replace(plan.settings, trigger="interval"))  # its sinks take batches
        steps = Steps(plan, registry)
        session = execution_session(spark, plan)
        session_enter(session, plan)
        try:
            if problems := _faults(steps):
                return Script(problems=problems)
            recording, sections = _sections(steps, session, {*dir(builtins), *_OTHERS})
        except AtNode as error:
            return Script(problems=[_problem(document, steps, error)])
        return Script(script_text(document, plan, sections, recording))


def _sections(steps: Steps, session: SparkSession, names: set[str]) -> tuple[Recording, list[Section]]:
    """Once more where what is taken along or imported for a later node is called as an earlier one."""
    with recorded(names) as recording:
        sections = _Writer(steps, session, recording).sections()
    needed = recording.names_needed()
    meeting = needed & (recording.names - names)
    return _sections(steps, session, names | needed) if meeting else (recording, sections)


def _faults(steps: Steps) -> list[Problem]:
    """What nodes say of themselves."""
    found = []
    for step in steps.plan.steps:
        context = steps.context(step.node_id, "batch")
        with _at(step.node_id):
            steps.types[step.node_id].check_connection(context)
            fault = steps.types[step.node_id].plain_fault(context) or format_fault(getattr(context.config, "format", ""))
            if fault := fault or _leads_on(steps, step.node_id):
                found.append(_impossible(step.node_id, step.name, fault))
    return found


def _leads_on(steps: Steps, node_id: str) -> str:
    if node_id in steps.sinks and steps.leads_errors_on(node_id):
        return "what it rejects goes on to other nodes, which the writers of Spark do not hand back"
    if steps.plan.job_type == "STREAMING" and steps.leads_late_on(node_id):
        return "what comes too late goes on to other nodes, which Spark does not hand back"
    return ""


@contextmanager
def _at(node_id: str) -> Iterator[None]:
    try:
        yield
    except (NodeError, Unwritable) as error:
        raise AtNode(node_id, error) from error


def _impossible(node_id: str, name: str, why: str) -> Problem:
    message = f'"{name}" cannot be written as plain PySpark: {why}'
    return Problem(code="script.impossible", node_id=node_id, pointer=f"/nodes/{node_id}", message=message)


def _problem(document: DagDocument, steps: Steps, error: AtNode) -> Problem:
    node_id, cause = error.node_id, error.__cause__ or error
    if isinstance(cause, Unwritable):
        return _impossible(node_id, document.nodes[node_id].name, f"it hands Spark {cause}")
    if isinstance(cause, NodeError) and node_id in steps.sinks:
        return _impossible(node_id, document.nodes[node_id].name, cause.message)
    node = document.nodes[node_id]
    return problem_of(cause, node_id, node, node.config, (), family=steps.types[node_id].family)


class _Writer:
    """Walks a plan as a run does, and keeps what was recorded on the way, a section for each node and query."""

    def __init__(self, steps: Steps, spark: SparkSession, recording: Recording) -> None:
        self._steps, self._spark, self._recording = steps, spark, recording
        self._started: list[str] = []
        self._kept: list[str] = []
        self._sections: list[Section] = []
        readers = Counter(arrow.source for arrow in steps.arrows)
        self._shared = {node_id for node_id, edges in readers.items() if edges > 1}

    def sections(self) -> list[Section]:
        if self._steps.plan.job_type == "STREAMING":
            for plan in query_plans(self._steps):
                self._query(plan)
            self._end("", [f"queries = [{', '.join(self._started)}]"])
        else:
            frames = Frames(self._steps, self._spark, NoCounter(), mode="batch", keep=self._batch_named)
            for sink in self._steps.sinks:
                frame = frames.into(sink)
                self._recording.lines.clear()
                with _at(sink):
                    code = self._recording.code_of(frame)
                name = self._sink(sink, frame)
                self._end("", [statement(Code(name, ()).then_called((code, Code("0"))))])
        return self._sections

    def _query(self, plan: QueryPlan) -> None:
        port = frontier_port(self._steps, plan)
        frames = Frames(self._steps, self._spark, NoCounter(), mode="stream", within=plan.streaming, keep=self._named)
        stream = frames.frontier(plan.frontier, port)
        with _at(plan.frontier):
            code = self._recording.code_of(stream)
        if self._recording.lines:
            code = self._recording.code_of(self._named(plan.frontier, stream))
        self._recording.session = "rows.sparkSession"
        given = name_given(empty_frame(self._spark, stream.schema), "rows")
        before, self._sections = self._sections, []
        behind = Frames(
            self._steps, self._spark, NoCounter(), mode="batch", given={plan.frontier: {port or "out": given}}, keep=self._timed_named
        )
        calls = []
        for sink in plan.sinks:
            frame = behind.into(sink)
            with _at(sink):
                arriving = self._recording.code_of(frame)
            if self._recording.lines:
                self._end("", [])
            calls.append((self._sink(sink, frame), arriving))
        self._recording.session = "spark"
        inner = [section for section in self._sections if not section.is_function]
        functions = [section for section in self._sections if section.is_function]
        self._sections = [*before, *functions]
        name = self._recording.free("write_" + query_folder(plan.key).replace("-", "_"))
        lines = [line for section in inner for line in section.commented()]
        lines += [statement(Code(writer).then_called((arriving, Code("batch_id")))) for writer, arriving in calls]
        if len(calls) > 1 or inner:
            lines = ["rows.persist()", *lines, *(f"{kept}.unpersist()" for kept in ("rows", *self._kept))]
            self._kept.clear()
        self._sections.append(Section("", lines, function=name))
        self._started.append(self._recording.free("query"))
        self._end("", [assignment(self._started[-1], self._query_started(code, plan, name))])

    def _query_started(self, stream: Code, plan: QueryPlan, writer: str) -> Code:
        calls = [
            Call("foreachBatch", (Code(writer),)),
            Call("outputMode", (Code(f'"{plan.output_mode}"'),)),
            Call("option", (Code('"checkpointLocation"'), Code(f'f"{{CHECKPOINTS}}/{query_folder(plan.key)}"'))),
            Call("trigger", (Code("**TRIGGER"),)),
            Call("start"),
        ]
        started = Code(f"{stream.text()}.writeStream") if not stream.calls else Code(f"({stream.text()}).writeStream")
        for call in calls:
            started = started.then(call)
        return started

    def _sink(self, sink: str, frame: DataFrame) -> str:
        """The name of the function that writes the rows of one batch."""
        rows = name_given(frame.toDF(*frame.columns), "rows")
        self._recording.lines.clear()
        try:
            written, text = self._steps.sink(sink).write_plainly(rows, self._steps.context(sink, "batch"))
            lines = [] if written is rows or not text else [assignment("rows", self._recording.code_of(written))]
        except Exception as error:
            raise AtNode(sink, error) from error
        self._recording.imports |= {line for line in text.splitlines() if line.startswith(_IMPORT)}
        lines += [*self._recording.lines, *(line for line in text.splitlines() if line and not line.startswith(_IMPORT))]
        self._recording.lines.clear()
        name = self._recording.free(f"write_{identifier(self._steps.by_id[sink].name, sink)}")
        self._sections.append(Section(self._steps.by_id[sink].name, lines, function=name))
        return name

    def _batch_named(self, node_id: str, frame: DataFrame) -> DataFrame:
        """Rows that are read more than once are computed once."""
        return self._named(node_id, frame, persisted=node_id in self._shared and node_id not in self._steps.sources)

    def _timed_named(self, node_id: str, frame: DataFrame) -> DataFrame:
        """Where several read rows that the time decides about, it is asked for once, as each sink would be told another."""
        timed = node_id in self._shared and asks_for_time(frame)
        named = self._named(node_id, frame, persisted=timed)
        if timed and (name := self._recording.code_of(named).text()) not in self._kept:
            self._kept.append(name)
        return named

    def _named(self, node_id: str, frame: DataFrame, *, persisted: bool = False) -> DataFrame:
        """What has to be computed once is kept; what acts on another system does so for all rows, whatever is read of them."""
        with _at(node_id):
            code = self._recording.code_of(frame)
        node_type = self._steps.types[node_id]
        once = isinstance(node_type, Flow) and node_type.computes_once and not frame.isStreaming
        name = self._recording.free(identifier(self._steps.by_id[node_id].name, node_id))
        lines = [assignment(name, code.then(Call("persist")) if persisted or once else code)]
        if once:
            self._kept.append(name)
            lines += [f"{name}.count()  # does it for all rows, before any goes on"] if self._steps.acts(node_id) else []
        self._end(self._steps.by_id[node_id].name, lines)
        named: DataFrame = name_given(frame, name)
        return named

    def _end(self, title: str, lines: list[str]) -> None:
        """A section of what was recorded, and `lines`."""
        self._sections.append(Section(title, [*self._recording.lines, *lines]))
        self._recording.lines.clear()
