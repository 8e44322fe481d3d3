"""Which columns of a record do not hold the values that came for them; worked out for rows that are rejected, and for no others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from jobs.nodes.base import AS_IT_CAME, REJECTED
from jobs.nodes.columns import column, quoted, sql_text
from jobs.nodes.csv_lines import csv_line_sql, csv_values_sql

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

_SENTENCE = "{column} should be {type}, not {value}"
_ONE, _MANY, _MANY_FOR_ONE = "1 value for {columns} columns", "{values} values for {columns} columns", "{values} values for 1 column"
_SHOWN_CHARACTERS = 60
_NAMED_COLUMNS = 5
#: How much of a text that is rejected is shown where rows are told; whoever reads them gets it whole.
SHOWN_TEXT = 2000
_TOLD = "told"
#: Names that no column has.
_PAIR, _LINE, _EMPTY = "__pair", "__line", "__empty"


def rejected_column(reason: Column, told: str = "") -> Column:
    """`reason` as the column REJECTED, null for a good row. `told`: the SQL of what it says in full (`misfit_told`).

    That goes along as metadata, for whoever reads the rejected rows: as a column, it would cost every row a tenth of a run. Functions
    with functions in them are no part of the code that Spark writes for a plan.
    """
    return reason.alias(REJECTED, metadata={_TOLD: told} if told else {})


def rejected_again(frame: DataFrame, reason: Column) -> Column:
    """`reason`, made of the column REJECTED of `frame`, in its place."""
    return reason.alias(REJECTED, metadata=frame.schema[REJECTED].metadata)


def reason_told(frame: DataFrame) -> Column:
    """Why a row of `frame`, which has the column REJECTED, is rejected."""
    from pyspark.sql import functions as F

    told = frame.schema[REJECTED].metadata.get(_TOLD)
    return F.expr(told) if told else F.col(REJECTED)


def reasons_told(spark: SparkSession, schema: StructType, kept: Sequence[tuple[str, str]]) -> list[str]:
    """The same for rows that were `kept`: what stood in REJECTED, and `empty_columns`; of what came, the beginning.

    `schema` is that of their frame.
    """
    from pyspark.sql import functions as F

    told = schema[REJECTED].metadata.get(_TOLD)
    if not told or not any(AS_IT_CAME in reason for reason, _ in kept):
        return [_shown(reason) for reason, _ in kept]
    rows = spark.createDataFrame([(reason, empty.split(",")) for reason, empty in kept], f"{REJECTED} string, {_EMPTY} array<string>")
    names = [name for name in schema.names if name != REJECTED]
    held = [F.when(~F.array_contains(_EMPTY, str(place)), F.lit(True)).alias(name) for place, name in enumerate(names)]
    return [_shown(row[0]) for row in rows.select(REJECTED, *held).select(F.expr(told)).collect()]


def _shown(reason: str) -> str:
    why, found, came = reason.partition(AS_IT_CAME)
    return f"{why}{found}{came[:SHOWN_TEXT]}"


def empty_columns(frame: DataFrame) -> Column:
    """Which columns of a row of `frame` hold nothing, by their places, parted by commas."""
    from pyspark.sql import functions as F

    names = [name for name in frame.columns if name != REJECTED]
    return F.concat_ws(",", *(F.when(column(name).isNull(), F.lit(str(place))) for place, name in enumerate(names)))


def misfit(words: str, text: Column, schema: StructType, format: str, options: Mapping[str, str] | None = None) -> tuple[Column, str]:
    """The reason of a row whose `text` does not fit, `words` and the whole text; and the SQL of what it says in full (`misfit_told`)."""
    from pyspark.sql import functions as F

    return F.concat(F.lit(words + AS_IT_CAME), text), misfit_told(words, schema, format, options)


def misfit_told(words: str, schema: StructType, format: str, options: Mapping[str, str] | None = None) -> str:
    """`words`, and the first columns of `schema` for which a rejected text has values that the row's columns do not hold, with their
    types and these values, or how many values a line has; behind that the text.

    SQL over the columns of a row and REJECTED, which holds `words`, AS_IT_CAME and the whole text; another reason stays as it is. Only
    JSON and CSV tell more than `words`; other formats, and what is no record at all, leave them alone. `options` are those that read CSV.
    """
    prefix = f"{words}{AS_IT_CAME}"
    text = f"substring({REJECTED}, {len(prefix) + 1})"
    misfits = _misfits(text, schema, format, options or {})
    told = f"concat_ws(': ', {sql_text(words)}, {misfits})"
    full = f"concat({told}, {sql_text(AS_IT_CAME)}, {text})"
    return f"if(startswith({REJECTED}, {sql_text(prefix)}), {full}, {REJECTED})"


def _misfits(text: str, schema: StructType, format: str, options: Mapping[str, str]) -> str:
    if format not in ("json", "csv") or not schema.fields:
        return "CAST(NULL AS STRING)"
    given = _json(text) if format == "json" else _csv(text, schema, options)
    lost = ", ".join(f"if({quoted(field.name)} IS NULL, {sql_text(field.name)}, NULL)" for field in schema.fields)
    unheld = f"filter({given.pairs}, {_PAIR} -> array_contains(array({lost}), {_PAIR}.key) AND {given.is_value})"
    sentences = f"transform(slice({unheld}, 1, {_NAMED_COLUMNS}), {_PAIR} -> {_sentence(schema, given.shown)})"
    told = f"nullif(array_join({sentences}, '; '), '')"
    return told if format == "json" else f"coalesce({_other_number(text, len(schema.fields), options)}, {told})"


def _other_number(line: str, columns: int, options: Mapping[str, str]) -> str:
    """How many values a line has, as SQL; null where they are as many as the columns."""
    values = csv_values_sql(csv_line_sql(line), options["sep"])
    told = _MANY if columns > 1 else _MANY_FOR_ONE
    many = f"replace({sql_text(told.replace('{columns}', str(columns)))}, '{{values}}', CAST({values} AS STRING))"
    one = sql_text(_ONE.replace("{columns}", str(columns)))
    return f"CASE {values} WHEN {columns} THEN NULL WHEN 1 THEN {one} ELSE {many} END"


def _sentence(schema: StructType, shown: str) -> str:
    types = ", ".join(sql_text(part) for field in schema.fields for part in (field.name, field.dataType.simpleString()))
    short = f"if(length({shown}) > {_SHOWN_CHARACTERS}, concat(substring({shown}, 1, {_SHOWN_CHARACTERS}), '…'), {shown})"
    typed = f"replace({sql_text(_SENTENCE)}, '{{type}}', element_at(map({types}), {_PAIR}.key))"
    return f"replace(replace({typed}, '{{column}}', {_PAIR}.key), '{{value}}', {short})"


class _Given(NamedTuple):
    """A record's names with values, as SQL; of such a _PAIR what tells that it has a value, and how that is shown."""

    pairs: str
    is_value: str
    shown: str


def _json(text: str) -> _Given:
    pairs = f"map_entries(from_json({text}, 'map<string, variant>'))"
    return _Given(pairs, f"NOT is_variant_null({_PAIR}.value)", f"to_json({_PAIR}.value)")


def _csv(text: str, schema: StructType, options: Mapping[str, str]) -> _Given:
    """A line with more or fewer values has none that belong to a column."""
    columns = ", ".join(f"_{number} string" for number in range(len(schema.fields)))
    given = {**options, "mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_corrupt"}
    told = ", ".join(sql_text(part) for option in given.items() for part in option)
    line = f"from_csv({csv_line_sql(text)}, '{columns}, _corrupt string', map({told}))"
    pairs = ", ".join(f"struct({sql_text(field.name)} AS key, {_LINE}._{number} AS value)" for number, field in enumerate(schema.fields))
    whole = f"transform(array({line}), {_LINE} -> if({_LINE}._corrupt IS NULL, array({pairs}), NULL))[0]"
    return _Given(whole, f"{_PAIR}.value IS NOT NULL", f"concat('\"', {_PAIR}.value, '\"')")
