"""What readers of messages that can be read again by their position have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from jobs.nodes.base import Config, ConnectionSettings, NodeContext
from jobs.nodes.durable_text import text_first
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
    #: Keeps where the generation began.
    begun: Path

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReaderSettings:
        told = json.loads(options["settings"])
        connection = ConnectionSettings(**told["connection"], secrets=json.loads(options["secret"]))
        return cls(told["config"], connection, str(told["node_id"]), int(told["slots"]), Path(told["begun"]))


def begun_place(context: NodeContext[Any]) -> Path:
    return (context.work_dir / "begun.json").resolve()


def begun_at(place: Path, ask: Callable[[], Mapping[str, int]]) -> dict[str, int]:
    """Where a generation begins, as it was first told. Spark asks for it until a first batch is committed, after a failure once more.

    It keeps only where that batch ends: told otherwise then, it would lose what lies between, or find the end before the beginning.
    """
    return dict(json.loads(text_first(place, lambda: json.dumps(ask()))))


def reader_options(context: NodeContext[ConfigT], connection: ConnectionSettings, slots: int) -> dict[str, str]:
    """What `ReaderSettings.of` reads."""
    settings = {
        "config": context.config.model_dump(mode="json"),
        "connection": {"name": connection.name, "kind": connection.kind, "config": dict(connection.config)},
        "node_id": context.node_id,
        "slots": slots,
        "begun": str(begun_place(context)),
    }
    return {"settings": json.dumps(settings), "secret": json.dumps(dict(connection.secrets))}  # Spark hides options of this name


def messages_of(spark: SparkSession, context: NodeContext[ConfigT], source: type[DataSource], connection_name: str) -> DataFrame:
    """The messages that `source` reads for a node, whose reader finds them out by `ReaderSettings.of` its options."""
    in_workers_shared(lambda: spark.dataSource.register(source))
    options = reader_options(context, context.connection(connection_name), spark.sparkContext.defaultParallelism)
    reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.node_id)
    messages: DataFrame = reader.format(source.name()).options(**options).load()
    return messages


def worth_a_record_batch(parts: Iterable[Sequence[MessageT]]) -> Iterator[list[MessageT]]:
    """Parts put together, or taken apart."""
    return gathered(chain.from_iterable(parts), lambda message: len(message.value))
