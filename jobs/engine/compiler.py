"""From a document to a frozen Plan: parameters, configs, connections and settings resolved once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from jobs.dag.document import DURATIONS, DagDocument, Node
from jobs.dag.durations import duration_seconds
from jobs.dag.graph import structure_problems, topological_order
from jobs.dag.parameters import config_filled, references, resolve_parameters
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem, errors_in
from jobs.engine.plan import Locations, Plan, Settings, Step
from jobs.nodes.base import Config, ConnectionSettings, Limits, NodeType
from jobs.nodes.config_problems import config_problem, no_texts
from jobs.nodes.form import sql_fields
from jobs.nodes.registry import REGISTRY, NodeRegistry


class PlanInvalid(Exception):
    """The document cannot run as it stands: `problems` say where and why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("; ".join(problem.message for problem in problems))
        self.problems = problems


def plan_compile(
    document: DagDocument,
    *,
    job_uid: str,
    generation: str,
    attempt: int,
    fresh: bool,
    parameters: Mapping[str, Any],
    settings: Settings,
    connections: Mapping[str, ConnectionSettings],
    locations: Locations,
    limits: Limits,
    registry: NodeRegistry = REGISTRY,
    is_run: bool = False,
) -> Plan:
    """The Plan of `document` with everything filled in. PlanInvalid with every problem if anything stands in the way.

    `is_run`: of an execution, whose nodes act on other systems and wait; in tests, previews and scripts they do not.
    """
    values, problems = resolve_parameters(document, parameters)
    problems = [*structure_problems(document, registry.catalogue()), *problems]
    if errors_in(problems):
        raise PlanInvalid(errors_in(problems))
    steps = tuple(step_compile(document, node_id, values, registry) for node_id in topological_order(document))
    return Plan(
        job_name=document.name,
        job_type=document.type,
        job_uid=job_uid,
        generation=generation,
        attempt=attempt,
        fresh=fresh,
        steps=steps,
        settings=settings,
        locations=locations,
        limits=limits,
        connections=connections,
        parameters=values,
        is_run=is_run,
    )


def step_compile(document: DagDocument, node_id: str, parameters: Mapping[str, Any], registry: NodeRegistry) -> Step:
    """The Step of one node. PlanInvalid if its type is missing or its config does not hold with these parameters."""
    node = document.nodes[node_id]
    node_type = registry.get(node.type)
    if node_type is None:
        message = f'"{node.name}": the node type "{node.type}" does not exist here'
        raise PlanInvalid([Problem(code="node.unknown_type", node_id=node_id, pointer=f"/nodes/{node_id}/type", message=message)])
    try:
        config = step_config(node_type, node.config, parameters)
    except ValidationError as error:
        raise PlanInvalid(
            [_config_problem(node_id, node.name, node_type.Config, fault) for fault in error.errors(include_url=False)]
        ) from None
    arriving = [(edge_id, edge) for edge_id, edge in document.edges.items() if edge.target[0] == node_id]
    ports = dict.fromkeys(edge.target[1] for _, edge in arriving)
    return Step(
        node_id=node_id,
        name=node.name,
        type=node.type,
        config=config,
        inputs={port: tuple(edge.source for _, edge in arriving if edge.target[1] == port) for port in ports},
        edges={port: tuple(edge_id for edge_id, edge in arriving if edge.target[1] == port) for port in ports},
        outputs_used=frozenset(edge.source[1] for edge in document.edges.values() if edge.source[0] == node_id),
    )


def step_config(node_type: type[NodeType[Any]], written: Mapping[str, Any], parameters: Mapping[str, Any]) -> Config:
    """The config of a node with its parameters filled in; ValidationError where it does not hold with them."""
    model = node_type.Config
    filled = config_filled(
        written, parameters, model.verbatim, node_type.own_places.keys(), sql_fields(model), no_texts=partial(no_texts, model)
    )
    return model.model_validate(filled)


def filled_problems(document: DagDocument, parameters: Mapping[str, Any], registry: NodeRegistry = REGISTRY) -> list[Problem]:
    """What values of parameters break in the fields that hold them, each at its parameter. Other faults are told when the job runs."""
    problems: list[Problem] = []
    for node_id, node in document.nodes.items():
        held = parameters_held(node_id, node, parameters, registry)
        if not held:
            continue
        try:
            step_compile(document, node_id, parameters, registry)
        except PlanInvalid as error:
            problems += [
                problem.model_copy(update={"code": "parameter.invalid", "pointer": pointer_of(("parameters", held[problem.pointer]))})
                for problem in error.problems
                if problem.pointer in held
            ]
    return problems


def parameters_held(node_id: str, node: Node, parameters: Mapping[str, Any], registry: NodeRegistry) -> dict[str, str]:
    """The pointer of each field of a node that a parameter fills → the parameter's name."""
    node_type = registry.get(node.type)
    return {
        pointer_of(("nodes", node_id, "config", *path)): name
        for path, name in references(node.config)
        if node_type is not None and name in parameters and path[0] not in node_type.Config.verbatim
    }


def _config_problem(node_id: str, name: str, model: type[BaseModel], fault: ErrorDetails) -> Problem:
    problem = config_problem(model, fault)
    pointer = f"/nodes/{node_id}/config{problem.pointer}"
    return Problem(code=problem.code, node_id=node_id, pointer=pointer, message=f'"{name}": {problem.message}')


def _seconds(milliseconds: str) -> float:
    return int(milliseconds) / 1000


#: Config keys of a job with a meaning here (times in milliseconds) and what they set.
_OVERRIDES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    "parallelism": ("parallelism", lambda text: max(1, int(text))),
    "checkpoint.interval": ("checkpoint_interval", _seconds),
    "checkpoint.rows": ("checkpoint_rows", int),
    "checkpoint.each.page": ("checkpoint_each_page", lambda text: text == "true"),
    "checkpoint.timeout": ("checkpoint_timeout", _seconds),
    "checkpoint.min.pause": ("checkpoint_min_pause", _seconds),
    "checkpoint.tolerable.failures": ("checkpoint_tolerable_failures", int),
    "checkpoint.storage": ("checkpoint_storage", str.lower),
    "checkpoint.on.cancel": ("checkpoint_on_cancel", str.lower),
    "checkpoint.on.completion": ("checkpoint_on_completion", str.lower),
    "trigger.interval": ("trigger_interval", _seconds),
    "max.retry.times": ("max_retry_times", lambda text: max(0, int(text))),
    "retry.interval": ("retry_interval", _seconds),
}


def settings_resolve(document: DagDocument, overrides: Mapping[str, str], defaults: Settings | None = None) -> Settings:
    """The job's config over the document's settings over the installation's `defaults`.

    Unknown keys are left to others. ValueError, naming the key, where a value cannot be read.
    """
    settings = defaults or Settings()
    names = {field.name for field in fields(Settings)}
    written = {key: value for key, value in document.settings.model_dump(exclude_none=True).items() if key in names}
    written |= {key: duration_seconds(value) for key, value in written.items() if key in DURATIONS}
    settings = replace(settings, **written)
    for key, (field, convert) in _OVERRIDES.items():
        if key in overrides:
            try:
                settings = replace(settings, **{field: convert(overrides[key])})
            except ValueError:
                raise ValueError(f'the config "{key}" must be a whole number, not "{overrides[key]}"') from None
    return settings
