"""One SQL query over tables and files that it names itself, for jobs that are one big query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator, model_validator

from jobs.dag.catalogue import JobTypeName
from jobs.nodes import base
from jobs.nodes.base import REJECTED, NodeContext, NodeError, Source
from jobs.nodes.config_refused import ConfigRefused, place_of_second
from jobs.nodes.csv_options import delimiter_field, null_value_field
from jobs.nodes.form import hints
from jobs.nodes.misfits import reason_told
from jobs.nodes.node_error import reworded
from jobs.nodes.queries import selected
from jobs.nodes.sources.delta import DeltaSource, DeltaSourceConfig
from jobs.nodes.sources.file import FileSource
from jobs.nodes.sources.file_config import FileConfig, FileFormat
from jobs.nodes.sources.jdbc import TABLE_NAME, JdbcSource, JdbcSourceConfig
from jobs.nodes.stores.kinds import STORE_KINDS
from jobs.nodes.worker_errors import node_error_raised

if TYPE_CHECKING:
    from threading import Event

    from pyspark.sql import DataFrame, SparkSession

_LIST_EVERY_SECONDS = 5.0
_OF_CSV = "kind=files&format=csv"
_KINDS = (*JdbcSource.connection_kinds, *STORE_KINDS)


class SqlInput(base.Config):
    """What the query reads under one name."""

    name: str = Field(
        min_length=1,
        max_length=64,
        pattern=r"^[A-Za-z_][A-Za-z0-9_]*$",
        description="What the query calls it.",
        examples=["orders"],
        json_schema_extra=hints(allowed="letters, digits and _, not beginning with a digit"),
    )
    kind: Literal["table", "query", "files", "delta"] = Field(
        "table",
        description="A table or a query of a database, files or a Delta table.",
        examples=["table"],
    )
    connection: str = Field(
        "",
        max_length=255,
        validate_default=True,
        description="The database, or the store of files; files without one lie on this installation's own disk.",
        examples=["warehouse"],
        json_schema_extra=hints("connection", kinds=_KINDS, when="kind=table|query|files"),
    )
    table: str = Field(
        "",
        max_length=200,
        pattern=TABLE_NAME,
        validate_default=True,
        description="The table or view, if need be with its schema.",
        examples=["reporting.orders"],
        json_schema_extra=hints(when="kind=table"),
    )
    statement: str = Field(
        "",
        max_length=100_000,
        validate_default=True,
        description="One SELECT in the database's own SQL.",
        examples=["SELECT id, amount FROM orders WHERE paid"],
        json_schema_extra=hints("sql", when="kind=query"),
    )
    path: str = Field(
        "",
        validate_default=True,
        description="The file or folder, or the Delta table's folder.",
        examples=["flights/2013"],
        json_schema_extra=hints("path", when="kind=files|delta"),
    )
    format: FileFormat = Field(
        "csv",
        description="How the files are written; CSV begins with the columns' names.",
        examples=["parquet"],
        json_schema_extra=hints(when="kind=files"),
    )
    delimiter: str = delimiter_field(half=True, when=_OF_CSV)
    null_value: str = null_value_field(half=True, when=_OF_CSV)

    @field_validator("connection", "table", "statement", "path")
    @classmethod
    def _needed_by_its_kind(cls, given: str, info: ValidationInfo) -> str:
        needing, words = _NEEDED[str(info.field_name)]
        if info.data.get("kind") in needing and not given.strip():
            raise ValueError(words)
        return given


#: Field → the kinds of inputs that need it, and what is said where it is empty.
_NEEDED: dict[str, tuple[tuple[str, ...], str]] = {
    "connection": (("table", "query"), "choose the database's connection"),
    "table": (("table",), "name the table"),
    "statement": (("query",), "write the query"),
    "path": (("files", "delta"), "name the file or folder"),
}


class SqlSourceConfig(base.Config):
    query: str = Field(
        min_length=1,
        max_length=100_000,
        description="A Spark SQL query over the inputs below, each a table of its name.",
        examples=["SELECT c.country, sum(o.amount) AS amount FROM orders o JOIN customers c ON c.id = o.customer_id GROUP BY ALL"],
        json_schema_extra=hints("sql"),
    )
    inputs: tuple[SqlInput, ...] = Field(
        min_length=1,
        max_length=50,
        description="What the query reads. What needs more settings than these is a source of its own before a SQL node.",
        examples=[[{"name": "orders", "kind": "table", "connection": "warehouse", "table": "orders"}]],
    )

    @model_validator(mode="after")
    def _names_differ(self) -> SqlSourceConfig:
        names = [one.name.lower() for one in self.inputs]
        if (second := place_of_second(names)) is not None:
            raise ConfigRefused(f"two inputs are called {names[second]}: choose another name", "inputs", second, "name")
        return self


@dataclass(frozen=True)
class _Input:
    """One input with the source that reads it."""

    name: str
    place: int
    source: Source[Any]
    context: NodeContext[Any]

    def reworded(self, error: NodeError) -> NodeError:
        """The same fault, told of this input, which has not every setting of a source."""
        is_elsewhere = error.field in ("columns", "multi_line")
        told = f"{error.message}, in a source of its own before a SQL node" if is_elsewhere else error.message
        field = error.field if error.field in SqlInput.model_fields else "statement" if error.field == "query" else "name"
        return reworded(error, f'in the input "{self.name}": {told}', f"inputs/{self.place}/{field}")


class SqlSource(Source[SqlSourceConfig]):
    """Reads what one SQL query finds in tables of databases, files and Delta tables together.

    Bounded: the query is read whole, as one batch. Exactly once: a run that is interrupted begins anew.
    A row that does not fit its columns ends the run.
    """

    type = "source.sql"
    title = "SQL query"
    icon = "sql"
    Config = SqlSourceConfig
    job_types: ClassVar[tuple[JobTypeName, ...]] = ("SQL_TASK",)
    connection_kinds = _KINDS
    boundedness: ClassVar[Literal["bounded", "unbounded", "both"]] = "bounded"
    guarantee: ClassVar[str] = "exactly once"
    summary_template = "{query}"

    @classmethod
    def failure_words(cls, text: str, connection: str) -> NodeError | None:
        return DeltaSource.failure_words(text, connection)

    def check_connection(self, context: NodeContext[SqlSourceConfig]) -> None:
        for one in _inputs(context):
            try:
                one.source.check_connection(one.context)
            except NodeError as error:
                raise one.reworded(error) from error

    def plain_fault(self, context: NodeContext[SqlSourceConfig]) -> str:
        return next(filter(None, (one.source.plain_fault(one.context) for one in _inputs(context))), "")

    def waits_for(self, context: NodeContext[SqlSourceConfig]) -> str:
        return next(filter(None, (one.source.waits_for(one.context) for one in _inputs(context))), "")

    def needs_to_begin(self, context: NodeContext[SqlSourceConfig]) -> str:
        return next(filter(None, (one.source.needs_to_begin(one.context) for one in _inputs(context))), "")

    def read(self, spark: SparkSession, context: NodeContext[SqlSourceConfig]) -> DataFrame:
        tables = {one.name: _rows(spark, one, context.node_id) for one in _inputs(context)}
        return selected(context.config.query, tables, drawn=context.is_drawn)

    def begin(self, context: NodeContext[SqlSourceConfig]) -> None:
        for one in _inputs(context):
            one.source.begin(one.context)

    def receive(self, context: NodeContext[SqlSourceConfig], stopping: Event) -> None:
        """Copies the files of stores to where Spark reads them; again and again for a stream that looks rows up."""
        while not stopping.is_set():
            for one in _inputs(replace(context, bounded=True)):
                try:
                    one.source.receive(one.context, stopping)
                except NodeError as error:
                    raise one.reworded(error) from error
            if context.bounded:
                return
            stopping.wait(_LIST_EVERY_SECONDS)

    def complete(self, context: NodeContext[SqlSourceConfig]) -> None:
        for one in _inputs(context):
            one.source.complete(one.context)


def _inputs(context: NodeContext[SqlSourceConfig]) -> Iterator[_Input]:
    for place, given in enumerate(context.config.inputs):
        source, config = _reading(given)
        asked: NodeContext[Any] = context
        # Files of a store are copied to a folder of their node, here of their input; faults of tables are told of the node itself.
        node_id = f"{context.node_id}/{given.name}" if given.kind == "files" else context.node_id
        yield _Input(given.name, place, source, replace(asked, config=config, node_id=node_id))


def _reading(given: SqlInput) -> tuple[Source[Any], base.Config]:
    match given.kind:
        case "table":
            return JdbcSource(), JdbcSourceConfig(connection=given.connection, table=given.table)
        case "query":
            return JdbcSource(), JdbcSourceConfig(connection=given.connection, query=given.statement)
        case "files":
            of_csv = {"delimiter": given.delimiter, "null_value": given.null_value} if given.format == "csv" else {}
            return FileSource(), FileConfig(connection=given.connection, path=given.path, format=given.format, **of_csv)
        case "delta":
            return DeltaSource(), DeltaSourceConfig(path=given.path)


def _rows(spark: SparkSession, one: _Input, node_id: str) -> DataFrame:
    """All rows of an input: one that does not fit its columns ends the run when it is read."""
    from pyspark.sql import functions as F

    try:
        frame = one.source.read(spark, one.context)
    except NodeError as error:
        raise one.reworded(error) from error
    if REJECTED not in frame.columns:
        return frame
    reason = F.regexp_replace(reason_told(frame), r"\s+", " ")
    remedy = "mend it, or read this input by a source of its own before a SQL node, which can leave such rows out"
    words = F.concat(F.lit(f'input "{one.name}" has a row that does not fit: '), reason, F.lit(f"; {remedy}"))
    fits = F.when(F.col(REJECTED).isNotNull(), node_error_raised(words, node_id).cast("boolean")).otherwise(F.lit(True))
    return frame.filter(fits).drop(REJECTED)
