"""Rows that are given in place of a source's own: their columns, their values in the columns' types, their frames and files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StringType, StructField, StructType

from jobs.dag.pipeline_tests import PipelineTest, Rows, is_batched
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.engine.analysis_problems import first_line
from jobs.engine.steps import Steps
from jobs.engine.typed_values import Misfit, type_shown_by, typed
from jobs.nodes.base import REJECTED, Limits, NodeContext
from jobs.nodes.columns import missing_column, schema_of, type_text
from jobs.nodes.user_python.workers import in_workers_shared

_MOST_PROBLEMS = 20
#: Times of the files lie this far apart: Spark reads them in the order of their times.
_APART_SECONDS = 2


@dataclass(frozen=True)
class GivenTable:
    """`batches`: values of each row in the order of the columns."""

    schema: StructType
    batches: tuple[tuple[tuple[Any, ...], ...], ...]


def given_table(
    spark: SparkSession, steps: Steps, test: PipelineTest, number: int, source: str, zone: tzinfo
) -> tuple[GivenTable | None, list[Problem]]:
    """The rows that the test, the document's `number`th, gives to `source`; or None and which row does not fit which column."""
    batches = test.batches(source)
    rows = [row for batch in batches for row in batch]
    try:
        schema = _columns(spark, steps, source, test.columns.get(source, ""), rows)
    except Misfit as misfit:
        message = f'"{test.name}": the columns of {source}: {misfit.message}'
        return None, [Problem(code="test.columns", pointer=pointer_of(("tests", number, "columns", source)), message=message)]
    problems: list[Problem] = []
    values: list[tuple[tuple[Any, ...], ...]] = []
    for place, batch in enumerate(batches):
        batched = is_batched(test.given[source])
        typed_batch, wrong = typed_rows(
            batch,
            schema,
            zone,
            prefix=("tests", number, "given", source, *((place,) if batched else ())),
            of=f'"{test.name}": {source} in batch {place + 1}' if batched else f'"{test.name}": {source}',
        )
        problems += wrong
        values.append(tuple(typed_batch))
    return (None, problems[:_MOST_PROBLEMS]) if problems else (GivenTable(schema, tuple(values)), [])


def _columns(spark: SparkSession, steps: Steps, source: str, ddl: str, rows: Rows) -> StructType:
    """What the source tells, else what `ddl` says, else what the rows show. Misfit where `ddl` says other columns than the source."""
    said, told = columns_said(ddl) if ddl else None, columns_told(spark, steps, source)
    if said and told:
        _refuse_others(said, told)
    return told or said or columns_shown(rows)


def _refuse_others(said: StructType, told: StructType) -> None:
    """Misfit that names the first column in which the two differ: a test with columns that no run has would prove nothing."""
    here, there = ({field.name: type_text(field.dataType) for field in schema.fields} for schema in (said, told))
    for name in [*here, *there]:
        if here.get(name) != there.get(name):
            test, source = (kinds.get(name, "no such column") for kinds in (here, there))
            raise Misfit(f"{name}: the test has {test}, and the source itself {source}; leave the columns out, or change the source's")


def typed_rows(
    rows: Rows, schema: StructType, zone: tzinfo, *, prefix: Sequence[str | int], of: str, code: str = "test.misfit"
) -> tuple[list[tuple[Any, ...]], list[Problem]]:
    """Each row as the values of its columns, and a Problem of `code` for each value that does not fit; pointers begin with `prefix`."""
    done: list[tuple[Any, ...]] = []
    problems: list[Problem] = []
    for number, row in enumerate(rows):
        faults: dict[tuple[str | int, ...], str] = {(name,): missing_column(name, schema.names) for name in row if name not in schema.names}
        values = []
        for field in schema.fields:
            try:
                values.append(typed(row.get(field.name), field.dataType, zone))
            except Misfit as misfit:
                faults[(field.name, *misfit.path)] = misfit.message
        done.append(tuple(values))
        problems += [
            Problem(code=code, pointer=pointer_of((*prefix, number, *path)), message=f"{of}, row {number + 1}, column {path[0]}: {words}")
            for path, words in faults.items()
        ]
    return done, problems[:_MOST_PROBLEMS]


