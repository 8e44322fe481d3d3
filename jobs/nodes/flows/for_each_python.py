"""Calls a person's own Python function for each row, for what it does, and passes the row on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import AfterValidator, Field

from jobs.nodes import base
from jobs.nodes.base import REJECTED, Flow, NodeContext
from jobs.nodes.columns import numbered, rejected_schema
from jobs.nodes.form import hints
from jobs.nodes.user_python.arrow_schema import handed_schema, refuse_twice
from jobs.nodes.user_python.code import OF_EACH, checked_code_of
from jobs.nodes.user_python.plain_code import plain_code
from jobs.nodes.user_python.workers import in_workers_apart, is_worker_apart
from jobs.nodes.worker_errors import carried_out

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.accumulators import Accumulator
    from pyspark.sql import DataFrame

    from jobs.nodes.user_python.calls import Calls
    from jobs.nodes.user_python.loaded import Code
    from jobs.nodes.user_python.prints import Heard

DEFAULT_CODE = """\
# row: column name → value.
# Called for what it does. What
# it returns plays no part: a row
# goes on as it came. A row that
# raises is rejected.


def process(row):
    print(row)
"""


class ForEachPythonConfig(base.Config):
    verbatim: ClassVar[frozenset[str]] = frozenset({"code"})

    code: Annotated[str, AfterValidator(lambda code: checked_code_of(code, OF_EACH))] = Field(
        DEFAULT_CODE,
        max_length=100_000,
        description="Python with a function process(row), called for what it does; what it returns is not looked at. The job's "
        "parameters are in the dict parameters.",
        examples=["def process(row):\n    print(row['id'])"],
        json_schema_extra=hints("code", language="python"),
    )
    rows_per_call: int = Field(
        1,
        ge=1,
        le=10_000,
        description="With more than 1 the function gets a list of up to so many rows at once, and what it raises rejects all of them.",
        examples=[1, 100],
    )


class ForEachPython(Flow[ForEachPythonConfig]):
    """Calls a function of your own for each row and passes the row on as it is; a row for which it raises is rejected.

    At least once: the calls of a batch are made before its rows go further, once however many sinks read them, and again where the
    batch, or one of its tasks, is begun again. A preview and a test of the job make no call.
    """

    type = "flow.for_each_python"
    title = "For each: Python"
    icon = "repeat"
    Config = ForEachPythonConfig
    rejects_rows: ClassVar[bool] = True
    computes_once: ClassVar[bool] = True
    acts: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = True
    own_places: ClassVar[Mapping[str, frozenset[str] | None]] = {"code": None}

    def __init__(self) -> None:
        self._heard: Heard | None = None

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[ForEachPythonConfig]) -> DataFrame:
        from pyspark.sql import functions as F

        (frame,) = frames["in"]
        refuse_twice(frame)
        handed_schema(frame.schema, context.time_zone, "it is handed")
        given = numbered(frame)
        made = rejected_schema(given.schema)
        if context.for_script:
            return given.mapInArrow(_calling(frame, plain_code(context), context).run, made).toDF(*frame.columns, REJECTED)
        if not context.is_run:
            return frame.withColumn(REJECTED, F.lit(None).cast("string"))
        task = self._task(frame, context)
        called = in_workers_apart(frame.sparkSession, context.job_uid, lambda: given.mapInArrow(lambda batches: task.run(batches), made))
        return called.toDF(*frame.columns, REJECTED)

    def _task(self, frame: DataFrame, context: NodeContext[ForEachPythonConfig]) -> _Task:
        from jobs.nodes.user_python.loaded import UserCode
        from jobs.nodes.user_python.prints import Heard

        if self._heard is None:
            self._heard = Heard()
        code = UserCode(context.node_name, context.config.code, dict(context.parameters))
        return _Task(context.node_id, _calling(frame, code, context), self._heard.of(frame.sparkSession, context.log))


def _calling(frame: DataFrame, code: Code, context: NodeContext[ForEachPythonConfig]) -> Calls:
    from jobs.nodes.user_python.calls import Calls

    return Calls(code, tuple(frame.columns), context.config.rows_per_call, context.fails_at_rejected)


@dataclass(frozen=True)
class _Task:
    """Goes to Spark's workers by value: nothing of a connection or of the driver is in it."""

    node_id: str
    calls: Calls
    prints: Accumulator[tuple[str, ...]]

    def run(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from jobs.nodes.user_python.prints import output_close, printed_to

        if is_worker_apart():
            output_close()
        with carried_out(self.node_id), printed_to(self.prints):
            yield from self.calls.run(batches)
