"""The config of every node, checked by its type with the parameters filled in."""

from collections.abc import Mapping
from typing import Any

from jobs.dag.catalogue import Catalogue, NodeTypeSpec
from jobs.dag.document import DagDocument, Node
from jobs.dag.parameters import config_filled, example_values, references
from jobs.dag.pointers import parts_of, pointer_of
from jobs.dag.problems import Problem


def config_problems(document: DagDocument, catalogue: Catalogue) -> list[Problem]:
    """Wrong, missing and unknown fields, and uses of parameters that are not declared."""
    values = example_values(document)
    without_default = {name for name, parameter in document.parameters.items() if parameter.default is None}
    problems: list[Problem] = []
    for node_id, node in document.nodes.items():
        spec = catalogue.get(node.type)
        problems.extend(_unknown_parameters(node_id, node, values, spec))
        if spec is not None and spec.available:
            problems.extend(_config_problems(node_id, node, spec, values, without_default))
    return problems


def _unknown_parameters(node_id: str, node: Node, values: Mapping[str, Any], spec: NodeTypeSpec | None) -> list[Problem]:
    own_places = spec.own_places if spec is not None else {}
    return [
        Problem(
            code="parameter.unknown",
            node_id=node_id,
            pointer=pointer_of(("nodes", node_id, "config", *path)),
            message=f'"{node.name}" uses ${{{name}}}, but the job has no parameter "{name}": add it, or write $${{{name}}}',
        )
        for path, name in references(node.config)
        if name not in values and not _is_own(name, own_places.get(str(path[0]), frozenset()))
    ]


def _is_own(name: str, own: frozenset[str] | None) -> bool:
    return own is None or name in own


def _config_problems(node_id: str, node: Node, spec: NodeTypeSpec, values: Mapping[str, Any], without_default: set[str]) -> list[Problem]:
    """A field whose value is only known at the start is not blamed for the example value it was checked with, nor is what it is part of."""
    open_fields = {
        tuple(map(str, path)) for path, name in references(node.config) if name in without_default and path[0] not in spec.verbatim
    }
    found = spec.config_problems(config_filled(node.config, values, spec.verbatim, spec.own_places.keys(), spec.sql, spec.no_texts))
    return [
        problem.model_copy(update={"node_id": node_id, "pointer": pointer_of(("nodes", node_id, "config")) + problem.pointer})
        for problem in found
        if tuple(parts_of(problem.pointer)) not in ({*open_fields, ()} if open_fields else ())
    ]
