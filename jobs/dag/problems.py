"""A fault found in a document before anything runs."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

Severity = Literal["error", "warning"]


class Problem(BaseModel):
    """One fault, placed where a person can mend it.

    `code` is a stable word such as `edge.cycle`. `pointer` is an RFC 6901 JSON pointer into the document, "" for the whole.
    Only a version without any problem of severity "error" can be published or run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)

    severity: Severity = "error"
    code: str
    node_id: str | None = None
    edge_id: str | None = None
    pointer: str = ""
    message: str


def errors_in(problems: list[Problem]) -> list[Problem]:
    """Those that stand in the way of publishing and running."""
    return [problem for problem in problems if problem.severity == "error"]
