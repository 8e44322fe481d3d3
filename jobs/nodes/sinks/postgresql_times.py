"""Times as text that PostgreSQL reads, of any year."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
#: With the offset, a time means the same in every zone; five letters are needed for offsets with seconds.
_TIME_WITH_OFFSET = "yyyy-MM-dd HH:mm:ss.SSSSSSXXXXX"


def time_text(value: Column, name: str) -> Column:
    """A value of a type in TIMES as PostgreSQL reads it, of any year."""
    from pyspark.sql import functions as F

    return _year_first(F.date_format(value, _TIME_WITH_OFFSET) if name == "timestamp" else value.cast("string"))


def _year_first(text: Column) -> Column:
    """Years beyond 9999 without their plus; those before 1 as PostgreSQL counts them, where no year 0 lies between."""
    from pyspark.sql import functions as F

    zero = F.concat(F.lit("0001"), F.substring(text, 5, 100), F.lit(" BC"))
    counted = F.lpad((F.substring(text, 2, 4).cast("int") + 1).cast("string"), 4, "0")
    before = F.concat(counted, F.substring(text, 6, 100), F.lit(" BC"))
    return F.when(text.startswith("0000-"), zero).when(text.startswith("-"), before).otherwise(F.ltrim(text, F.lit("+")))
