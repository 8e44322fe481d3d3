"""The bases of everything that is sent to, and taken from, a browser or a script."""

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """Something we send: every field is always there. Times are ISO 8601 in UTC."""

    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class Body(BaseModel):
    """Something we are sent: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)
