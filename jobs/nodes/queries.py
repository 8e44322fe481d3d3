"""A person's SQL query over frames, each a table of its own name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobs.nodes.base import NodeError
from jobs.nodes.columns import quoted
from jobs.nodes.expressions import check_query
from jobs.nodes.node_error import reworded

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: A name that Spark always reads without back quotes; one that begins with a digit may be a number to it.
_PLAIN = re.compile(r"[a-z_]\w*", re.ASCII | re.IGNORECASE)
_WORD = re.compile(r"\w+", re.ASCII)


def selected(query: str, tables: Mapping[str, DataFrame], *, drawn: bool) -> DataFrame:
    """What `query` finds in `tables`, of which there is at least one, and in nothing else.

    `drawn`: who draws the job hears of columns that cannot be told apart. A permanent NodeError for what is no such query, Spark's own
    error for one that it cannot read or whose columns are not there.
    """
    query = query.strip().rstrip(";").rstrip()
    if not query:
        raise NodeError("the query is empty: begin with SELECT or WITH", permanent=True, kind="user", field="query")
    spark = next(iter(tables.values())).sparkSession
    try:
        check_query(spark, query, tables)
    except NodeError as error:
        raise reworded(error, error.message, "query") from error
    found = _over_views(spark, query, {name: frame for name, frame in tables.items() if _may_read(query, name)})
    if drawn:
        _require_told_apart(found)
    return found


def table_word(name: str) -> str:
    """How a query writes the name of a table."""
    return name if _PLAIN.fullmatch(name) else quoted(name)


def _may_read(query: str, name: str) -> bool:
    written = name if _WORD.fullmatch(name) else quoted(name)
    return written.lower() in query.lower()


def _require_told_apart(found: DataFrame) -> None:
    """NodeError where two columns have one name. Only while a job is drawn: one published so goes on as long as nothing asks for them."""
    names = [name.lower() for name in found.columns]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        message = f"{', '.join(twice)} would come out more than once: list the columns that are meant, each with a name of its own by AS"
        raise NodeError(message, permanent=True, kind="user", field="query")


def _over_views(spark: SparkSession, query: str, tables: Mapping[str, DataFrame]) -> DataFrame:
    """Views live in this execution's own session and only while the query is analysed.

    Each is of a filter that lets all through: Spark lets go of the kept rows of a frame whose own view is dropped.
    """
    for name, frame in tables.items():
        frame.where("true").createOrReplaceTempView(table_word(name))
    try:
        return spark.sql(query)
    finally:
        for name in tables:
            spark.catalog.dropTempView(name)
