"""What one chooses for any sink that writes a table. In forms, the fields of the last base stand first."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.form import ColumnName, hints


class TableKeys(base.Config):
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

    @model_validator(mode="after")
    def _keys_belong_to_upsert(self) -> Self:
        if self.mode == "upsert" and not self.keys:
            raise ValueError("upsert needs keys: name the columns that tell rows apart")
        if self.mode != "upsert" and self.keys:
            raise ValueError(f"keys have no meaning for {self.mode}: choose upsert, or leave keys empty")
        if self.mode != "upsert" and self.delete_flag:
            raise ValueError(f"delete flag has no meaning for {self.mode}: choose upsert, or leave delete flag empty")
        if self.delete_flag.lower() in {key.lower() for key in self.keys}:
            raise ValueError("the delete flag is among the keys: it tells no rows apart, take it out of them")
        return self


class TableMaking(base.Config):
    create_table: bool = Field(
        True, description="Make the table if it does not exist.", examples=[True], json_schema_extra=hints(advanced=True)
    )
    add_columns: bool = Field(
        False,
        description="Add columns that the table lacks, when the job starts.",
        examples=[True],
        json_schema_extra=hints(advanced=True),
    )
