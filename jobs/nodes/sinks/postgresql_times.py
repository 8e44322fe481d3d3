"""Times as text that PostgreSQL reads, of any year, and which of them it stores."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Column

TIMES = frozenset({"date", "timestamp", "timestamp_ntz"})
#: With the offset, a time means the same in every zone; five letters are needed for offsets with seconds.
_TIME_WITH_OFFSET = "yyyy-MM-dd HH:mm:ss.SSSSSSXXXXX"
#: In days since 2000: 24 November 4714 BC, and the day behind the end of the year 5874897, which only a date reaches.
_FIRST_DAY, _BEHIND_LAST_DAY = -2_451_545, 2_145_031_949
_MICROSECONDS_OF_A_DAY = 86_400_000_000
_FIRST_YEAR_BC, _FIRST_MONTH_AND_DAY, _LAST_YEAR = 4714, "11-24", 5_874_897
_DAY = re.compile(r"(\d+)-(\d\d-\d\d)")
TIME_OUT_OF_RANGE = "a date or time lies outside those that PostgreSQL can store: from 24 November 4714 BC to the year 5874897"


def number_is_stored(number: int, name: str) -> bool:
    """Whether PostgreSQL stores this many days ("date") or microseconds since 2000."""
    days = number if name == "date" else number // _MICROSECONDS_OF_A_DAY
    return _FIRST_DAY <= days < _BEHIND_LAST_DAY


def text_is_stored(text: str) -> bool:
    """Whether PostgreSQL stores what `time_text` gave."""
    is_before = text.endswith(" BC")
    if (not is_before and text[4:5] == "-") or not (day := _DAY.match(text)):
        return True
    year = int(day[1])
    return (-year, day[2]) >= (-_FIRST_YEAR_BC, _FIRST_MONTH_AND_DAY) if is_before else year <= _LAST_YEAR


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
