"""Rows counted inside Spark's compiled code (`jobs/engine/RowCounts.java`): observing them would part it in two at each place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_COUNTED = "__counted"


class RowCounts:
    """Of one place in a plan: how many rows passed, by name of a measure those for which it is true, None for all.

    Up to `most_kept` of them are told, too. Rows that are computed again count once, until `begin` says that others come. What is told
    stands as soon as Spark has computed it.
    """

    def __init__(self, spark: SparkSession, place: str, measures: Mapping[str, Column | None], most_kept: int = 0) -> None:
        jvm: Any = spark._jvm
        java_session: Any = spark._jsparkSession
        self._measures = measures
        try:
            self._java = jvm.pipeline_web.RowCounts(f"rows of {place}", len(measures), most_kept)
        except TypeError:  # so PySpark calls a class that is not there
            told = "Spark cannot count rows: our classes are not among its jars; `python -m scripts.class_archive` puts them there"
            raise RuntimeError(told) from None
        java_session.sparkContext().register(self._java)

    def within(self, frame: DataFrame, kept: tuple[Column, Column, Column] | None = None) -> DataFrame:
        """`frame`, counting whenever it is computed. `kept`: which rows are told, by which two texts."""
        from pyspark.sql import Column
        from pyspark.sql import functions as F

        asked = [F.lit(True) if is_its is None else is_its for is_its in self._measures.values()]
        counted = reduce(and_, (Column(self._java.counted(number, is_its._jc)) for number, is_its in enumerate(asked)))
        if kept is None and not any(is_its is not None for is_its in self._measures.values()):
            return frame.filter(counted)
        if kept is not None:
            which, reason, row = kept
            keeps = Column(self._java.keeping(reason._jc, row._jc))
            counted &= F.when(which & Column(self._java.roomLeft()), keeps).otherwise(F.lit(True))
        # Computed apart from the filter: Spark would move the filter below what it asks about, and compute that twice.
        apart = frame.withColumn(_COUNTED, counted)
        return apart.filter(Column(self._java.passing(F.col(_COUNTED)._jc))).drop(_COUNTED)

    def begin(self) -> None:
        self._java.begin()

    def rows(self) -> dict[str, int]:
        return dict(zip(self._measures, map(int, self._java.told().split()), strict=True))

    def texts(self) -> Iterable[tuple[str, str]]:
        texts = iter([str(text) for text in self._java.texts()])
        return zip(texts, texts, strict=True)
