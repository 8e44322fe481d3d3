"""Sample rows of a draft's sources: what a preview takes instead of reading them."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, StringConstraints

from jobs.dag.pipeline_tests import Identifier
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem

#: Of one source.
MAX_SAMPLE_ROWS = 1000
#: Of all sources of a draft, as JSON.
MAX_SAMPLE_BYTES = 1024 * 1024


class SampleColumn(BaseModel):
    """One column; `type` as SQL writes it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, StringConstraints(min_length=1, max_length=1000)]
    type: Annotated[str, StringConstraints(min_length=1, max_length=20_000)]


class SampleRows(BaseModel):
    """Rows in place of a source's own. A key that a row lacks is null.

    `columns`: names and types as SQL writes them ("id bigint, at timestamp"), or one by one, where the source does not tell them without
    its system; without them the rows show them.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    columns: Annotated[str, StringConstraints(max_length=20_000, strip_whitespace=True)] | list[SampleColumn] = ""
    rows: list[dict[str, Any]]

    def ddl(self) -> str:
        """The columns as SQL writes them, "" where none are said."""
        if isinstance(self.columns, str):
            return self.columns
        return ", ".join(f"`{column.name.replace('`', '``')}` {column.type}" for column in self.columns)


class Sample(SampleRows):
    """Rows that are kept with a draft. `by_hand`: a person wrote or changed them; else the source gave them. `taken_by`: a user's name."""

    by_hand: bool = False
    taken_at: datetime
    taken_by: str = ""


Samples = dict[Identifier, SampleRows]


def sample_to_keep(sample: Sample) -> dict[str, Any]:
    """As plain JSON data. The rows are one text in it: PostgreSQL sorts the keys of objects, and theirs are columns in their order."""
    plain = sample.model_dump(mode="json")
    return {**plain, "rows": json.dumps(plain["rows"], ensure_ascii=False, separators=(",", ":"))}


def sample_kept(kept: Mapping[str, Any]) -> dict[str, Any]:
    """What `sample_to_keep` was given, as plain JSON data; in what was kept earlier the rows are a list."""
    return {**kept, "rows": json.loads(kept["rows"]) if isinstance(kept["rows"], str) else kept["rows"]}


def sample_problems(samples: Mapping[str, SampleRows]) -> list[Problem]:
    """What of `samples` is too much to be kept or used. Pointers begin with /samples and the source's id."""
    problems = [
        Problem(
            code="sample.too_large",
            node_id=node_id,
            pointer=pointer_of(("samples", node_id, "rows")),
            message=f"{node_id} has {len(sample.rows):,} sample rows; at most {MAX_SAMPLE_ROWS:,} of a source are kept: leave some out",
        )
        for node_id, sample in samples.items()
        if len(sample.rows) > MAX_SAMPLE_ROWS
    ]
    return problems or _size_problems(samples)


def sources_in(types: Mapping[str, str]) -> set[str]:
    """The sources among nodes; `types`: node id → type."""
    return {node_id for node_id, type_name in types.items() if type_name.startswith("source.")}


def no_sources(samples: Collection[str], sources: Collection[str]) -> list[Problem]:
    """A Problem for each of `samples` that is given to none of `sources`."""
    return [
        Problem(
            code="sample.no_source",
            pointer=pointer_of(("samples", node_id)),
            message=f'there is no source "{node_id}" in the drawing: rows are given to sources',
        )
        for node_id in samples
        if node_id not in sources
    ]


def _size_problems(samples: Mapping[str, SampleRows]) -> list[Problem]:
    plain = {node_id: sample.model_dump(mode="json") for node_id, sample in samples.items()}
    size = len(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode())
    if size <= MAX_SAMPLE_BYTES:
        return []
    message = f"the sample rows of all sources have {size:,} bytes together; at most 1 MiB is kept: leave out rows, or long values"
    return [Problem(code="sample.too_large", pointer="/samples", message=message)]
