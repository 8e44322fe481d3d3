"""Tables of the sample rows that stand for sources in a preview."""

from __future__ import annotations

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from jobs.dag.pointers import pointer_of
from jobs.dag.problems import Problem
from jobs.dag.samples import SampleRows
from jobs.engine.compiler import PlanInvalid
from jobs.engine.given_rows import GivenTable, columns_said, columns_shown, columns_told, typed_rows
from jobs.engine.steps import Steps
from jobs.engine.typed_values import Misfit


def sample_tables(spark: SparkSession, steps: Steps, samples: Mapping[str, SampleRows]) -> dict[str, GivenTable]:
    """A table for each source of `steps` that has sample rows; `steps` may open no connection and no file.

    The columns are those the source tells by itself, else those said with the rows, else those the rows show. PlanInvalid names row and
    column of each value that fits none: /samples/ID/rows/ROW/COLUMN.
    """
    tables: dict[str, GivenTable] = {}
    problems: list[Problem] = []
    for source in steps.sources:
        if source in samples:
            table, wrong = _table(spark, steps, source, samples[source])
            problems += wrong
            if table is not None:
                tables[source] = table
    if problems:
        raise PlanInvalid(problems)
    return tables


def _table(spark: SparkSession, steps: Steps, source: str, sample: SampleRows) -> tuple[GivenTable | None, list[Problem]]:
    name, place = steps.by_id[source].name, ("samples", source)
    try:
        schema = _schema(spark, steps, source, sample)
    except Misfit as misfit:
        message = f"the columns of the sample rows of {name}: {misfit.message}"
        return None, [Problem(code="sample.columns", node_id=source, pointer=pointer_of((*place, "columns")), message=message)]
    zone = ZoneInfo(steps.plan.settings.time_zone)
    rows, wrong = typed_rows(sample.rows, schema, zone, prefix=(*place, "rows"), of=f"sample rows of {name}", code="sample.misfit")
    return GivenTable(schema, (tuple(rows),)), [problem.model_copy(update={"node_id": source}) for problem in wrong]


def _schema(spark: SparkSession, steps: Steps, source: str, sample: SampleRows) -> StructType:
    """What the source tells comes first: rows that were kept before its form was changed are seen with its columns of today."""
    if told := columns_told(spark, steps, source):
        return told
    ddl = sample.ddl()
    return columns_said(ddl) if ddl else columns_shown(sample.rows)
