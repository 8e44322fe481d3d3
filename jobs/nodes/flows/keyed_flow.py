"""What flows have in common that call a person's Python for each key, with state that outlives the batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from jobs.nodes.base import ConfigT, Flow, NodeContext, NodeError
from jobs.nodes.columns import NESTED, column, numbered, own_name, require_columns
from jobs.nodes.user_python.arrow_schema import handed_schema
from jobs.nodes.user_python.workers import in_workers_apart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from jobs.nodes.user_python.keyed import KeyedCode
    from jobs.nodes.user_python.prints import Heard
    from jobs.nodes.user_python.timers import TimeMode

#: Types of which two equal values may look different.
_INEXACT = ("float", "double")


class KeyedFlow(Flow[ConfigT]):
    changes_row_count: ClassVar[bool] = True
    rejects_rows: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = True
    needs_rocksdb: ClassVar[bool] = True
    own_places: ClassVar[Mapping[str, frozenset[str] | None]] = {"code": None}

    def __init__(self) -> None:
        self._heard: Heard | None = None

    def is_stateful(self, config: ConfigT) -> bool:
        return True

    def in_stream(
        self,
        frame: DataFrame,
        keyed: KeyedCode,
        made: StructType,
        context: NodeContext[ConfigT],
        *,
        time: TimeMode,
        mode: Literal["append", "update"],
    ) -> DataFrame:
        """`frame` with the watermark, where there is one; `made`: what goes on, with the column REJECTED. `time`: what state goes by."""
        from jobs.nodes.user_python.keyed_stream import TIME_MODES, JobProcessor, KeyedProcessor

        types = tuple(handed_schema(frame.schema, context.time_zone, "it is handed").types)
        processor = KeyedProcessor(keyed, types) if context.for_script else JobProcessor(keyed, types, self._prints(frame, context))
        grouped = numbered(frame).groupBy(*(f"c{keyed.names.index(name)}" for name in keyed.keys))

        def called() -> DataFrame:
            return grouped.transformWithState(processor, made, mode.title(), TIME_MODES[time])

        return called() if context.for_script else in_workers_apart(frame.sparkSession, context.job_uid, called)

    def in_batch(
        self, frame: DataFrame, keyed: KeyedCode, made: StructType, context: NodeContext[ConfigT], *, order: Sequence[str] = ()
    ) -> DataFrame:
        """`order`: columns by which the rows of a key follow one another."""
        from jobs.nodes.user_python.keyed_batch import KeyedRows, KeyedTask
        from jobs.nodes.user_python.loaded import UserCode

        by_key = [column(name) for name in keyed.keys]
        gathered = numbered(frame.repartition(*by_key).sortWithinPartitions(*by_key, *(column(name) for name in order)))
        if context.for_script:
            return gathered.mapInArrow(KeyedRows(keyed).run, made)
        assert isinstance(keyed.code, UserCode)
        prints = None if context.schema_only else self._prints(frame, context)
        task = KeyedTask(keyed, keyed.code, context.code_seconds, prints, context.clock_ms)
        return in_workers_apart(frame.sparkSession, context.job_uid, lambda: gathered.mapInArrow(lambda batches: task.run(batches), made))

    def _prints(self, frame: DataFrame, context: NodeContext[ConfigT]) -> Any:
        from jobs.nodes.user_python.prints import Heard

        if self._heard is None:
            self._heard = Heard()
        return self._heard.of(frame.sparkSession, context.log)


def keys_check(frame: DataFrame, keys: Sequence[str], field: str) -> None:
    """NodeError on `field` where a key is not there, or of a type that makes none."""
    require_columns(frame, keys, f"{field}/{{row}}")
    types = {name.lower(): kind for name, kind in frame.dtypes}
    for row, name in enumerate(keys):
        kind = types[name.lower()]
        if kind.startswith((*_INEXACT, *NESTED)):
            message = f"the key {name} is {kind}: a key is text, a whole number, a decimal, a day or a time, so make it one before"
            raise NodeError(message, permanent=True, kind="user", field=f"{field}/{row}")


def key_names(frame: DataFrame, keys: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(own_name(frame, name) for name in keys))


def made_schema(frame: DataFrame, keys: Sequence[str], declared: StructType) -> StructType:
    """The key columns, as `frame` has them, then the declared ones. NodeError where one of those is a key, too."""
    from pyspark.sql.types import StructField, StructType

    own = [StructField(name, frame.schema[name].dataType, True) for name in keys]
    known = {field.name.lower() for field in own}
    if both := [row for row, field in enumerate(declared.fields) if field.name.lower() in known]:
        names = ", ".join(declared.fields[row].name for row in both)
        message = f"the key {names} goes on by itself: leave it out of the columns"
        raise NodeError(message, permanent=True, kind="user", field=f"columns/{both[0]}/name")
    return StructType([*own, *declared.fields])
