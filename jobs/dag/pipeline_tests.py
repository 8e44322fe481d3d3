"""Tests of a job, kept in its document: rows for its sources, and the rows that are to come out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

#: What nodes and edges are called in a document.
Identifier = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,64}$")]
#: A node id, or a node id and one of its output ports, as in "parse.errors".
Outlet = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_]{1,64}(\.[^\x00]{1,64})?$")]

#: A time, or how long after the one before.
ClockTime = Annotated[str, StringConstraints(min_length=1, max_length=64, strip_whitespace=True)]

Rows = list[dict[str, Any]]


class PipelineTest(BaseModel):
    """One test. A key that a row lacks is null.

    `given`: source id → its rows, or in a stream a list of lists: one micro-batch each. `columns`: source id → names and types as
    SQL writes them ("id bigint, at timestamp"), where the source does not tell them without its system. `expect`: sink or flow id,
    perhaps with ".port" → the rows that arrive at the sink, or leave the flow. `clock`: when each micro-batch comes, see `clock_times`.
    `ordered`: in this order. `only_columns`: the columns that no expected row names are left out of the comparison.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
    given: dict[Identifier, list[Any]] = Field(default_factory=dict)
    columns: dict[Identifier, Annotated[str, StringConstraints(min_length=1, max_length=20_000)]] = Field(default_factory=dict)
    expect: dict[Outlet, list[dict[str, Any]]] = Field(default_factory=dict)
    parameters: dict[str, Any] = Field(default_factory=dict)
    clock: Annotated[list[ClockTime], Field(max_length=1000)] = Field(default_factory=list)
    ordered: bool = False
    only_columns: bool = False

    def batches(self, source: str) -> list[Rows]:
        """The rows of `source`, a list for each micro-batch."""
        rows = self.given.get(source, [])
        return list(rows) if is_batched(rows) else [list(rows)]


def outlet_parts(outlet: str) -> tuple[str, str]:
    """ "parse.errors" → ("parse", "errors"); without a port the port is "out", which a sink has no use for."""
    node_id, _, port = outlet.partition(".")
    return node_id, port or "out"


def is_batched(rows: list[Any]) -> bool:
    """Whether `rows` is a list of micro-batches."""
    return bool(rows) and all(isinstance(item, list) for item in rows)


def misplaced(rows: list[Any]) -> Iterator[tuple[tuple[int, ...], str]]:
    """What of `rows` is no row: where it stands, and what is wrong with it."""
    if any(isinstance(item, list) for item in rows):
        for number, batch in enumerate(rows):
            if not isinstance(batch, list):
                yield (number,), "rows and lists of rows cannot stand side by side: write all as batches, or none"
            else:
                yield from (((number, row), _NO_ROW) for row, item in enumerate(batch) if not isinstance(item, Mapping))
    else:
        yield from (((row,), _NO_ROW) for row, item in enumerate(rows) if not isinstance(item, Mapping))


_NO_ROW = "a row is an object of column names and values"


def tests_data(tests: list[PipelineTest]) -> list[dict[str, Any]]:
    """The tests as plain JSON data; what was not said is left out."""
    return [{"name": test.name, **test.model_dump(mode="json", exclude_defaults=True)} for test in tests]
