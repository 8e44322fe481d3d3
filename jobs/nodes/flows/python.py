"""A person's own Python over rows or batches of rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from jobs.nodes import base
from jobs.nodes.base import Flow, NodeContext
from jobs.nodes.columns import ColumnField, numbered, rejected_schema, schema_of
from jobs.nodes.form import hints
from jobs.nodes.user_python.arrow_schema import handed_schema, refuse_twice
from jobs.nodes.user_python.code import DEFAULT_ARROW_CODE, DEFAULT_CODE, DEFAULT_PANDAS_CODE, checked_code
from jobs.nodes.user_python.plain_code import plain_code
from jobs.nodes.user_python.workers import in_workers_apart, is_worker_apart
from jobs.nodes.worker_errors import carried_out

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

    from jobs.nodes.user_python.batches import BatchByBatch
    from jobs.nodes.user_python.loaded import Code, UserCode
    from jobs.nodes.user_python.prints import Heard
    from jobs.nodes.user_python.rows import RowByRow


class PythonConfig(base.Config):
    verbatim: ClassVar[frozenset[str]] = frozenset({"code"})

    shape: Literal["row", "arrow", "pandas"] = Field(
        "row",
        description="How the function gets its data: each row as a dict, or some thousand rows at once as a pyarrow RecordBatch or a "
        "pandas DataFrame, which is much faster. What it raises rejects a row, and with batches ends the job. "
        "In a DataFrame, NaN and missing are one.",
        examples=["row", "arrow"],
        json_schema_extra=hints(
            sets={"row": {"code": DEFAULT_CODE}, "arrow": {"code": DEFAULT_ARROW_CODE}, "pandas": {"code": DEFAULT_PANDAS_CODE}}
        ),
    )
    code: Annotated[str, AfterValidator(checked_code)] = Field(
        DEFAULT_CODE,
        max_length=100_000,
        description="Python with a function process(row), which returns what goes on: a row, several, or none; for batches, "
        "a batch, several, or none. A time without a zone that it returns is one of UTC. The job's parameters are in the dict parameters.",
        examples=["def process(row):\n    row['late'] = row['delay'] > 15\n    return row"],
        json_schema_extra=hints("code", language="python"),
    )
    columns: tuple[ColumnField, ...] = Field(
        (),
        max_length=1000,
        description="The columns of the rows that go on. Empty: the same as those that come in.",
        examples=[[{"name": "id", "type": "long"}, {"name": "late", "type": "boolean"}]],
        json_schema_extra=hints("columns", takes_input=True),
    )


class PythonFlow(Flow[PythonConfig]):
    """Calls a function of your own for each row, which is rejected where it raises, or for each batch, where that ends the job."""

    type = "flow.python"
    title = "Python"
    icon = "python"
    Config = PythonConfig
    changes_row_count: ClassVar[bool] = True
    rejects_rows: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = True
    own_places: ClassVar[Mapping[str, frozenset[str] | None]] = {"code": None}
    summary_template = "{shape}"

    def __init__(self) -> None:
        self._heard: Heard | None = None

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[PythonConfig]) -> DataFrame:
        (frame,) = frames["in"]
        refuse_twice(frame)
        config = context.config
        schema = schema_of(config.columns) if config.columns else frame.schema.toNullable()
        task = self._task(frame, schema, context)
        given, made = numbered(frame), rejected_schema(schema) if config.shape == "row" else schema
        if context.for_script:
            return given.mapInArrow(task.calling(plain_code(context)).run, made)
        return in_workers_apart(frame.sparkSession, context.job_uid, lambda: given.mapInArrow(lambda batches: task.run(batches), made))

    def _task(self, frame: DataFrame, schema: StructType, context: NodeContext[PythonConfig]) -> _Task:
        from jobs.nodes.user_python.loaded import UserCode

        handed_schema(frame.schema, context.time_zone, "it is handed")  # what cannot be handed over is told here
        arrow = handed_schema(schema, context.time_zone, "goes on")
        code = UserCode(context.node_name, context.config.code, dict(context.parameters))
        names, came = tuple(frame.columns), bool(context.config.columns)
        task = _Task(context.node_id, code, names, arrow, context.config.shape, came, context.code_seconds)
        return task if context.schema_only or context.for_script else replace(task, prints=self._prints(frame.sparkSession, context))

    def _prints(self, spark: SparkSession, context: NodeContext[PythonConfig]) -> Accumulator[tuple[str, ...]]:
        from jobs.nodes.user_python.prints import Heard

        if self._heard is None:
            self._heard = Heard()
        return self._heard.of(spark, context.log)


@dataclass(frozen=True)
class _Task:
    """Goes to Spark's workers by value: nothing of a connection or of the driver is in it."""

    node_id: str
    code: UserCode
    names: tuple[str, ...]
    schema: pa.Schema
    shape: Literal["row", "arrow", "pandas"]
    came: bool
    seconds: float | None
    prints: Accumulator[tuple[str, ...]] | None = None

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from jobs.nodes.user_python.prints import output_close, printed_to

        if is_worker_apart():
            output_close()
        with carried_out(self.node_id), printed_to(self.prints, limited=bool(self.seconds)), self.code.ended_after(self.seconds):
            yield from self.calling(self.code).run(batches)

    def calling(self, code: Code) -> BatchByBatch | RowByRow:
        from jobs.nodes.user_python.batches import BatchByBatch
        from jobs.nodes.user_python.rejecting import Rejecting
        from jobs.nodes.user_python.rows import RowByRow

        if self.shape == "row":
            return RowByRow(code, Rejecting(self.schema, self.came), self.names)
        return BatchByBatch(code, self.schema, self.shape, self.names)
