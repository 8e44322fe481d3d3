"""Columns as a form lists them, and the Spark schema they make."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, Field, StringConstraints

from jobs.nodes.base import REJECTED, Config, NodeError
from jobs.nodes.column_types import SIMPLE_TYPES, type_checked
from jobs.nodes.config_refused import place_of_second
from jobs.nodes.form import ColumnName

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

#: A Spark type by its SQL name.
ColumnType = Annotated[
    str,
    StringConstraints(max_length=10_000),
    AfterValidator(type_checked),
    Field(json_schema_extra={"x-suggestions": [*SIMPLE_TYPES, "decimal(18, 2)"]}),
]

_MOST_NAMED = 30
#: Beginnings of the names of types that hold others.
NESTED = ("array", "map", "struct", "variant")


class ColumnField(Config):
    """One column of a source."""

    name: ColumnName = Field(description="The column's name.", examples=["carrier"])
    type: ColumnType = Field("string", description="The column's type.", examples=["string", "long", "double", "timestamp"])


def quoted(name: str) -> str:
    """`name` as a Spark SQL identifier."""
    return f"`{name.replace('`', '``')}`"


def sql_text(text: str) -> str:
    """`text` as a literal of Spark SQL."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def schema_of(fields: Sequence[ColumnField]) -> StructType:
    """The nullable schema of `fields`; NodeError when two share a name. Needs a live session."""
    names = [field.name for field in fields]
    if (second := place_of_second([name.lower() for name in names])) is not None:
        raise NodeError(named_twice(names, second), permanent=True, kind="user", field=f"columns/{second}/name")
    return schema_from_ddl(", ".join(f"{quoted(field.name)} {field.type}" for field in fields))


def named_twice(names: Sequence[str], second: int) -> str:
    """What is said where the name of column `second` was there before."""
    name = names[second]
    if name in names[:second]:
        return f"the columns name {name} more than once: keep one of each"
    other = next(one for one in names if one.lower() == name.lower())
    return f"the columns name both {other} and {name}, which Spark takes for one: keep one of them, or rename it"


def sampled_names_check(names: Iterable[str], what: str) -> None:
    """NodeError where a sample of `what` names columns that Spark takes for one: whatever reads them later could not tell them apart."""
    met: dict[str, str] = {}
    for name in names:
        if (other := met.get(name.lower())) is not None:
            raise NodeError(
                f"{what} have both {other} and {name}, which Spark takes for one column: list the columns that are meant",
                permanent=True,
                kind="user",
                field="columns",
            )
        met[name.lower()] = name


def type_text(kind: DataType) -> str:
    """`kind` in short, as `schema_from_ddl` reads it: names inside of it are quoted where they have to be."""
    from pyspark.sql.types import ArrayType, MapType, StructType

    if isinstance(kind, ArrayType):
        return f"array<{type_text(kind.elementType)}>"
    if isinstance(kind, MapType):
        return f"map<{type_text(kind.keyType)},{type_text(kind.valueType)}>"
    if isinstance(kind, StructType):
        return f"struct<{','.join(f'{_quoted_if_odd(field.name)}:{type_text(field.dataType)}' for field in kind.fields)}>"
    return kind.simpleString()


def _quoted_if_odd(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else quoted(name)


def schema_from_ddl(ddl: str) -> StructType:
    """The schema that `ddl` (such as "id bigint, name string") describes. Needs a live session."""
    from pyspark.sql.types import StructType

    schema = StructType.fromDDL(ddl)
    assert isinstance(schema, StructType)
    return schema


def require_columns(frame: DataFrame, names: Iterable[str], field: str, *, of: str = "") -> None:
    """NodeError on `field` that names the first of `names` which `frame` lacks, and those it has. `of`: such as "the table".

    `{row}` in `field` becomes that one's place among `names`, as in "keys/{row}".
    """
    known = {name.lower() for name in frame.columns}
    for row, name in enumerate(names):
        if name.lower() not in known:
            message = missing_column(name, frame.columns, of=of)
            raise NodeError(message, permanent=True, kind="user", field=field.replace("{row}", str(row)))


def missing_column(name: str, columns: Sequence[str], *, of: str = "") -> str:
    """The sentence about a column that is not among `columns`, with the one that was probably meant. `of`: such as "the table"."""
    listed = ", ".join(columns[:_MOST_NAMED]) + (" …" if len(columns) > _MOST_NAMED else "")
    near = difflib.get_close_matches(name.rsplit(".", 1)[-1].lower(), [column.lower() for column in columns], n=1, cutoff=0.6)
    meant = next((column for column in columns if near and column.lower() == near[0]), "")
    if of and meant:
        return f"{of} has no column {name}; did you mean {meant}? Its columns are {listed}"
    if of:
        return f"{of} has no column {name}; its columns are {listed}"
    if meant:
        return f"there is no column {name}; did you mean {meant}? The columns are {listed}"
    return f"there is no column {name}; the columns are {listed}"


def own_name(frame: DataFrame, name: str) -> str:
    """A column's name, of whatever case, as the frame itself writes it."""
    return next(own for own in frame.columns if own.lower() == name.lower())


def require_timestamp(frame: DataFrame, name: str, field: str) -> None:
    """NodeError on `field` where the column `name`, which is there, is no time."""
    declared = {known.lower(): declared for known, declared in frame.dtypes}[name.lower()]
    if not declared.startswith("timestamp"):
        raise NodeError(
            f"the time column {name} is {declared}; make it a timestamp before, such as to_timestamp({name})",
            permanent=True,
            kind="user",
            field=field,
        )


def require_order(frame: DataFrame, name: str, field: str) -> None:
    """NodeError on `field` where the column `name`, which is there, has no order in time."""
    kind = {known.lower(): declared for known, declared in frame.dtypes}[name.lower()]
    if kind.startswith(NESTED):
        message = f"the time column {name} is {kind}, by which rows have no order: take a time or a number"
        raise NodeError(message, permanent=True, kind="user", field=field)


def require_comparable(frame: DataFrame, names: Iterable[str], field: str) -> None:
    """NodeError on `field` that names the first of `names`, which are there, whose values Spark cannot compare; `{row}` as above."""
    kinds = {one.name.lower(): type_text(one.dataType) for one in frame.schema.fields}
    for row, name in enumerate(names):
        if re.search(r"\bmap<|\bvariant(?![\w:])", kind := kinds[name.lower()]):
            message = f"the column {name} is {kind}, and maps and variants cannot be compared: take another column"
            raise NodeError(message, permanent=True, kind="user", field=field.replace("{row}", str(row)))


def numbered(frame: DataFrame) -> DataFrame:
    """`frame` with columns c0, c1 …: what hands rows to Python reads them by name, and takes a dot in one for a step into it."""
    return frame.toDF(*(f"c{place}" for place in range(len(frame.columns))))


def empty_frame(spark: SparkSession, schema: StructType) -> DataFrame:
    """No rows of `schema`. PySpark's own way sends them through Python, which takes three times as long."""
    from pyspark.sql import DataFrame

    java: Any = spark._jsparkSession
    jvm: Any = spark._jvm
    return DataFrame(java.createDataFrame(jvm.java.util.ArrayList(), java.parseDataType(schema.json())), spark)


def rejected_schema(schema: StructType) -> StructType:
    """`schema` with the column that tells why a row was refused."""
    from pyspark.sql.types import StringType, StructField, StructType

    return StructType([*schema.fields, StructField(REJECTED, StringType(), True)])


def column(name: str) -> Column:
    """A column by its plain name: dots and back-ticks in it stand for themselves."""
    from pyspark.sql import functions as F

    return F.col(quoted(name))
