"""A person's own Python for each key, with state that outlives the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from jobs.dag.durations import duration_ms
from jobs.nodes.base import Caution, Flow, NodeContext, NodeError
from jobs.nodes.columns import (
    NESTED,
    column,
    numbered,
    quoted,
    rejected_schema,
    require_columns,
    require_order,
    require_timestamp,
    schema_from_ddl,
    schema_of,
)
from jobs.nodes.flows.stateful_config import Kept, StatefulConfig
from jobs.nodes.user_python.arrow_schema import handed_schema, refuse_twice
from jobs.nodes.user_python.plain_code import plain_code
from jobs.nodes.user_python.state_code import has_on_timer
from jobs.nodes.user_python.workers import in_workers_apart, seconds_given

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from jobs.nodes.user_python.kept import Declared
    from jobs.nodes.user_python.keyed import KeyedCode
    from jobs.nodes.user_python.prints import Heard

#: Types of which two equal values may look different.
_INEXACT = ("float", "double")


class Stateful(Flow[StatefulConfig]):
    """Calls your own Python for each key, with state that is kept from one batch to the next, and timers."""

    type = "flow.stateful"
    title = "Stateful"
    icon = "brain"
    Config = StatefulConfig
    changes_row_count: ClassVar[bool] = True
    rejects_rows: ClassVar[bool] = True
    runs_user_code: ClassVar[bool] = True
    moves_rows: ClassVar[bool] = True
    needs_rocksdb: ClassVar[bool] = True
    own_places: ClassVar[Mapping[str, frozenset[str] | None]] = {"code": None}
    summary_template = "{keys}"

    def __init__(self) -> None:
        self._heard: Heard | None = None

    def is_stateful(self, config: StatefulConfig) -> bool:
        return True

    def sets_watermark(self, config: StatefulConfig) -> bool:
        return config.time == "event"

    def cautions(self, context: NodeContext[StatefulConfig]) -> Sequence[Caution]:
        config = context.config
        kept = [one.name for one in config.state if not one.ttl]
        if context.bounded or not kept or has_on_timer(config.code):
            return ()
        message = f"a stream remembers {', '.join(kept)} of every {', '.join(config.keys)} for ever: give it a time to live, or clear it"
        return [Caution("state", f"{message} in on_timer")]

    def without_clock(self, config: StatefulConfig) -> StatefulConfig:
        """Spark goes on with empty batches for ever where something goes by the clock."""
        if config.time == "processing":
            message = "its timers go by the clock, which a test of a stream does not wait for: let them go by event time"
            raise NodeError(message, permanent=True, kind="user", field="time")
        return config.model_copy(update={"state": tuple(one.model_copy(update={"ttl": ""}) for one in config.state)})

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[StatefulConfig]) -> DataFrame:
        (frame,) = frames["in"]
        _check(frame, context.config)
        config = context.config
        if config.time == "event":
            frame = frame.filter(column(config.time_column).isNotNull())
        made = _made_schema(frame, config)
        keyed = _keyed(frame, made, context)
        if context.mode == "stream":
            return self._stream(frame, keyed, rejected_schema(made), context)
        return self._batch(frame, keyed, rejected_schema(made), context)

    def _stream(self, frame: DataFrame, keyed: KeyedCode, made: StructType, context: NodeContext[StatefulConfig]) -> DataFrame:
        from jobs.nodes.user_python.keyed_stream import TIME_MODES, JobProcessor, KeyedProcessor

        config = context.config
        types = tuple(handed_schema(frame.schema, context.time_zone, "it is handed").types)
        if config.time == "event":
            frame = frame.withWatermark(quoted(config.time_column), f"{duration_ms(config.late)} milliseconds")
        keys = [f"c{keyed.names.index(name)}" for name in keyed.keys]
        processor = KeyedProcessor(keyed, types) if context.for_script else JobProcessor(keyed, types, self._prints(frame, context))
        # The clock is also what a time to live goes by.
        mode = TIME_MODES["processing" if any(one.ttl for one in config.state) else config.time]
        grouped = numbered(frame).groupBy(*keys)
        if context.for_script:
            return grouped.transformWithState(processor, made, "Append", mode)
        return in_workers_apart(frame.sparkSession, context.job_uid, lambda: grouped.transformWithState(processor, made, "Append", mode))

    def _batch(self, frame: DataFrame, keyed: KeyedCode, made: StructType, context: NodeContext[StatefulConfig]) -> DataFrame:
        from jobs.nodes.user_python.keyed_batch import KeyedRows, KeyedTask
        from jobs.nodes.user_python.loaded import UserCode

        by_key = [column(name) for name in keyed.keys]
        gathered = numbered(frame.repartition(*by_key).sortWithinPartitions(*by_key))
        if context.for_script:
            return gathered.mapInArrow(KeyedRows(keyed).run, made)
        assert isinstance(keyed.code, UserCode)
        task = KeyedTask(keyed, keyed.code, seconds_given(), None if context.schema_only else self._prints(frame, context))
        return in_workers_apart(frame.sparkSession, context.job_uid, lambda: gathered.mapInArrow(lambda batches: task.run(batches), made))

    def _prints(self, frame: DataFrame, context: NodeContext[StatefulConfig]) -> Any:
        from jobs.nodes.user_python.prints import Heard

        if self._heard is None:
            self._heard = Heard()
        return self._heard.of(frame.sparkSession, context.log)


def _check(frame: DataFrame, config: StatefulConfig) -> None:
    refuse_twice(frame)
    require_columns(frame, config.keys, "keys")
    types = {name.lower(): kind for name, kind in frame.dtypes}
    for name in config.keys:
        kind = types[name.lower()]
        if kind.startswith((*_INEXACT, *NESTED)):
            message = f"the key {name} is {kind}: a key is text, a whole number, a decimal, a day or a time, so make it one before"
            raise NodeError(message, permanent=True, kind="user", field="keys")
    if config.time_column:
        require_columns(frame, [config.time_column], "time_column")
        require_order(frame, config.time_column, "time_column")
    if config.time == "event":
        require_timestamp(frame, config.time_column, "time_column")


def _made_schema(frame: DataFrame, config: StatefulConfig) -> StructType:
    """The key columns, then the declared ones."""
    from pyspark.sql.types import StructField, StructType

    declared = schema_of(config.columns)
    keys = [StructField(name, frame.schema[_own_name(frame, name)].dataType, True) for name in _names(frame, config)]
    known = {field.name.lower() for field in keys}
    if both := [field.name for field in declared if field.name.lower() in known]:
        message = f"the key {', '.join(both)} goes on by itself: leave it out of the columns"
        raise NodeError(message, permanent=True, kind="user", field="columns")
    return StructType([*keys, *declared.fields])


def _names(frame: DataFrame, config: StatefulConfig) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_own_name(frame, name) for name in config.keys))


def _own_name(frame: DataFrame, name: str) -> str:
    """As the frame itself writes it."""
    return next(own for own in frame.columns if own.lower() == name.lower())


def _keyed(frame: DataFrame, made: StructType, context: NodeContext[StatefulConfig]) -> KeyedCode:
    from jobs.nodes.user_python.keyed import KeyedCode
    from jobs.nodes.user_python.loaded import UserCode
    from jobs.nodes.user_python.rejecting import Rejecting

    config, zone = context.config, context.time_zone
    handed_schema(frame.schema, zone, "it is handed")  # what cannot be handed over is told here
    return KeyedCode(
        node_id=context.node_id,
        code=plain_code(context) if context.for_script else UserCode(context.node_name, config.code, dict(context.parameters)),
        names=tuple(frame.columns),
        keys=_names(frame, config),
        rejecting=Rejecting(handed_schema(made, zone, "goes on"), came=True),
        declared=tuple(_declared(one, zone) for one in config.state),
        mode=config.time,
        order=_own_name(frame, config.time_column) if config.time_column else "",
        time_zone=zone,
    )


def _declared(kept: Kept, time_zone: str) -> Declared:
    from jobs.nodes.user_python.kept import Declared

    value, key = schema_from_ddl(f"value {kept.type}"), schema_from_ddl(f"key {kept.key_type}")
    is_map = kept.kind == "map"
    return Declared(
        name=kept.name,
        kind=kept.kind,
        value=value,
        value_type=handed_schema(value, time_zone, "is kept").field(0).type,
        key=key if is_map else None,
        key_type=handed_schema(key, time_zone, "is kept").field(0).type if is_map else None,
        ttl_ms=duration_ms(kept.ttl) if kept.ttl else None,
    )
