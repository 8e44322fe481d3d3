"""Rows counted inside Spark's compiled code (`jobs/engine/RowCounts.java`): observing them would part it in two at each place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from itertools import count
from typing import TYPE_CHECKING, Any

from jobs.nodes.java_class import java_class

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

#: No column is called so.
_COUNTED = "__counted_here__"
_BITS = 64
_numbers = count()
#: What is kept of a row, and of which: it, and two texts.
Kept = tuple["Column", "Column", "Column"]


class RowCounts:
    """Of one place in a plan: how many rows passed, by name of a measure those for which it is true, None for all; 128 at most.

    Up to `most_kept` of them are told, too. Rows that are computed again count once, until `begin` says that others come. What is told
    stands as soon as Spark has computed it.
    """

    def __init__(self, spark: SparkSession, place: str, measures: Mapping[str, Column | None], most_kept: int = 0) -> None:
        java_session: Any = spark._jsparkSession
        self._measures = measures
        self._java = java_class(spark, "RowCounts")(f"rows of {place}", len(measures), most_kept)
        java_session.sparkContext().register(self._java)

    def within(self, frame: DataFrame, kept: Kept | None = None) -> DataFrame:
        """`frame`, counting whenever it is computed. `kept`: which rows are told, by which two texts."""
        from pyspark.sql import Column
        from pyspark.sql import functions as F

        counted = self._counted(kept, is_deterministic=False)
        if kept is None and not any(is_its is not None for is_its in self._measures.values()):
            return frame.filter(counted)
        # Computed apart from the filter: Spark would move the filter below what it asks about, and compute that twice.
        apart = frame.withColumn(_COUNTED, counted)
        return apart.filter(Column(self._java.passing(F.col(_COUNTED)._jc))).drop(_COUNTED)

    def beside(self, frame: DataFrame, kept: Kept | None = None) -> DataFrame:
        """The same for a frame that is read where Spark wants none whose rows could differ from one time to the next; slower."""
        from pyspark.sql import functions as F

        return frame.observe(f"counted {next(_numbers)}", F.min(self._counted(kept, is_deterministic=True)).alias("counted"))

    def _counted(self, kept: Kept | None, *, is_deterministic: bool) -> Column:
        from pyspark.sql import Column
        from pyspark.sql import functions as F

        first, *others = self._measures.values()
        if kept is None and first is None and not others:
            return Column(self._java.eachCounted(is_deterministic))
        asked = [F.lit(True) if is_its is None else F.coalesce(is_its, F.lit(False)) for is_its in self._measures.values()]
        bits = [_bits(asked[:_BITS]), _bits(asked[_BITS:])]
        which, *texts = kept or (F.lit(False), F.lit(None), F.lit(None))
        wanted = which & Column(self._java.roomLeft(is_deterministic)) if kept else which
        told = [F.when(wanted, text).cast("string") for text in texts]
        return Column(self._java.counted(*(column._jc for column in (*bits, *told)), is_deterministic))

    def begin(self) -> None:
        self._java.begin()

    def rows(self, *, so_far: bool = False) -> dict[str, int]:
        """`so_far`: with those of tasks that are still at work; of such in another process as they were two seconds ago at most."""
        return dict(zip(self._measures, map(int, self._java.told(so_far).split()), strict=True))

    def texts(self) -> Iterable[tuple[str, str]]:
        texts = iter([str(text) for text in self._java.texts()])
        return zip(texts, texts, strict=True)


def _bits(asked: list[Column]) -> Column:
    """A bit for each that is true of a row."""
    from pyspark.sql import functions as F

    each = (
        F.when(is_true, F.lit(1 << bit if bit < _BITS - 1 else -(1 << bit)).cast("long")).otherwise(F.lit(0).cast("long"))
        for bit, is_true in enumerate(asked)
    )
    return reduce(lambda one, other: one.bitwiseOR(other), each, F.lit(0).cast("long"))
