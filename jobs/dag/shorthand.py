"""The linear shorthand `{name, type, source, transform: […], sink, config}`, rewritten to nodes and edges."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

from jobs.dag.broker_addresses import propose_kafka, propose_rabbitmq
from jobs.dag.catalogue import Catalogue, NodeTypeSpec
from jobs.dag.document import DURATIONS
from jobs.dag.durations import duration_text
from jobs.dag.jdbc_addresses import propose_jdbc
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.proposals import Proposal, ProposedConnection, propose_http

_FLOW_ALIASES = {"map": "flow.compute_columns", "filter": "flow.filter_rows", "select": "flow.select_fields"}
_STEP_KEYS = {"type", "name", "config"}
#: `a.b(` – a method of a value. SQL has functions of values: no node could ever run it.
_METHOD_CALL = re.compile(r"(?<![A-Za-z0-9_.])((?:[A-Za-z_][A-Za-z0-9_]*\.)+[A-Za-z_][A-Za-z0-9_]*)\s*\(")
_QUOTED = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"")
#: The last word of a node's type → what makes a connection of its `url` and the user beside it.
Propose = Callable[[str, str], Proposal | None]
_PROPOSALS: Mapping[str, Propose] = {
    "http_api": propose_http,
    "jdbc": propose_jdbc,
    "kafka": propose_kafka,
    "rabbitmq": propose_rabbitmq,
    "rabbitmq_stream": propose_rabbitmq,
}
_SECRETS = ("password", "token", "api_key", "secret")
#: How an HTTP connection signs in with a secret that stands beside the address.
_SIGNS_IN_BY = {"password": "basic", "token": "bearer", "api_key": "api_key"}


@dataclass
class Rewritten:
    """The document's data, what was wrong on the way, and the connections it needs."""

    document: dict[str, Any]
    problems: list[Problem] = field(default_factory=list)
    connections: list[ProposedConnection] = field(default_factory=list)


def is_shorthand(data: Mapping[str, Any]) -> bool:
    """Whether `data` is written as one line from source to sink."""
    return "nodes" not in data and "edges" not in data and bool({"source", "sink", "transform"} & data.keys())


def rewrite(data: Mapping[str, Any], catalogue: Catalogue) -> Rewritten:
    """Never raises. What the shorthand does not know stays in the document, where checking it tells so."""
    result = Rewritten({key: value for key, value in data.items() if key not in ("source", "transform", "sink", "config")})
    result.document.setdefault("schema_version", 1)
    steps = data.get("transform", [])
    steps = steps if isinstance(steps, list) else [steps]
    placed = [("source", "source", data.get("source"))]
    placed += [(f"step_{number}", "flow", step) for number, step in enumerate(steps, start=1)]
    placed += [("sink", "sink", data.get("sink"))]
    nodes = {node_id: _node(result, catalogue, node_id, family, step) for node_id, family, step in placed if step is not None}
    result.document["nodes"] = _with_distinct_names(nodes)
    ids = list(nodes)
    result.document["edges"] = {
        f"e{number}": {"from": [source, "out"], "to": [target, "in"]} for number, (source, target) in enumerate(pairwise(ids), start=1)
    }
    _settle(result, data)
    return result


def _settle(result: Rewritten, data: Mapping[str, Any]) -> None:
    """`config` and `settings` are two names of one thing; YAML makes nothing of one that is left empty.

    What is no object goes in as it is: checking the document tells so.
    """
    written = [data[key] for key in ("settings", "config") if data.get(key) is not None]
    wrong = [config for config in written if not isinstance(config, Mapping)]
    settings: dict[str, Any] = {}
    for config in [] if wrong else written:
        for name, value in _settings(config).items():
            if settings.setdefault(name, value) != value:
                message = f'"{name}" stands in "settings" and in "config", and not with the same value: write it once'
                result.problems.append(Problem(code="settings.invalid", pointer=pointer_of(("settings", name)), message=message))
    result.document["settings"] = wrong[0] if wrong else settings


def _node(result: Rewritten, catalogue: Catalogue, node_id: str, family: str, step: Any) -> Any:
    """A step that is no object goes into the document as it is: checking the document tells so on this node."""
    if not isinstance(step, Mapping):
        return step
    config = step.get("config", {})
    if not isinstance(config, Mapping):
        return dict(step)
    inline = {key: value for key, value in step.items() if key not in _STEP_KEYS}
    config = {_snake(key): value for key, value in {**config, **inline}.items()}
    written = str(step.get("type", ""))
    node_type = _type_of(written, family, catalogue, config)
    node: dict[str, Any] = {"type": node_type, "name": _name(step, node_id, node_type, catalogue), "config": config}
    _shorten_lists(node["type"], config)
    _propose(result, node_id, catalogue.get(node_type), config, _PROPOSALS.get(node_type.rpartition(".")[2]))
    _report_functions(result, node_id, node)
    return node


def _type_of(written: str, family: str, catalogue: Catalogue, config: Mapping[str, Any]) -> str:
    if written in catalogue or "." in written or not written:
        return written
    if family == "flow" and written == "map" and "function" in config:
        return "flow.python"
    return _FLOW_ALIASES.get(written, f"flow.{written}") if family == "flow" else f"{family}.{written}"


def _name(step: Mapping[str, Any], node_id: str, node_type: str, catalogue: Catalogue) -> Any:
    if "name" in step:
        return step["name"]
    spec = catalogue.get(node_type)
    return str(step.get("function") or (spec.title if spec else node_id))[:200]


