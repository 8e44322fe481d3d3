"""What one chooses for `sink.jdbc`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.form import ColumnName, connection_field, hints


class JdbcSinkConfig(base.Config):
    connection: str = connection_field("postgresql", "mysql", "sqlite")
    table: str = Field(
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00\r\n.]+(\.[^\x00\r\n.]+)?$",
        description="The table, if need be with its schema.",
        examples=["orders_big", "reporting.delays"],
    )
    mode: Literal["append", "upsert", "overwrite"] = Field(
        "append",
        description="Append adds rows; upsert replaces rows with the same keys; overwrite empties the table at a start from the beginning.",
        examples=["upsert"],
    )
    keys: tuple[ColumnName, ...] = Field(
        (),
        description="The columns that tell rows apart, for upsert.",
        examples=[["id"]],
        json_schema_extra=hints("columns", when="mode=upsert"),
    )
    delete_flag: str = Field(
        "",
        max_length=255,
        description="A column of true and false: where it is true, the row with these keys is deleted. It is not written itself.",
        examples=["deleted"],
        json_schema_extra=hints("column", advanced=True, when="mode=upsert"),
    )
    update_columns: tuple[ColumnName, ...] = Field(
        (),
        description="The columns that change where a row with these keys is there already; empty changes all. New rows are written whole.",
        examples=[["status", "changed_at"]],
        json_schema_extra=hints("columns", advanced=True, when="mode=upsert"),
    )
    create_table: bool = Field(
        True, description="Make the table if it does not exist.", examples=[True], json_schema_extra=hints(advanced=True)
    )
    add_columns: bool = Field(
        False,
        description="Add columns that the table lacks, when the job starts.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
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

    @model_validator(mode="after")
    def _keys_belong_to_upsert(self) -> JdbcSinkConfig:
        if self.mode == "upsert" and not self.keys:
            raise ValueError("upsert needs keys: name the columns that tell rows apart")
        for name, given in (("keys", self.keys), ("delete flag", self.delete_flag), ("update columns", self.update_columns)):
            if self.mode != "upsert" and given:
                have = "has" if name == "delete flag" else "have"
                raise ValueError(f"{name} {have} no meaning for {self.mode}: choose upsert, or leave {name} empty")
        return self

    @model_validator(mode="after")
    def _keys_stay(self) -> JdbcSinkConfig:
        keys = {key.lower() for key in self.keys}
        if self.delete_flag.lower() in keys:
            raise ValueError("the delete flag is among the keys: it tells no rows apart, take it out of them")
        if both := [name for name in self.update_columns if name.lower() in keys]:
            raise ValueError(f"{both[0]} is a key, which does not change: take it out of the update columns")
        return self
