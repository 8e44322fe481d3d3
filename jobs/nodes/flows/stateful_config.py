"""What a node with a person's own state is told: its keys, what it keeps, its time, and its code."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo, field_validator, model_validator

from jobs.nodes import base
from jobs.nodes.columns import ColumnField
from jobs.nodes.config_refused import ConfigRefused, place_of_second
from jobs.nodes.duration_fields import Duration, longer_than_nothing
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.user_python.state_code import DEFAULT_STATE_CODE, checked_state_code, has_on_timer

_KEPT_TYPES = ("string", "boolean", "int", "long", "double", "date", "timestamp", "binary")
_KeptType = Annotated[
    str,
    Field(
        pattern=rf"^(?:{'|'.join((*_KEPT_TYPES, 'byte', 'short', 'float', 'timestamp_ntz'))}|decimal\(\d{{1,2}}, ?\d{{1,2}}\))$",
        json_schema_extra={"x-suggestions": [*_KEPT_TYPES, "decimal(18, 2)"]},
    ),
]


def _span_or_nothing(text: str) -> str:
    return longer_than_nothing(text) if text else text


class Kept(base.Config):
    """One piece of state."""

    name: str = Field(
        pattern=r"^[A-Za-z][A-Za-z0-9_]*$",
        max_length=100,
        description="What the code calls it: state.name.",
        examples=["count"],
        json_schema_extra=hints(allowed="a name of letters, digits and _ that begins with a letter"),
    )
    kind: Literal["value", "list", "map"] = Field(
        "value",
        description="One value of a key: get, set, clear. A list: get, append, set, clear. A map: get, put, remove, items, clear.",
        examples=["value", "list"],
    )
    type: _KeptType = Field("long", description="The type of the value, or of each value in it.", examples=["long", "timestamp"])
    key_type: _KeptType = Field(
        "string", description="The type of a map's keys.", examples=["string"], json_schema_extra=hints(when="kind=map")
    )
    ttl: Annotated[str, AfterValidator(_span_or_nothing)] = Field(
        "",
        title="Time to live",
        description="A stream forgets a value so long after it was written; empty: never. It goes by the clock.",
        examples=["", "7 d"],
        json_schema_extra=hints("duration"),
    )


class StatefulConfig(base.Config):
    verbatim: ClassVar[frozenset[str]] = frozenset({"code"})

    keys: tuple[ColumnName, ...] = Field(
        min_length=1,
        description="The columns that say to whom a row belongs. Each key has a state of its own.",
        examples=[["plane"]],
        json_schema_extra=hints("columns", half=True),
    )
    state: tuple[Kept, ...] = Field(
        (Kept(name="count"),),
        max_length=50,
        description="What is kept of a key from one batch to the next.",
        examples=[[{"name": "streak", "type": "long"}, {"name": "seen", "kind": "map", "type": "timestamp", "ttl": "7 d"}]],
        json_schema_extra=hints("mapping"),
    )
    columns: tuple[ColumnField, ...] = Field(
        (ColumnField(name="count", type="long"),),
        max_length=1000,
        description="The columns of the rows that go on, behind the key columns, which come first by themselves.",
        examples=[[{"name": "streak", "type": "long"}, {"name": "since", "type": "timestamp"}]],
        json_schema_extra=hints("columns"),
    )
    time_column: str = Field(
        "",
        max_length=255,
        description="When a row happened; event time needs it. Rows of a key that come together are handed over in this order.",
        examples=["departed_at"],
        json_schema_extra=hints("column", half=True, after="keys"),
    )
    time: Literal["none", "processing", "event"] = Field(
        "none",
        description="What timers go by: the clock, or the time column, up to the newest row less what may come late. A job that ends "
        "fires those that are left when all rows were read.",
        examples=["none", "event"],
        json_schema_extra=hints(advanced=True),
    )
    late: Duration = Field(
        "0s",
        description="How far behind the newest row a row may come; a stream leaves a later one out, and rows without a time.",
        examples=["10 min"],
        json_schema_extra=hints("duration", when="time=event", advanced=True),
    )
    code: str = Field(
        DEFAULT_STATE_CODE,
        max_length=100_000,
        validate_default=True,
        description="Python with a function process(key, rows, state, timers), and where timers are used on_timer(key, timer, state, "
        "timers). They yield the rows that go on; where they raise, the rows are rejected, and the state stays. A time without a zone is "
        "one of UTC. Python reckons with times by the clock of their zone: take them to UTC before, where a change to summer time "
        "counts. The job's parameters are in the dict parameters.",
        examples=["def process(key, rows, state, timers):\n    state.count.set(state.count.get(0) + len(rows))"],
        json_schema_extra=hints("code", language="python"),
    )

    @field_validator("state")
    @classmethod
    def _each_name_once(cls, state: tuple[Kept, ...]) -> tuple[Kept, ...]:
        names = [one.name for one in state]
        if (second := place_of_second(names)) is not None:
            raise ConfigRefused(f"{names[second]} is kept more than once: choose other names", second, "name")
        return state

    @field_validator("time")
    @classmethod
    def _time_is_known(cls, time: str, info: ValidationInfo) -> str:
        if time == "event" and info.data.get("time_column") == "":
            raise ValueError("event time is that of a column: name the time column")
        if time == "event" and any(one.ttl for one in info.data.get("state", ())):
            raise ValueError("a time to live goes by the clock, not by event time: leave it out, and clear the state from a timer")
        return time

    @field_validator("code")
    @classmethod
    def _code_can_be_called(cls, code: str, info: ValidationInfo) -> str:
        state = info.data.get("state")
        return checked_state_code(code, None if state is None else tuple(one.name for one in state))

    @model_validator(mode="after")
    def _timers_can_fire(self) -> StatefulConfig:
        if self.time == "none" and has_on_timer(self.code):
            raise ConfigRefused("on_timer is never called while the time is none: choose processing or event", "time")
        return self
