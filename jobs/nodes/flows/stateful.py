"""A person's own Python for each key, with state that outlives the batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobs.dag.durations import duration_ms
from jobs.nodes.base import Caution, NodeContext, NodeError
from jobs.nodes.columns import (
    column,
    own_name,
    rejected_schema,
    require_columns,
    require_order,
    require_timestamp,
    schema_from_ddl,
    schema_of,
)
from jobs.nodes.duration_fields import late_delay
from jobs.nodes.event_time import TakesTimeOver, watermarked
from jobs.nodes.flows.keyed_flow import KeyedFlow, key_names, keys_check, made_schema
from jobs.nodes.flows.stateful_config import Kept, StatefulConfig
from jobs.nodes.user_python.arrow_schema import handed_schema, refuse_twice
from jobs.nodes.user_python.plain_code import plain_code
from jobs.nodes.user_python.state_code import has_on_timer

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from jobs.nodes.user_python.kept import Declared
    from jobs.nodes.user_python.keyed import KeyedCode
    from jobs.nodes.user_python.timers import TimeMode


#: The part of RocksDB that is there before any state.
_SPARKS_OWN = "default"


class Stateful(TakesTimeOver, KeyedFlow[StatefulConfig]):
    """Calls your own Python for each key, with state that is kept from one batch to the next, and timers."""

    type = "flow.stateful"
    title = "Stateful"
    icon = "brain"
    Config = StatefulConfig
    summary_template = "{keys}"

    def sets_watermark(self, config: StatefulConfig) -> bool:
        return config.time == "event"

    def cautions(self, context: NodeContext[StatefulConfig], arriving: Sequence[StructType]) -> Sequence[Caution]:
        config = context.config
        kept = [one.name for one in config.state if not one.ttl]
        if context.bounded or not kept or has_on_timer(config.code):
            return ()
        message = f"a stream remembers {', '.join(kept)} of every {', '.join(config.keys)} for ever: give it a time to live, or clear it"
        return [Caution("state", f"{message} in on_timer")]

    def times_taken_over(self, config: StatefulConfig) -> Mapping[str, str]:
        return {"in": config.time_column} if config.time == "event" else {}

    def without_clock(self, config: StatefulConfig) -> StatefulConfig:
        """Spark goes on with empty batches for ever where something goes by the clock."""
        if config.time == "processing":
            message = "its timers go by the clock: give the test a clock, the time at which each batch comes"
            raise NodeError(message, permanent=True, kind="user", field="time")
        return config.model_copy(update={"state": tuple(one.model_copy(update={"ttl": ""}) for one in config.state)})

    def times(self, context: NodeContext[StatefulConfig]) -> Mapping[str, str]:
        return {"in": context.config.time_column} if context.config.time == "event" else {}

    def apply(self, frames: Mapping[str, list[DataFrame]], context: NodeContext[StatefulConfig]) -> DataFrame:
        (frame,) = frames["in"]
        config = context.config
        _check(frame, config)
        if not context.bounded:
            _check_names(config)
        if config.time == "event":
            frame = frame.filter(column(config.time_column).isNotNull())
            frame = frame if context.mode == "batch" else watermarked(frame, config.time_column, late_delay(config.late))
        made = made_schema(frame, key_names(frame, config.keys), schema_of(config.columns))
        keyed = _keyed(frame, made, context)
        if context.mode == "batch":
            return self.in_batch(frame, keyed, rejected_schema(made), context)
        # The clock is also what a time to live goes by.
        time: TimeMode = "processing" if any(one.ttl for one in config.state) else config.time
        return self.in_stream(frame, keyed, rejected_schema(made), context, time=time, mode="append")


def _check(frame: DataFrame, config: StatefulConfig) -> None:
    refuse_twice(frame)
    keys_check(frame, config.keys, "keys")
    if config.time_column:
        require_columns(frame, [config.time_column], "time_column")
        require_order(frame, config.time_column, "time_column")
    if config.time == "event":
        require_timestamp(frame, config.time_column, "time_column")


def _check_names(config: StatefulConfig) -> None:
    for row, one in enumerate(config.state):
        if one.name == _SPARKS_OWN:
            message = f"a stream's store keeps the name {one.name} for itself: choose another one"
            raise NodeError(message, permanent=True, kind="user", field=f"state/{row}/name")


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
        keys=key_names(frame, config.keys),
        rejecting=Rejecting(handed_schema(made, zone, "goes on"), came=True),
        declared=tuple(_declared(one, zone) for one in config.state),
        mode=config.time,
        order=own_name(frame, config.time_column) if config.time_column else "",
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
