"""The bases of everything that is sent to, and taken from, a browser or a script."""

from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import PydanticKnownError


class Shape(BaseModel):
    """Something we send: every field is always there. Times are ISO 8601 in UTC."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class Body(BaseModel):
    """Something we are sent: unknown fields are refused, and true is no number."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _truth_is_no_number(cls, value: Any, info: ValidationInfo) -> Any:
        given = value if isinstance(value, list) else [value]
        if any(isinstance(one, bool) for one in given) and _takes_numbers_only(cls, str(info.field_name)):
            raise PydanticKnownError("int_type")
        return value


@cache
def _takes_numbers_only(model: type[BaseModel], name: str) -> bool:
    kinds = set(_leaves(model.model_fields[name].annotation))
    return int in kinds and not kinds & {bool, Any}


def _leaves(annotation: Any) -> Iterator[Any]:
    """The types that stand in it: of `list[int] | None` int and NoneType."""
    parts = get_args(annotation)
    if not parts:
        yield annotation
    for part in parts:
        yield from _leaves(part)
