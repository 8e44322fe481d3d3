"""Spark's own analysis of a document, asked of an interactive driver."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobs.dag.problems import Problem, errors_in
from jobs.models import Project
from jobs.queue import InteractiveFailed, InteractiveUnavailable, interactive_call
from jobs.selectors.awaited_tables import tables_awaited
from jobs.selectors.drivers import interactive_ready
from jobs.services.jobs import publishing_refused

_PUBLISH_SECONDS = 15.0


@dataclass(frozen=True)
class Analysed:
    """`problems`: all of the document. `schemas`: node id → port → columns, wherever Spark could tell."""

    problems: list[Problem]
    schemas: dict[str, Any]


def analysis(
    document: Mapping[str, Any], *, project: Project, parameters: Mapping[str, Any], seconds: float, question: str = ""
) -> Analysed:
    """InteractiveUnavailable when no driver answers within `seconds`, InteractiveFailed when it could not tell.

    `question`: a name under which it can be cancelled.
    """
    payload = {"document": document, "project_id": project.pk, "parameters": parameters}
    found = interactive_call("validate", payload, seconds, question=question)
    problems = [Problem.model_validate(item) for item in found.get("problems", [])]
    return Analysed(tables_awaited(problems, document, project), found.get("schemas", {}))


def analysis_check(document: Mapping[str, Any], *, project: Project) -> None:
    """Invalid when Spark refuses the document. Where no driver can be asked now, the start tells what this would have told."""
    if not interactive_ready():
        return
    content = {key: value for key, value in document.items() if key != "layout"}
    try:
        problems = analysis(content, project=project, parameters={}, seconds=_PUBLISH_SECONDS).problems
    except (InteractiveUnavailable, InteractiveFailed):
        return
    if errors_in(problems):
        raise publishing_refused(problems)
