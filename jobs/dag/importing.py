"""Import of a job from JSON, YAML or the linear shorthand, ready to become a draft."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.dag.catalogue import Catalogue
from jobs.dag.graph import check_document
from jobs.dag.problems import Problem
from jobs.dag.proposals import ProposedConnection
from jobs.dag.reading import read_json
from jobs.dag.reading_yaml import read_yaml
from jobs.dag.shorthand import is_shorthand, rewrite


@dataclass(frozen=True)
class Imported:
    """`document` is the data of a DagDocument, perhaps with Problems, or None if there was nothing to make one of.

    `connections` are systems the text named by address: create them (their secrets are asked for), and the nodes find them by name.
    """

    document: dict[str, Any] | None
    problems: list[Problem] = field(default_factory=list)
    connections: list[ProposedConnection] = field(default_factory=list)


def import_document(raw: bytes | str, catalogue: Catalogue) -> Imported:
    """Read `raw`; never raises. A shorthand is rewritten to nodes `source`, `step_1` …, `sink`.

    What the rewriting itself found on a node (a function that does not exist, say) stands for that node: its other Problems wait
    until that is mended.
    """
    data, problems = _read(raw)
    if problems:
        return Imported(None, problems)
    if not isinstance(data, Mapping):
        return Imported(None, [Problem(code="document.invalid", message="a job is an object with name, type, nodes and edges")])
    if not is_shorthand(data):
        return Imported(dict(data), check_document(data, catalogue)[1])
    rewritten = rewrite(data, catalogue)
    told = {problem.node_id for problem in rewritten.problems if problem.severity == "error" and problem.node_id}
    further = [problem for problem in check_document(rewritten.document, catalogue)[1] if problem.node_id not in told]
    return Imported(rewritten.document, [*rewritten.problems, *further], rewritten.connections)


def _read(raw: bytes | str) -> tuple[Any, list[Problem]]:
    """Text that begins like a JSON object is taken for JSON, so that its faults are told as JSON's; all else is YAML."""
    start = raw[:1000].decode("utf-8", "replace") if isinstance(raw, bytes) else raw[:1000]
    return read_json(raw) if start.lstrip("\ufeff \t\r\n").startswith("{") else read_yaml(raw)
