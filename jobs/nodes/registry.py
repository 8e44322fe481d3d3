"""Which node types and connection kinds exist: one line each, imported on first use, widened by entry points."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any, cast, get_args

from jobs.dag.catalogue import Catalogue, Family, JobTypeName, NodeTypeSpec, Port
from jobs.dag.problems import Problem
from jobs.nodes.base import NOT_IN_REAL_TIME, Flow, NodeType, Sink, Source
from jobs.nodes.config_problems import config_problems, config_resolved, no_texts
from jobs.nodes.connection_kind import ConnectionKind
from jobs.nodes.declared import declared, guarantee_check
from jobs.nodes.form import form_schema, sql_fields
from jobs.nodes.plugins import CONNECTION_GROUP, NODE_GROUP, Made, Missing, Unfit, brought, installed_points, judged, package_of

NODE_TYPES: Mapping[str, str] = {
    "source.delta": "jobs.nodes.sources.delta:DeltaSource",
    "source.file": "jobs.nodes.sources.file:FileSource",
    "source.generator": "jobs.nodes.sources.generator:GeneratorSource",
    "source.http_api": "jobs.nodes.sources.http_api:HttpApiSource",
    "source.jdbc": "jobs.nodes.sources.jdbc:JdbcSource",
    "source.kafka": "jobs.nodes.sources.kafka:KafkaSource",
    "source.rocketmq": "jobs.nodes.sources.rocketmq:RocketmqSource",
    "source.mqtt": "jobs.nodes.sources.mqtt:MqttSource",
    "source.rabbitmq": "jobs.nodes.sources.rabbitmq:RabbitMQSource",
    "source.rabbitmq_stream": "jobs.nodes.sources.rabbitmq_stream:RabbitMQStreamSource",
    "source.sql": "jobs.nodes.sources.sql:SqlSource",
    "source.webhook": "jobs.nodes.sources.webhook:WebhookSource",
    "flow.aggregate": "jobs.nodes.flows.aggregate:AggregateFlow",
    "flow.deduplicate": "jobs.nodes.flows.deduplicate:Deduplicate",
    "flow.expectations": "jobs.nodes.flows.expectations:Expectations",
    "flow.python": "jobs.nodes.flows.python:PythonFlow",
    "flow.rank": "jobs.nodes.flows.rank:Rank",
    "flow.flat_map": "jobs.nodes.flows.flat_map:FlatMap",
    "flow.for_each": "jobs.nodes.flows.for_each:ForEach",
    "flow.for_each_mail": "jobs.nodes.flows.for_each_mail:ForEachMail",
    "flow.for_each_python": "jobs.nodes.flows.for_each_python:ForEachPython",
    "flow.format": "jobs.nodes.flows.format:Format",
    "flow.limit": "jobs.nodes.flows.limit:Limit",
    "flow.mask": "jobs.nodes.flows.mask:Mask",
    "flow.parse": "jobs.nodes.flows.parse:Parse",
    "flow.rate_limit": "jobs.nodes.flows.rate_limit:RateLimit",
    "flow.repartition": "jobs.nodes.flows.repartition:Repartition",
    "flow.sample": "jobs.nodes.flows.sample:Sample",
    "flow.script": "jobs.nodes.flows.script:Script",
    "flow.split": "jobs.nodes.flows.split:Split",
    "flow.stateful": "jobs.nodes.flows.stateful:Stateful",
    "flow.sort": "jobs.nodes.flows.sort:Sort",
    "flow.filter_rows": "jobs.nodes.flows.filter_rows:FilterRows",
    "flow.compute_columns": "jobs.nodes.flows.compute_columns:ComputeColumns",
    "flow.select_fields": "jobs.nodes.flows.select_fields:SelectFields",
    "flow.join": "jobs.nodes.flows.join:Join",
    "flow.lookup": "jobs.nodes.flows.lookup:Lookup",
    "flow.sql": "jobs.nodes.flows.sql:SqlFlow",
    "flow.union": "jobs.nodes.flows.union:Union",
    "flow.window_aggregate": "jobs.nodes.flows.window_aggregate:WindowAggregate",
    "flow.window_reduce": "jobs.nodes.flows.window_reduce:WindowReduce",
    "sink.delta": "jobs.nodes.sinks.delta:DeltaSink",
    "sink.file": "jobs.nodes.sinks.file:FileSink",
    "sink.hbase": "jobs.nodes.sinks.hbase:HbaseSink",
    "sink.http_api": "jobs.nodes.sinks.http_api:HttpApiSink",
    "sink.webhook": "jobs.nodes.sinks.webhook:WebhookSink",
    "sink.jdbc": "jobs.nodes.sinks.jdbc:JdbcSink",
    "sink.kafka": "jobs.nodes.sinks.kafka:KafkaSink",
    "sink.mqtt": "jobs.nodes.sinks.mqtt:MqttSink",
    "sink.none": "jobs.nodes.sinks.none:NoneSink",
    "sink.rabbitmq": "jobs.nodes.sinks.rabbitmq:RabbitMQSink",
    "sink.print": "jobs.nodes.sinks.print:PrintSink",
    "sink.rocketmq": "jobs.nodes.sinks.rocketmq:RocketmqSink",
}

CONNECTION_KINDS: Mapping[str, str] = {
    "file_store": "jobs.nodes.connections.file_store:FileStoreConnection",
    "hbase": "jobs.nodes.connections.hbase:HbaseConnection",
    "http_api": "jobs.nodes.connections.http_api:HttpApiConnection",
    "kafka": "jobs.nodes.connections.kafka:KafkaConnection",
    "mqtt": "jobs.nodes.connections.mqtt:MqttConnection",
    "jdbc": "jobs.nodes.connections.jdbc:JdbcConnection",
    "mysql": "jobs.nodes.connections.mysql:MysqlConnection",
    "postgresql": "jobs.nodes.connections.postgresql:PostgresqlConnection",
    "rocketmq": "jobs.nodes.connections.rocketmq:RocketmqConnection",
    "rabbitmq": "jobs.nodes.connections.rabbitmq:RabbitMQConnection",
    "s3": "jobs.nodes.connections.s3:S3Connection",
    "smtp": "jobs.nodes.connections.smtp:SmtpConnection",
    "sqlite": "jobs.nodes.connections.sqlite:SqliteConnection",
    "webhook": "jobs.nodes.connections.webhook:WebhookConnection",
    "webhook_receiver": "jobs.nodes.connections.webhook_receiver:WebhookReceiverConnection",
}


class NodeRegistry:
    """Node types and connection kinds by name. Imports nothing until asked; what cannot be imported stays visible with the reason."""

    def __init__(
        self,
        node_types: Mapping[str, str] = NODE_TYPES,
        connection_kinds: Mapping[str, str] = CONNECTION_KINDS,
        plugins: Callable[[], tuple[EntryPoint, ...]] = installed_points,
    ) -> None:
        self._ours = {NODE_GROUP: node_types, CONNECTION_GROUP: connection_kinds}
        self._plugins = plugins

    def get(self, type_name: str) -> type[NodeType[Any]] | None:
        """The class of `type_name`; None when it is unknown or could not be imported."""
        found = self._nodes.get(type_name)
        return None if found is None or isinstance(found, Missing) else found[0]

    def catalogue(self) -> Catalogue:
        """Every known type as the document language sees it, by name."""
        return self._catalogue

    def connection_kinds(self) -> Mapping[str, ConnectionKind]:
        """Every connection kind that can be used, by name."""
        return {name: found for name, found in self._kinds.items() if not isinstance(found, Missing)}

    def missing_kinds(self) -> Mapping[str, str]:
        """Connection kinds that could not be loaded: name → why."""
        return {
            name: f"this kind of connection could not be loaded: {found.reason}"
            for name, found in self._kinds.items()
            if isinstance(found, Missing)
        }

    @cached_property
    def _nodes(self) -> dict[str, tuple[type[NodeType[Any]], NodeTypeSpec] | Missing]:
        return self._loaded(NODE_GROUP, _node)

    @cached_property
    def _catalogue(self) -> dict[str, NodeTypeSpec]:
        return {name: _missing_spec(found) if isinstance(found, Missing) else found[1] for name, found in self._nodes.items()}

    @cached_property
    def _kinds(self) -> dict[str, ConnectionKind | Missing]:
        return self._loaded(CONNECTION_GROUP, _kind)

    def _loaded(self, group: str, make: Callable[[str, Any], Made]) -> dict[str, Made | Missing]:
        """What is ours and what packages bring, by name."""
        ours = self._ours[group]
        found = {name: judged(name, partial(_imported, path), partial(make, name)) for name, path in ours.items()}
        for name, point in brought(self._plugins(), group, ours).items():
            found[name] = judged(name, point.load, partial(make, name), package_of(point))
        return dict(sorted(found.items()))


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)


def _node(name: str, found: Any) -> tuple[type[NodeType[Any]], NodeTypeSpec]:
    """The class with its face; Unfit, or whatever a class that lacks something raises."""
    if not (isinstance(found, type) and issubclass(found, Source | Flow | Sink)):
        raise Unfit("its entry point does not name a class below Source, Flow or Sink")
    if found.type != name:
        raise Unfit(f'its class says it is "{found.type}"')
    if not name.removeprefix(f"{found.family}.") or not name.startswith(f"{found.family}."):
        raise Unfit(f'it is a {found.family}: its name has to begin with "{found.family}."')
    found()  # what lacks a method would otherwise break the jobs that use it
    guarantee_check(getattr(found, "guarantee", ""))
    return found, declared(_spec(found))


def _kind(name: str, found: Any) -> ConnectionKind:
    """One of its kind, with all that a form needs; Unfit, or whatever a class that lacks something raises."""
    if not (isinstance(found, type) and issubclass(found, ConnectionKind)):
        raise Unfit("its entry point does not name a class below ConnectionKind")
    kind = found()
    if kind.kind != name:
        raise Unfit(f'its class says it is "{kind.kind}"')
    for labels in (kind.secrets, kind.secrets_when):
        if not (isinstance(labels, Mapping) and all(isinstance(text, str) for entry in labels.items() for text in entry)):
            raise Unfit("its secrets and secrets_when have to be mappings of text to text")
    if twice := set(kind.secrets) & set(kind.Config.model_fields):
        raise Unfit(f"{', '.join(sorted(twice))} is among its secrets and its settings, where it would be kept and shown as plain text")
    kind.schema(), kind.title, kind.icon  # what lacks one of them would otherwise break the list of all kinds
    return kind


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
        no_texts=partial(no_texts, node_type.Config),
        boundedness=node_type.boundedness if issubclass(node_type, Source) else "",
        guarantee=guarantee if issubclass(node_type, Source | Sink) or _acts(node_type) else "",
        guarantee_of=partial(_guarantee, node_type),
        connection_kinds=node_type.connection_kinds,
        stateful=issubclass(node_type, Flow) and node_type.is_stateful is not Flow.is_stateful,
        rejects_rows=node_type.rejects_rows,
        own_places=node_type.own_places,
        ports_field=node_type.ports_field,
        verbatim=node_type.Config.verbatim,
        sql=sql_fields(node_type.Config),
        runs_user_code=node_type.runs_user_code,
        real_time=node_type.real_time,
        hinders_real_time=partial(_hinders_real_time, node_type),
    )


def _guarantee(node_type: type[NodeType[Any]], config: Mapping[str, Any]) -> str:
    """Read as it stands, for a config that does not hold yet says already what it does of this."""
    if not issubclass(node_type, Source | Sink):
        return "at least once" if _acts(node_type) else ""
    try:
        return node_type().guarantee_of(node_type.Config.model_construct(**config)) if node_type.guarantee else ""
    except Exception:  # a plugin's own fault
        return node_type.guarantee


def _acts(node_type: type[NodeType[Any]]) -> bool:
    """Whether it does something outside for its rows: done again where their batch is."""
    return issubclass(node_type, Flow) and node_type.acts


def _hinders_real_time(node_type: type[NodeType[Any]], config: Mapping[str, Any]) -> str:
    try:
        return node_type().hinders_real_time(node_type.Config.model_construct(**config))
    except Exception:  # a config that does not hold yet is told of by itself
        return "" if node_type.real_time else NOT_IN_REAL_TIME


def _ports(node_type: type[NodeType[Any]]) -> tuple[Port, ...]:
    """A rejecting node has its `errors` port without having to say so."""
    ports = node_type.ports
    if node_type.rejects_rows and all(port.kind != "errors" for port in ports):
        return (*ports, Port("errors", "errors", required=False))
    return ports


_USUAL_PORTS: Mapping[Family, tuple[Port, ...]] = {"source": Source.ports, "flow": Flow.ports, "sink": Sink.ports}


def _missing_spec(missing: Missing) -> NodeTypeSpec:
    family = cast(Family, missing.name.split(".", 1)[0] if missing.name.split(".", 1)[0] in _USUAL_PORTS else "flow")
    reason = f"this node type could not be loaded: {missing.reason}"
    return NodeTypeSpec(
        type=missing.name,
        version=1,
        family=family,
        title=missing.name,
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