def _with_distinct_names(nodes: dict[str, Any]) -> dict[str, Any]:
    seen: set[Any] = set()
    for node_id, node in nodes.items():
        if isinstance(node, dict) and isinstance(node.get("name"), str):
            if node["name"] in seen:
                node["name"] = f"{node['name'][:180]} ({node_id})"
            seen.add(node["name"])
    return nodes


def _shorten_lists(node_type: str, config: dict[str, Any]) -> None:
    """`fields: [a, b]` and `columns: {total: a + b}` are the short ways to write two lists of objects."""
    fields = config.get("fields")
    if node_type == "flow.select_fields" and isinstance(fields, list):
        config["fields"] = [{"column": item} if isinstance(item, str) else item for item in fields]
    columns = config.get("columns")
    if node_type == "flow.compute_columns" and isinstance(columns, Mapping):
        config["columns"] = [{"name": name, "expression": expression} for name, expression in columns.items()]


def _propose(result: Rewritten, node_id: str, spec: NodeTypeSpec | None, config: dict[str, Any], propose: Propose | None) -> None:
    """`url` becomes a connection. Where it cannot, everything stays as it was written, and checking the document tells so."""
    url = config.get("url")
    proposal = propose(url, str(config.get("user", config.get("username", "")))) if propose and isinstance(url, str) else None
    if proposal is None:
        return
    kind = proposal.connection.kind
    if spec and spec.connection_kinds and kind not in spec.connection_kinds:
        taken = ", ".join(spec.connection_kinds)
        message = f'this address needs a connection of the kind "{kind}", which this node does not take: it takes {taken}'
        result.problems.append(_on_config("connection.unsupported", node_id, "url", message))
        return
    if kind == "http_api":
        proposal = replace(proposal, connection=_signing_in(proposal.connection, config))
    for name in ("url", "user", "username") if kind != "http_api" or proposal.connection.config.get("auth") == "basic" else ("url",):
        config.pop(name, None)
    config.update({name: value for name, value in proposal.node_config.items() if name != "topic" or not config.get(name)})
    _connect(result, node_id, config, proposal)


def _signing_in(proposed: ProposedConnection, config: Mapping[str, Any]) -> ProposedConnection:
    """With the way of signing in that the secrets beside the address are for, unless the address itself has one."""
    ways = [_SIGNS_IN_BY[name] for name in _SECRETS if name in _SIGNS_IN_BY and config.get(name) is not None]
    if "auth" in proposed.config or not ways:
        return proposed
    user = str(config.get("user", config.get("username", ""))) if ways[0] == "basic" else ""
    return replace(proposed, config={**proposed.config, "auth": ways[0], **({"user": user} if user else {})})


def _connect(result: Rewritten, node_id: str, config: dict[str, Any], proposal: Proposal) -> None:
    secrets = tuple(name for name in _SECRETS if config.pop(name, None) is not None)
    proposed = proposal.connection
    proposed = replace(proposed, secrets=tuple(dict.fromkeys((*proposed.secrets, *secrets))), node_ids=(node_id,))
    name = config["connection"] = _register(result, proposed).name
    message = f'the connection "{name}" was proposed from the address of this node: create it, and enter its secrets'
    result.problems.append(_of_connection("connection.proposed", node_id, message))
    if proposal.left_out:
        options = ", ".join(proposal.left_out)
        message = f'the address also names {options}, for which the connection "{name}" has no field: left out'
        result.problems.append(_of_connection("connection.left_out", node_id, message))


def _of_connection(code: str, node_id: str, message: str) -> Problem:
    return _on_config(code, node_id, "connection", message).model_copy(update={"severity": "warning"})


def _register(result: Rewritten, proposed: ProposedConnection) -> ProposedConnection:
    """One connection per system: the same address again is the same connection; another gets another name."""
    for index, known in enumerate(result.connections):
        if (known.kind, known.config) == (proposed.kind, proposed.config):
            result.connections[index] = replace(known, node_ids=(*known.node_ids, *proposed.node_ids))
            return known
    taken = {known.name for known in result.connections}
    names = (proposed.name, *(f"{proposed.name}-{number}" for number in range(2, len(taken) + 3)))
    proposed = replace(proposed, name=next(name for name in names if name not in taken))
    result.connections.append(proposed)
    return proposed


def _report_functions(result: Rewritten, node_id: str, node: dict[str, Any]) -> None:
    config = node["config"]
    if node["type"] == "flow.python" and "function" in config:
        message = f'the function "{config["function"]}" does not exist here: write its code here, or replace this step by "Compute columns"'
        result.problems.append(_on_config("function.unknown", node_id, "function", message))
    for key, value in config.items():
        call = _METHOD_CALL.search(_QUOTED.sub("''", value)) if isinstance(value, str) and key in ("condition", "expression") else None
        if call:
            message = f'"{call[1]}" is no SQL function: write an expression over columns, such as "active = true"'
            result.problems.append(_on_config("expression.unknown_function", node_id, key, message))


def _settings(config: Mapping[str, Any]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for key, value in config.items():
        name = _snake(key)
        is_milliseconds = name in DURATIONS and isinstance(value, int) and not isinstance(value, bool) and value >= 0
        settings[name] = duration_text(value) if is_milliseconds else value
    return settings


def _snake(key: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", key).replace(".", "_").replace("-", "_").lower()


def _on_config(code: str, node_id: str, field_name: str, message: str) -> Problem:
    return Problem(code=code, node_id=node_id, pointer=pointer_of(("nodes", node_id, "config", field_name)), message=message)