def table_write(spark: SparkSession, table: GivenTable, folder: Path, *, one_batch: bool, look: Callable[[], None]) -> None:
    """A Parquet file for each batch, one after another; with `one_batch` all rows in one file, which keeps their order.

    `look` is called before each, and raises where it is not to go on.
    """
    batches = [tuple(row for batch in table.batches for row in batch)] if one_batch else table.batches
    folder.mkdir(parents=True)
    for number, rows in enumerate(batches):
        look()
        written = folder.parent / f"{folder.name}-{number}"
        spark.createDataFrame(list(rows), table.schema).coalesce(1).write.parquet(str(written))
        file = folder / f"batch-{number:05}.parquet"
        next(written.glob("part-*.parquet")).rename(file)
        shutil.rmtree(written)
        moment = file.stat().st_mtime + (number - len(batches)) * _APART_SECONDS
        os.utime(file, (moment, moment))


def table_frames(spark: SparkSession, steps: Steps, tables: Mapping[str, GivenTable], most: int) -> dict[str, dict[str, DataFrame]]:
    """The first `most` rows of each table, as `Frames` takes them in place of its source: source id → {"out": frame}. None is rejected."""
    return {source: {"out": _frame(spark, table, most, rejects=steps.types[source].rejects_rows)} for source, table in tables.items()}


def _frame(spark: SparkSession, table: GivenTable, most: int, *, rejects: bool) -> DataFrame:
    rows = [row for batch in table.batches for row in batch][:most]
    frame = in_workers_shared(lambda: spark.createDataFrame(rows, table.schema)).coalesce(1)
    return frame.withColumn(REJECTED, F.lit(None).cast(StringType())) if rejects else frame


def columns_said(ddl: str) -> StructType:
    """Columns as SQL writes them. Misfit where they cannot be read."""
    try:
        said = DataType.fromDDL(ddl)
    except PySparkException as error:
        raise _unreadable(error) from None
    if not isinstance(said, StructType) or not said.fields:
        raise Misfit(f'"{ddl}" names none: write them as in id bigint, name string')
    return _nullable(said)


def _unreadable(error: PySparkException) -> Misfit:
    """What Spark's parser says of columns, in words for the user."""
    given = error.getMessageParameters() or {}
    if error.getCondition() == "UNSUPPORTED_DATATYPE":
        name = given.get("typeName", "").strip('"').lower()
        return Misfit(f"they cannot be read: there is no type {name}; write one such as bigint, decimal(10, 2), string or timestamp")
    if error.getCondition() == "PARSE_SYNTAX_ERROR":
        near = given.get("error", "").strip("'")
        where = "their end" if near == "end of input" else f'"{near}"'
        return Misfit(f"they cannot be read at {where}: write them as in id bigint, name string")
    return Misfit(f"they cannot be read: {first_line(error)}")


def columns_shown(rows: Rows) -> StructType:
    """Columns by what stands in `rows`. Misfit where there are none, or the values of one are of several types."""
    names = dict.fromkeys(name for row in rows for name in row)
    if not names:
        raise Misfit("neither the source nor a row tells any: name them under columns")
    return StructType([StructField(name, _shown_type(rows, name)) for name in names])


def _shown_type(rows: Rows, name: str) -> Any:
    try:
        return type_shown_by([row.get(name) for row in rows])
    except Misfit as misfit:
        raise Misfit(f"{name}: {misfit.message}") from None


def columns_told(spark: SparkSession, steps: Steps, source: str) -> StructType | None:
    """What the source says of its columns where it may open no connection, no file and no address: `steps` may name none."""
    config = steps.by_id[source].config
    context: NodeContext[Any] = steps.context(source, "batch", schema_only=True)
    assert not context.connections
    assert context.limits == Limits()
    try:
        schema = steps.source(source).read(spark, context).schema
    except Exception:
        listed = getattr(config, "columns", ())
        return _nullable(schema_of(listed)) if listed else None
    return _nullable(StructType([field for field in schema.fields if field.name != REJECTED]))


def _nullable(schema: StructType) -> StructType:
    return StructType([StructField(field.name, field.dataType) for field in schema.fields])
