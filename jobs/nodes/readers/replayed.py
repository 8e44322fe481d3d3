"""What readers of messages that can be read again by their position have in common."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from jobs.nodes.base import Config, ConnectionSettings, NodeContext
from jobs.nodes.gathering import gathered
from jobs.nodes.user_python.workers import in_workers_shared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.datasource import DataSource


class _Valued(Protocol):
    @property
    def value(self) -> bytes: ...


MessageT = TypeVar("MessageT", bound=_Valued)
ConfigT = TypeVar("ConfigT", bound=Config)


@dataclass(frozen=True)
class ReaderSettings:
    """What a reader is told of its node: Spark hands it to the driver's and the tasks' processes as texts."""

    config: Mapping[str, Any]
    connection: ConnectionSettings
    node_id: str
    #: Tasks that run at the same time.
    slots: int

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReaderSettings:
        told = json.loads(options["settings"])
        connection = ConnectionSettings(**told["connection"], secrets=json.loads(options["secret"]))
        return cls(told["config"], connection, str(told["node_id"]), int(told["slots"]))


def messages_of(spark: SparkSession, context: NodeContext[ConfigT], source: type[DataSource], connection_name: str) -> DataFrame:
    """The messages that `source` reads for a node, whose reader finds them out by `ReaderSettings.of` its options."""
    in_workers_shared(lambda: spark.dataSource.register(source))
    connection = context.connection(connection_name)
    settings = {
        "config": context.config.model_dump(mode="json"),
        "connection": {"name": connection.name, "kind": connection.kind, "config": dict(connection.config)},
        "node_id": context.node_id,
        "slots": spark.sparkContext.defaultParallelism,
    }
    options = {"settings": json.dumps(settings), "secret": json.dumps(dict(connection.secrets))}  # Spark hides options of this name
    reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.node_id)
    messages: DataFrame = reader.format(source.name()).options(**options).load()
    return messages


def worth_a_record_batch(parts: Iterable[Sequence[MessageT]]) -> Iterator[list[MessageT]]:
    """Parts put together, or taken apart."""
    return gathered(chain.from_iterable(parts), lambda message: len(message.value))
