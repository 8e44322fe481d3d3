"""What one chooses for `sink.delta`."""

from __future__ import annotations

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.form import ColumnName, hints
from jobs.nodes.sinks.table_fields import TableKeys, TableMaking


class _Place(base.Config):
    path: str = Field(
        min_length=1,
        description="The table's folder, below the folders this project may use; a relative path starts at the first of them.",
        examples=["warehouse/orders"],
        json_schema_extra=hints("path"),
    )


class _Parts(base.Config):
    partition_by: tuple[ColumnName, ...] = Field(
        (),
        description="Columns by whose values a new table is parted into folders: few values, each with many rows.",
        examples=[["day"]],
        json_schema_extra=hints("columns"),
    )


class DeltaSinkConfig(TableMaking, _Parts, TableKeys, _Place):
    pass
