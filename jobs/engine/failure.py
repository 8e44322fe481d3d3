"""What an execution died of: the true cause out of Spark's chain, in one sentence, on its node."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import traceback
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any, Literal

from pyspark.errors import AnalysisException, PySparkException

from jobs.engine.analysis_problems import explained, happened_in
from jobs.engine.error_texts import first_sentence, links_of, texts_of
from jobs.engine.file_words import about_a_file, about_a_header, is_of_spark, missing_file, unopened_file
from jobs.engine.plan import Plan, Step
from jobs.engine.user_code import steps_of_code, worker_death
from jobs.nodes.base import NodeError, SinkFenced
from jobs.nodes.expressions import ExpressionRefused
from jobs.nodes.going_on import START_AND_GO_ON
from jobs.nodes.node_error import Outage
from jobs.nodes.registry import REGISTRY
from jobs.nodes.worker_errors import node_error_in

Kind = Literal["user", "external", "system"]

#: Stands before the reason of a row that a job with the policy "fail" refuses; followed by the node id and a space.
REJECTED_MARK = "pipeline_rejected_row:"


_LEAST_FREE = 16 * 1024 * 1024


class ExecutionFailure(Exception):
    """Why an attempt ended. `permanent`: another attempt would end the same way. `fenced`: a newer attempt took over.

    `outage`: for want of another system, which may be away, or refuse the sign-in, for long.
    """

    def __init__(
        self,
        message: str,
        *,
        node_id: str = "",
        kind: Kind = "system",
        permanent: bool = False,
        stack_trace: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.node_id = node_id
        self.kind: Kind = kind
        self.permanent = permanent
        self.stack_trace = stack_trace
        self.fenced = False
        self.outage: Outage = ""

    @classmethod
    def told(cls, error: NodeError, message: str, node_id: str, trace: str) -> ExecutionFailure:
        """Of what a node says, as `message`."""
        told = cls(message, node_id=node_id, kind=error.kind, permanent=error.permanent, stack_trace=trace)
        told.fenced, told.outage = isinstance(error, SinkFenced), error.outage
        return told


class StopRequested(Exception):
    """Raised inside a batch that must not run because the execution is stopping. Never a failure."""


class AtNode(Exception):
    """Carries the node at whose verb the cause was raised."""

    def __init__(self, node_id: str, cause: BaseException) -> None:
        super().__init__(f"{node_id}: {cause}")
        self.node_id = node_id
        self.__cause__ = cause


def failure_of(error: BaseException, plan: Plan, away: Set[str] = frozenset()) -> ExecutionFailure:
    """`error` as the execution's failure. Total: whatever comes in, a sentence comes out. `away`: nodes whose systems do not answer."""
    if isinstance(error, ExecutionFailure):
        return error
    trace = "".join(traceback.format_exception(error))
    acting = next((link.node_id for link in links_of(error) if isinstance(link, AtNode)), "")
    cause = next((link for link in links_of(error) if isinstance(link, NodeError)), None)
    if cause is not None:
        return ExecutionFailure.told(cause, _at(plan, acting, _words_of(cause)), acting, trace)
    if told := told_by_node(error, plan, acting, away):
        node_id, words = told
        return ExecutionFailure.told(words, _at(plan, node_id, words.message), node_id, trace)
    return _known("\n".join(texts_of(error)), plan, acting, trace) or _unknown(error, plan, acting, trace)


def _words_of(error: NodeError) -> str:
    """A node's own; of an expression that Spark refuses those that the editor says of it."""
    if isinstance(error, ExpressionRefused) and error.__cause__:
        return f"{error.place}: {explained(error.__cause__, error.columns)[1]}"
    return error.message


