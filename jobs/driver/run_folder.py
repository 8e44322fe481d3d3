"""The folder in which `run_job --live` keeps a position: what was run there, and whether a document may go on from it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from jobs.dag.document import DagDocument, document_data, parse_document
from jobs.dag.problems import Problem
from jobs.dag.resolved import with_defaults
from jobs.engine.change_words import Change
from jobs.engine.compiler import PlanInvalid, settings_resolve
from jobs.engine.graph_changes import changes_classify
from jobs.engine.graph_shape import GraphShape, graph_shape
from jobs.nodes.durable_text import text_place
from jobs.nodes.registry import REGISTRY

_FILE = "run_job.json"


@dataclass(frozen=True)
class KeptRun:
    """`sources`: all that were read in this generation. Folders were made that do not know the document: any of its name goes on there."""

    job: str
    generation: str
    document: Mapping[str, Any] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    sources: Sequence[str] = ()
    is_completed: bool = False


def run_to_keep(root: Path, document: DagDocument, parameters: Mapping[str, Any]) -> tuple[KeptRun, Sequence[Change]]:
    """What is to be run, and what people should know where it goes on from what was run there. PlanInvalid where it cannot."""
    after = _shape(document, parameters)
    full = document_data(with_defaults(document, REGISTRY.catalogue()))
    now = KeptRun(document.name, str(uuid.uuid4()), full, dict(parameters), sorted(after.steps.sources))
    file = root / _FILE
    if not file.is_file():
        return now, ()
    kept = KeptRun(**json.loads(file.read_text(encoding="utf-8")))
    if kept.job != document.name:
        raise PlanInvalid([_refusal(root, f'belongs to "{kept.job}"')])
    going_on = replace(now, generation=kept.generation, sources=sorted({*now.sources, *kept.sources}))
    if kept.document is None:
        return going_on, ()
    is_same = (kept.document, kept.parameters) == (now.document, now.parameters)
    before = after if is_same else _shape_before(root, kept)
    if before.is_whole and after.is_whole and kept.is_completed:
        return now, ()  # what reads everything at once has no position, and in the same generation its sinks know the batch already
    return going_on, () if is_same else _changes(root, kept, before, after)


def run_keep(root: Path, run: KeptRun) -> None:
    root.mkdir(parents=True, exist_ok=True)
    text_place(root / _FILE, json.dumps(asdict(run)))


def _changes(root: Path, kept: KeptRun, before: GraphShape, after: GraphShape) -> Sequence[Change]:
    found = changes_classify(before, after, read_earlier=kept.sources)
    if obstacles := found.obstacles():
        raise PlanInvalid([*(change.problem for change in obstacles), _refusal(root, "was made by another drawing")])
    if not found.in_place:
        raise PlanInvalid([_refusal(root, "belongs to the sinks that were written with it, and there are others now")])
    return found.warnings


def _shape(document: DagDocument, parameters: Mapping[str, Any]) -> GraphShape:
    return graph_shape(document, parameters=parameters, settings=settings_resolve(document, {}))


def _shape_before(root: Path, kept: KeptRun) -> GraphShape:
    document, problems = parse_document(kept.document or {})
    try:
        if document is not None:
            return _shape(document, kept.parameters)
    except PlanInvalid as error:
        problems = error.problems
    raise PlanInvalid([_refusal(root, "was made by a drawing that can no longer be read"), *problems])


def _refusal(root: Path, why: str) -> Problem:
    message = f"the position in {root} {why}: go on with the document that made it, or name another folder"
    return Problem(code="start.changed", message=message)
