"""The rows that a test gives to a source: their columns, their values in the columns' types, and the files they are read from."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql.types import StructField, StructType

from jobs.dag.pipeline_tests import PipelineTest, Rows, is_batched
from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.engine.steps import Steps
from jobs.engine.typed_values import Misfit, type_shown_by, typed
from jobs.nodes.base import REJECTED, Limits, NodeContext
from jobs.nodes.columns import schema_from_ddl, schema_of

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
    try:
        schema = _columns(spark, steps, test, source, batches)
    except Misfit as misfit:
        message = f'"{test.name}": the columns of {source}: {misfit.message}'
        return None, [Problem(code="test.columns", pointer=pointer_of(("tests", number, "columns", source)), message=message)]
    problems: list[Problem] = []
    values: list[tuple[tuple[Any, ...], ...]] = []
    for place, batch in enumerate(batches):
        prefix: tuple[str | int, ...] = (number, "given", source, *((place,) if is_batched(test.given[source]) else ()))
        rows, wrong = typed_rows(batch, schema, zone, prefix=prefix, of=f'"{test.name}": {source}')
        problems += wrong
        values.append(tuple(rows))
    return (None, problems[:_MOST_PROBLEMS]) if problems else (GivenTable(schema, tuple(values)), [])


def typed_rows(
    rows: Rows, schema: StructType, zone: tzinfo, *, prefix: Sequence[str | int], of: str
) -> tuple[list[tuple[Any, ...]], list[Problem]]:
    """Each row as the values of its columns, and a Problem for each value that does not fit; pointers begin with /tests and `prefix`."""
    done: list[tuple[Any, ...]] = []
    problems: list[Problem] = []
    for number, row in enumerate(rows):
        faults: dict[tuple[str | int, ...], str] = {
            (name,): f"there is no column {name}; the columns are {', '.join(schema.names)}" for name in row if name not in schema.names
        }
        values = []
        for field in schema.fields:
            try:
                values.append(typed(row.get(field.name), field.dataType, zone))
            except Misfit as misfit:
                faults[(field.name, *misfit.path)] = f"column {field.name}: {misfit.message}"
        done.append(tuple(values))
        problems += [
            Problem(code="test.misfit", pointer=pointer_of(("tests", *prefix, number, *path)), message=f"{of}, row {number + 1}: {words}")
            for path, words in faults.items()
        ]
    return done, problems[:_MOST_PROBLEMS]


def table_write(spark: SparkSession, table: GivenTable, folder: Path, *, one_batch: bool) -> None:
    """A Parquet file for each batch, one after another; with `one_batch` all rows in one file, which keeps their order."""
    batches = [tuple(row for batch in table.batches for row in batch)] if one_batch else table.batches
    folder.mkdir(parents=True)
    for number, rows in enumerate(batches):
        written = folder.parent / f"{folder.name}-{number}"
        spark.createDataFrame(list(rows), table.schema).coalesce(1).write.parquet(str(written))
        file = folder / f"batch-{number:05}.parquet"
        next(written.glob("part-*.parquet")).rename(file)
        shutil.rmtree(written)
        moment = file.stat().st_mtime + (number - len(batches)) * _APART_SECONDS
        os.utime(file, (moment, moment))


def _columns(spark: SparkSession, steps: Steps, test: PipelineTest, source: str, batches: Sequence[Rows]) -> StructType:
    """As the test says; else as the source tells without its system; else as the rows show. Misfit where that is no schema."""
    if source in test.columns:
        try:
            return _nullable(schema_from_ddl(test.columns[source]))
        except PySparkException as error:
            raise Misfit(f"they cannot be read: {str(error).splitlines()[0]}") from None
    told = _told_by_source(spark, steps, source)
    rows = [row for batch in batches for row in batch]
    return told or StructType([StructField(name, _shown_type(rows, name)) for name in dict.fromkeys(name for row in rows for name in row)])


def _shown_type(rows: Rows, name: str) -> Any:
    try:
        return type_shown_by([row.get(name) for row in rows])
    except Misfit as misfit:
        raise Misfit(f"{name}: {misfit.message}") from None


def _told_by_source(spark: SparkSession, steps: Steps, source: str) -> StructType | None:
    """What the source says of its columns where it may open no connection, no file and no address."""
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