def told_by_node(error: BaseException, plan: Plan, acting: str, away: Set[str] = frozenset()) -> tuple[str, NodeError] | None:
    """A node and its words for `error`, which Spark handed over; None where no node knows it.

    The acting node knows what its own system says, and so do the sources, whose rows Spark reads while a sink writes them.

    Of several, the one whose topic or table the text names, then one whose system is known to be `away`, then the acting one.
    """
    text = "\n".join(texts_of(error))
    sources = [step for step in plan.steps if not step.inputs and step.node_id != acting]
    told: list[tuple[bool, bool, str, NodeError]] = []
    for step in [*(step for step in plan.steps if step.node_id == acting), *sources]:
        node_type = REGISTRY.get(step.type)
        words = node_type.failure_words(text, str(getattr(step.config, "connection", ""))) if node_type else None
        if node_type and words is not None:
            told.append((node_type.failure_names(text, step.config), step.node_id in away, step.node_id, words))
    if not told:
        return None
    *_, node_id, words = max(told, key=lambda one: one[:2])  # the first of those that are alike
    return node_id, words


def _known(text: str, plan: Plan, acting: str, trace: str) -> ExecutionFailure | None:
    """Causes that are told by their text, because that is all Spark hands over."""
    if match := re.search(rf"{REJECTED_MARK}(\w+) ([^\n]*)", text):
        reason = match[2].split(" SQLSTATE")[0].strip()
        sentence = f"a row was rejected: {reason}; mend the data, connect the errors port, or let the job drop or keep rejected rows"
        return ExecutionFailure(_at(plan, match[1], sentence), node_id=match[1], kind="user", permanent=True, stack_trace=trace)
    if "No space left on device" in text or "Disk quota exceeded" in text:
        return ExecutionFailure(
            _at(plan, acting, f"the disk is full{_full_places(plan)}; free some space{START_AND_GO_ON}"),
            node_id=acting,
            kind="external",
            stack_trace=trace,
        )
    if sentence := about_a_header(text):
        node_id = _source_of(text, plan) or acting
        return ExecutionFailure(_at(plan, node_id, sentence), node_id=node_id, kind="user", permanent=True, stack_trace=trace)
    if failure := _about_files(text, plan, acting, trace):
        return failure
    if carried := node_error_in(text):
        # What a person's own job says needs no lines of ours or of Spark's below it.
        shown = "" if carried.error.kind == "user" else trace
        return ExecutionFailure.told(carried.error, _at(plan, carried.node_id, carried.error.message), carried.node_id, shown)
    if died := worker_death(text, steps_of_code(plan.steps)):
        return ExecutionFailure(_at(plan, died[0], died[1].message), node_id=died[0], kind=died[1].kind, stack_trace=trace)
    if "Python worker failed to connect back" in text:
        node_id = _source_of(text, plan) or acting
        sentence = "its Python worker did not start within ten seconds, because the machine is overloaded; free some processor time"
        return ExecutionFailure(_at(plan, node_id, sentence), node_id=node_id, kind="external", stack_trace=trace)
    if match := re.search(r"(?:NodeError|SinkFenced): ([^\n]+)", text):
        node_id = _source_of(text, plan) or acting
        return ExecutionFailure(_at(plan, node_id, match[1].strip()), node_id=node_id, kind="external", stack_trace=trace)
    return None


def _about_files(text: str, plan: Plan, acting: str, trace: str) -> ExecutionFailure | None:
    """A file is the source's where it lies below that one's own path; what we keep for ourselves nobody can put back."""
    kind: Kind = "external"
    if unopened := unopened_file(text):
        path, sentence = unopened
        node_id = _source_above(path, plan) or acting
    elif (path := missing_file(text)) and _is_own(path, plan):
        sentence = (
            f"the file {path}, which Pipeline Web keeps for itself, is gone; let nothing else remove files there, "
            "and restore a checkpoint if it happens again"
        )
        node_id, kind = "", "system"
    elif sentence := about_a_file(text):
        node_id = (_source_above(path, plan) if path else _source_of(text, plan)) or acting
    else:
        return None
    return ExecutionFailure(_at(plan, node_id, sentence), node_id=node_id, kind=kind, stack_trace=trace)


def _is_own(path: str, plan: Plan) -> bool:
    owns = (plan.locations.live, plan.locations.work)
    return is_of_spark(path) or any(Path(path).is_relative_to(os.path.realpath(own)) for own in owns)


