"""Which node types and connection kinds exist: one line each, imported on first use, widened by entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast, get_args

from jobs.dag.catalogue import Catalogue, Family, JobTypeName, NodeTypeSpec, Port
from jobs.dag.problems import Problem
from jobs.nodes.base import Flow, NodeType, Sink, Source
from jobs.nodes.config_problems import config_problems, config_resolved
from jobs.nodes.connection_kind import ConnectionKind
from jobs.nodes.form import form_schema

ENTRY_POINT_GROUP = "pipeline_web.nodes"

NODE_TYPES: Mapping[str, str] = {
    "source.file": "jobs.nodes.sources.file:FileSource",
    "source.generator": "jobs.nodes.sources.generator:GeneratorSource",
    "source.http_api": "jobs.nodes.sources.http_api:HttpApiSource",
    "source.jdbc": "jobs.nodes.sources.jdbc:JdbcSource",
    "source.kafka": "jobs.nodes.sources.kafka:KafkaSource",
    "source.webhook": "jobs.nodes.sources.webhook:WebhookSource",
    "flow.filter_rows": "jobs.nodes.flows.filter_rows:FilterRows",
    "flow.compute_columns": "jobs.nodes.flows.compute_columns:ComputeColumns",
    "flow.select_fields": "jobs.nodes.flows.select_fields:SelectFields",
    "flow.sql": "jobs.nodes.flows.sql:SqlFlow",
    "flow.union": "jobs.nodes.flows.union:Union",
    "flow.window_aggregate": "jobs.nodes.flows.window_aggregate:WindowAggregate",
    "sink.file": "jobs.nodes.sinks.file:FileSink",
    "sink.http_api": "jobs.nodes.sinks.http_api:HttpApiSink",
    "sink.jdbc": "jobs.nodes.sinks.jdbc:JdbcSink",
    "sink.kafka": "jobs.nodes.sinks.kafka:KafkaSink",
    "sink.none": "jobs.nodes.sinks.none:NoneSink",
    "sink.print": "jobs.nodes.sinks.print:PrintSink",
}

CONNECTION_KINDS: Mapping[str, str] = {
    "http_api": "jobs.nodes.connections.http_api:HttpApiConnection",
    "kafka": "jobs.nodes.connections.kafka:KafkaConnection",
    "postgresql": "jobs.nodes.connections.postgresql:PostgresqlConnection",
    "sqlite": "jobs.nodes.connections.sqlite:SqliteConnection",
    "webhook": "jobs.nodes.connections.webhook:WebhookConnection",
}


@dataclass(frozen=True)
class Missing:
    """A node type that could not be imported, and why."""

    type: str
    reason: str


class NodeRegistry:
    """Node types by name. Imports nothing until asked; a type that cannot be imported stays visible with the reason."""

    def __init__(
        self,
        node_types: Mapping[str, str] = NODE_TYPES,
        connection_kinds: Mapping[str, str] = CONNECTION_KINDS,
        plugins: Callable[[], tuple[EntryPoint, ...]] | None = None,
    ) -> None:
        self._node_types = node_types
        self._connection_kinds = connection_kinds
        self._plugins = plugins or (lambda: tuple(entry_points(group=ENTRY_POINT_GROUP)))

    def get(self, type_name: str) -> type[NodeType[Any]] | None:
        """The class of `type_name`; None when it is unknown or could not be imported."""
        found = self._classes.get(type_name)
        return found if isinstance(found, type) else None

    def catalogue(self) -> Catalogue:
        """Every known type as the document language sees it, by name."""
        return self._catalogue

    def connection_kinds(self) -> Mapping[str, ConnectionKind]:
        """Every connection kind by name."""
        return self._kinds

    @cached_property
    def _classes(self) -> dict[str, type[NodeType[Any]] | Missing]:
        loaders: dict[str, Callable[[], Any]] = {point.name: point.load for point in self._plugins()}
        loaders |= {name: partial(_imported, path) for name, path in self._node_types.items()}
        return {name: _loaded(name, load) for name, load in sorted(loaders.items())}

    @cached_property
    def _catalogue(self) -> dict[str, NodeTypeSpec]:
        return {name: _missing_spec(found) if isinstance(found, Missing) else _spec(found) for name, found in self._classes.items()}

    @cached_property
    def _kinds(self) -> dict[str, ConnectionKind]:
        return {name: cast(ConnectionKind, _imported(path)()) for name, path in self._connection_kinds.items()}


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _loaded(name: str, load: Callable[[], Any]) -> type[NodeType[Any]] | Missing:
    """A plugin is other people's code: whatever it raises while being imported becomes the reason that is shown."""
    try:
        found = load()
    except Exception as error:
        return Missing(name, f"{type(error).__name__}: {error}")
    if not (isinstance(found, type) and issubclass(found, NodeType)):
        return Missing(name, "its entry point does not name a class below NodeType")
    if found.type != name:
        return Missing(name, f'its class says it is "{found.type}"')
    return found


def _first_paragraphs(documented: type) -> tuple[str, str]:
    paragraphs = [" ".join(part.split()) for part in (documented.__doc__ or "").strip().split("\n\n")]
    return paragraphs[0], paragraphs[1] if len(paragraphs) > 1 else ""


def _spec(node_type: type[NodeType[Any]]) -> NodeTypeSpec:
    help_text, guarantee = _first_paragraphs(node_type)
    return NodeTypeSpec(
        type=node_type.type,
        version=node_type.version,
        family=node_type.family,
        title=node_type.title,
        help=help_text,
        icon=node_type.icon,
        ports=_ports(node_type),
        schema=form_schema(node_type.Config, summary=node_type.summary_template, address=node_type.address_template),
        job_types=node_type.job_types,
        config_problems=partial(config_problems, node_type.Config),
        resolved_config=partial(config_resolved, node_type.Config),
        boundedness=node_type.boundedness if issubclass(node_type, Source) else "",
        guarantee=guarantee if issubclass(node_type, Source | Sink) else "",
        connection_kinds=node_type.connection_kinds,
        stateful=issubclass(node_type, Flow) and node_type.is_stateful is not Flow.is_stateful,
        rejects_rows=node_type.rejects_rows,
        own_places=node_type.own_places,
    )


def _ports(node_type: type[NodeType[Any]]) -> tuple[Port, ...]:
    """A rejecting node has its `errors` port without having to say so."""
    ports = node_type.ports
    if node_type.rejects_rows and all(port.kind != "errors" for port in ports):
        return (*ports, Port("errors", "errors", required=False))
    return ports


_USUAL_PORTS: Mapping[Family, tuple[Port, ...]] = {"source": Source.ports, "flow": Flow.ports, "sink": Sink.ports}


def _missing_spec(missing: Missing) -> NodeTypeSpec:
    family = cast(Family, missing.type.split(".", 1)[0] if missing.type.split(".", 1)[0] in _USUAL_PORTS else "flow")
    reason = f"this node type could not be loaded: {missing.reason}"
    return NodeTypeSpec(
        type=missing.type,
        version=1,
        family=family,
        title=missing.type,
        help="This node type is not available in this installation.",
        icon="plug-off",
        ports=_USUAL_PORTS[family],
        schema={"type": "object", "properties": {}},
        job_types=get_args(JobTypeName),
        config_problems=lambda config: [Problem(code="node.unavailable", message=reason)],
        resolved_config=dict,
        available=False,
        unavailable_reason=reason,
    )


REGISTRY = NodeRegistry()
