"""Rows into a Delta table by their keys: the one MERGE of a batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from jobs.nodes.columns import column, quoted

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_ORDINAL = "__ordinal"
_LATEST = "__latest"


def latest_rows(frame: DataFrame, keys: Sequence[str]) -> DataFrame:
    """Of rows with the same keys the one that came last."""
    from pyspark.sql import functions as F

    whole = F.struct(*(column(name) for name in frame.columns))
    numbered = frame.select(*(column(key) for key in keys), whole.alias(_LATEST), F.monotonically_increasing_id().alias(_ORDINAL))
    found = numbered.groupBy(*(column(key) for key in keys)).agg(F.max_by(_LATEST, _ORDINAL).alias(_LATEST))
    return found.select(f"{_LATEST}.*")


def rows_merge(frame: DataFrame, folder: Path, keys: Sequence[str], delete_flag: str, transaction: Mapping[str, str]) -> None:
    """Update rows with the same keys and insert the others; where the flag is true, delete instead. `frame` is read several times.

    An empty key is equal to an empty key. `transaction`: what Delta is told so that a batch is merged once.
    """
    spark = frame.sparkSession
    jvm: Any = spark._jvm
    session: Any = spark
    written = {quoted(name): f"s.{quoted(name)}" for name in frame.columns if name != delete_flag}
    condition = " AND ".join(f"t.{quoted(key)} <=> s.{quoted(key)}" for key in keys)
    table = jvm.io.delta.tables.DeltaTable.forPath(session._jsparkSession, str(folder))
    merge = table.alias("t").merge(latest_rows(frame, keys).alias("s")._jdf, condition)
    if delete_flag:
        gone = f"coalesce(s.{quoted(delete_flag)}, false)"
        merge = merge.whenMatched(gone).delete()
        merge = merge.whenMatched().updateExpr(written).whenNotMatched(f"NOT {gone}").insertExpr(written)
    else:
        merge = merge.whenMatched().updateExpr(written).whenNotMatched().insertExpr(written)
    with _told(spark, transaction):
        merge.execute()


@contextmanager
def _told(spark: SparkSession, transaction: Mapping[str, str]) -> Iterator[None]:
    """A MERGE takes from the session what other writes take from their options."""
    names = {f"spark.databricks.delta.write.{name}": value for name, value in transaction.items()}
    for name, value in names.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in names:
            spark.conf.unset(name)