def _source_above(path: str, plan: Plan) -> str:
    """The source below whose own path a file lies."""
    root = plan.limits.file_roots[0] if plan.limits.file_roots else Path("/")
    for step in plan.steps:
        owns = [str(getattr(one, "path", "")) for one in (step.config, *getattr(step.config, "inputs", ()))]
        if not step.inputs and path and any(own and Path(path).is_relative_to(os.path.realpath(root / own)) for own in owns):
            return step.node_id
    return ""


def _full_places(plan: Plan) -> str:
    """Those of our folders whose disk has next to nothing left, for the sentence."""
    folders = {plan.locations.live, plan.locations.work, plan.limits.data_dir, Path(tempfile.gettempdir()), *plan.limits.file_roots}
    existing = {next(place for place in (folder, *folder.parents) if place.exists()) for folder in folders if folder.is_absolute()}
    full = sorted(str(folder) for folder in existing if shutil.disk_usage(folder).free < _LEAST_FREE)
    return f" ({', '.join(full)})" if full else ""


def _unknown(error: BaseException, plan: Plan, acting: str, trace: str) -> ExecutionFailure:
    message = _analysed(error) or first_sentence(error)
    node_id, expression = _expression_of("\n".join(texts_of(error)), message, plan)
    node_id = node_id or acting
    told = happened_in(message, expression) if expression else message
    kind: Kind = "user" if _is_about_the_job(error) else "system"
    return ExecutionFailure(_at(plan, node_id, told), node_id=node_id, kind=kind, permanent=kind == "user", stack_trace=trace)


def _is_about_the_job(error: BaseException) -> bool:
    """Spark's error conditions of analysis, arithmetic and casting say that the job or its data is wrong, whenever it is tried."""
    states = ("22", "42")
    for link in links_of(error):
        if isinstance(link, PySparkException) and (link.getSqlState() or "").startswith(states):
            return True
    return any(re.search(r"SQLSTATE: (?:22|42)", text) for text in texts_of(error))


def _analysed(error: BaseException) -> str:
    """What Spark's analysis refuses, in the words of the editor's problems; empty for what happened to rows."""
    link = next((link for link in links_of(error) if isinstance(link, AnalysisException)), None)
    return explained(link, [])[1] if link is not None else ""


def _at(plan: Plan, node_id: str, message: str) -> str:
    step = next((step for step in plan.steps if step.node_id == node_id), None)
    return f'"{step.name}": {message}' if step else message


def _source_of(text: str, plan: Plan) -> str:
    """The source a message is about: the only one, or the one whose path or address it names."""
    sources = [step for step in plan.steps if not step.inputs]
    if len(sources) == 1:
        return sources[0].node_id
    named = [step.node_id for step in sources if any(len(value) > 3 and value in text for value in _words(step))]
    return named[0] if len(named) == 1 else ""


def _expression_of(text: str, message: str, plan: Plan) -> tuple[str, str]:
    """The node whose expression Spark quotes: below "== SQL", between quotes, or as the whole message (`raise_error`); and that
    expression, where the message does not hold it."""
    below = re.findall(r"== SQL[^\n]*==\n([^\n]+)\n", text)
    for quoted in [*below, *re.findall(r"'([^'\n]{4,})'", message), message]:
        bare = _bare(quoted)
        named = [step.node_id for step in plan.steps if len(bare) > 3 and any(bare in _bare(value) for value in _words(step))]
        if named:
            return named[0], quoted.strip() if quoted in below else ""
    return "", ""


def _bare(expression: str) -> str:
    """Spark writes brackets and spaces of its own around what it quotes."""
    return re.sub(r"[\s()`]+", "", expression).lower()


def _words(step: Step) -> Iterator[str]:
    def walk(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            for item in value.values():
                yield from walk(item)
        elif isinstance(value, list | tuple):
            for item in value:
                yield from walk(item)

    yield from walk(step.config.model_dump(mode="json"))
