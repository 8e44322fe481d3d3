"""Whether what a node type declares is what is shown of it: found out once, where it is loaded, for it may be another package's."""

from __future__ import annotations

from typing import get_args

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from jobs.dag.catalogue import NodeTypeSpec
from jobs.nodes.config_problems import config_problem
from jobs.nodes.guarantees import Guarantee
from jobs.nodes.node_context import Config
from jobs.nodes.plugins import Unfit

_SPEC = TypeAdapter(NodeTypeSpec)


def declared(spec: NodeTypeSpec) -> NodeTypeSpec:
    """`spec`, each field of the type it says. Unfit names the first that is not; a form that is no JSON is pydantic's own error."""
    to_json(spec.schema)
    try:
        return _SPEC.validate_python({**vars(spec), "ports": [getattr(port, "__dict__", port) for port in spec.ports]})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        raise Unfit(f"its {place} is {first['input']!r:.100}: {config_problem(Config, first).message}") from None


def guarantee_check(said: str) -> None:
    """Unfit where a class says of its rows what nobody knows the meaning of; "" is of who gives no guarantee of its own."""
    known = get_args(Guarantee)
    if said and said not in known:
        raise Unfit(f"its guarantee is {said!r:.100}: guarantee must be {', '.join(map(repr, known[:-1]))} or {known[-1]!r}")
