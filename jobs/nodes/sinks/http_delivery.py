"""What sinks that send rows by HTTP share in their forms: the body, how many go together, and how hard to try."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from pydantic import Field, field_validator

from jobs.nodes import base
from jobs.nodes.base import NodeError
from jobs.nodes.columns import missing_column
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.places import JsonTemplate, TemplateText


class RowBody(base.Config):
    rows_per_request: int = Field(
        1,
        ge=1,
        le=10_000,
        description="Sent together, at most; a request that is refused rejects all its rows.",
        examples=[1, 100],
        json_schema_extra=hints(half=True),
    )
    body: TemplateText = Field(
        "",
        max_length=100_000,
        description=(
            'JSON to send for a row: "${column}" becomes the value with its type, within a longer text it is written in. '
            "Empty sends the whole row as a JSON object."
        ),
        examples=['{"order": {"id": "${id}", "label": "No. ${id}"}}'],
        json_schema_extra=hints("textarea"),
    )
    many_rows_as: Literal["array", "lines"] = Field(
        "array",
        description="Several rows in a request stand in a JSON array, or one on each line.",
        examples=["lines"],
        json_schema_extra=hints(advanced=True),
    )
    keys: tuple[ColumnName, ...] = Field(
        (),
        description=(
            "Columns whose values together no other row ever has: a repeat of a row then carries the same idempotency key, even after "
            "a restore; without them only when the batch is tried again as it was."
        ),
        examples=[["id"], ["id", "version"]],
        json_schema_extra=hints("columns"),
    )

    @field_validator("body")
    @classmethod
    def _body_is_json(cls, body: str) -> str:
        if body and not JsonTemplate(body).is_json():
            raise ValueError("the body must be JSON")
        return body


class Delivery(base.Config):
    concurrency: int = Field(
        4, ge=1, le=100, description="Requests at once, at most.", examples=[4, 16], json_schema_extra=hints(advanced=True)
    )
    keep_order: bool = Field(
        True,
        description="Send the rows of a partition one after the other; otherwise several at once, and a later row may arrive first.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
    requests_per_second: float | None = Field(
        None,
        gt=0,
        le=10_000,
        description="Requests a second, at most; one task then sends all. Empty sets no limit.",
        examples=[10, 0.5],
        json_schema_extra=hints(advanced=True),
    )
    timeout_seconds: float = Field(
        30, gt=0, le=600, description="How long to wait for an answer.", examples=[30], json_schema_extra=hints(advanced=True, half=True)
    )
    attempts: int = Field(
        5,
        ge=1,
        le=20,
        description="How often to try a request before giving up.",
        examples=[5],
        json_schema_extra=hints(advanced=True, half=True),
    )


def columns_check(columns: Sequence[str], used: Mapping[str, str]) -> None:
    """NodeError on the field that names a column which is not there. `used`: column → field."""
    known = {name.lower() for name in columns}
    for name, field in used.items():
        if name.lower() not in known:
            raise NodeError(missing_column(name, columns), permanent=True, kind="user", field=field)
