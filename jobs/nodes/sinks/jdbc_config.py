"""What one chooses for `sink.jdbc`."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.form import ColumnName, connection_field, hints
from jobs.nodes.sinks.table_fields import TableKeys, TableMaking


class _Place(base.Config):
    connection: str = connection_field("postgresql", "mysql", "sqlite")
    table: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00\r\n.]+(\.[^\x00\r\n.]+)?$",
        description="The table, if need be with its schema.",
        examples=["orders_big", "reporting.delays"],
    )


class _Updates(TableKeys):
    update_columns: tuple[ColumnName, ...] = Field(
        (),
        description="The columns that change where a row with these keys is there already; empty changes all. New rows are written whole.",
        examples=[["status", "changed_at"]],
        json_schema_extra=hints("columns", advanced=True, when="mode=upsert"),
    )

    @model_validator(mode="after")
    def _updates_belong_to_upsert(self) -> Self:
        if self.mode != "upsert" and self.update_columns:
            raise ValueError(f"update columns have no meaning for {self.mode}: choose upsert, or leave update columns empty")
        keys = {key.lower() for key in self.keys}
        if both := [name for name in self.update_columns if name.lower() in keys]:
            raise ValueError(f"{both[0]} is a key, which does not change: take it out of the update columns")
        return self


class JdbcSinkConfig(TableMaking, _Updates, _Place):
    sql_before: str = Field(
        "",
        max_length=100_000,
        description="One statement in the database's own SQL, run for each batch before its rows, in the same transaction.",
        examples=["SET LOCAL ROLE loader"],
        json_schema_extra=hints("sql", advanced=True),
    )
    sql_after: str = Field(
        "",
        max_length=100_000,
        description="One statement in the database's own SQL, run for each batch after its rows, in the same transaction.",
        examples=["UPDATE totals SET amount = (SELECT sum(amount) FROM orders_big)"],
        json_schema_extra=hints("sql", advanced=True),
    )
    batch_size: int = Field(
        10_000,
        ge=1,
        le=100_000,
        description="Rows in one INSERT at most, where a batch is too small to travel in files.",
        examples=[10_000],
        json_schema_extra=hints(advanced=True),
    )
