"""What readers of messages that can be read again by their position have in common."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
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
class Beginning:
    """Where a query begins to read a source, as it was first told. Spark asks until a first batch is committed, after a failure once more.

    It keeps only where that batch ends: told otherwise then, it would lose what lies between, or find the end before the beginning.
    """

    #: Of this query.
    note: Path
    #: Of all queries that begin in this attempt: what one of them reads must not move where the next begins.
    shared: Path
    #: Spark's folder of the query.
    query: Path
    #: The settings that say where.
    start: Any

    @classmethod
    def of(cls, option: str) -> Beginning:
        """From what `beginning_option` gave."""
        told = json.loads(option)
        return cls(Path(told["note"]), Path(told["shared"]), Path(told["query"]), told["start"])

    def at(self, ask: Callable[[], Mapping[str, int]]) -> dict[str, int]:
        if self._is_outdated():
            self.note.unlink(missing_ok=True)
        told = partial(text_first, self.shared, lambda: json.dumps({"start": self.start, "begin": ask()}))
        return dict(json.loads(text_first(self.note, told))["begin"])

    def _is_outdated(self) -> bool:
        """Whether it was told by other settings, and nothing was planned by them that must still be written."""
        if not self.note.is_file() or json.loads(self.note.read_text(encoding="utf-8"))["start"] == self.start:
            return False
        planned, committed = ({entry.name for entry in (self.query / log).glob("[0-9]*")} for log in ("offsets", "commits"))
        return planned <= committed


def beginning_option(context: NodeContext[Any], start: Any) -> str:
    """What `Beginning.of` reads. `start`: the settings that say where a fresh start begins."""
    work, query = context.work_dir.resolve(), context.query_dir.resolve()
    note, shared = work / f"begun-{query.name}.json", work / f"begun_in_{context.attempt}.json"
    return json.dumps({"note": str(note), "shared": str(shared), "query": str(query), "start": start})


@dataclass(frozen=True)
class ReaderSettings:
    """What a reader is told of its node: Spark hands it to the driver's and the tasks' processes as texts."""

    config: Mapping[str, Any]
    connection: ConnectionSettings
    node_id: str
    #: Tasks that run at the same time.
    slots: int
    beginning: Beginning

    @classmethod
    def of(cls, options: Mapping[str, str]) -> ReaderSettings:
        told = json.loads(options["settings"])
        connection = ConnectionSettings(**told["connection"], secrets=json.loads(options["secret"]))
        return cls(told["config"], connection, str(told["node_id"]), int(told["slots"]), Beginning.of(told["beginning"]))


def reader_options(context: NodeContext[ConfigT], connection: ConnectionSettings, slots: int) -> dict[str, str]:
    """What `ReaderSettings.of` reads."""
    config = context.config.model_dump(mode="json")
    settings = {
        "config": config,
        "connection": {"name": connection.name, "kind": connection.kind, "config": dict(connection.config)},
        "node_id": context.node_id,
        "slots": slots,
        "beginning": beginning_option(context, {name: value for name, value in config.items() if name.startswith("start")}),
    }
    return {"settings": json.dumps(settings), "secret": json.dumps(dict(connection.secrets))}  # Spark hides options of this name


def messages_of(spark: SparkSession, context: NodeContext[ConfigT], source: type[DataSource], connection_name: str) -> DataFrame:
    """The messages that `source` reads for a node, whose reader finds them out by `ReaderSettings.of` its options."""
    in_workers_shared(lambda: spark.dataSource.register(source))
    options = reader_options(context, context.connection(connection_name), spark.sparkContext.defaultParallelism)
    reader: Any = spark.read if context.mode == "batch" else spark.readStream.name(context.stream_name)
    messages: DataFrame = reader.format(source.name()).options(**options).load()
    return messages


def worth_a_record_batch(parts: Iterable[Sequence[MessageT]]) -> Iterator[list[MessageT]]:
    """Parts put together, or taken apart."""
    return gathered(chain.from_iterable(parts), lambda message: len(message.value))
