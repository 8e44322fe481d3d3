"""Folders of files: made from columns, and from the day or hour of a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from jobs.nodes.columns import column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

TimeFolders = Literal["none", "year", "month", "day", "hour"]

#: The folders' names, outermost first, and how the time is written in each.
_TIME_FOLDERS: Mapping[TimeFolders, Mapping[str, str]] = {
    "none": {},
    "year": {"year": "yyyy"},
    "month": {"month": "yyyy-MM"},
    "day": {"date": "yyyy-MM-dd"},
    "hour": {"date": "yyyy-MM-dd", "hour": "HH"},
}


def time_folder_names(folders: TimeFolders) -> Sequence[str]:
    return tuple(_TIME_FOLDERS[folders])


def with_time_folders(frame: DataFrame, time_column: str, folders: TimeFolders) -> DataFrame:
    """`frame` with a column of text for each folder of the time, in the session's time zone; a missing time stays missing."""
    from pyspark.sql import functions as F

    for name, pattern in _TIME_FOLDERS[folders].items():
        frame = frame.withColumn(name, F.date_format(column(time_column), pattern))
    return frame
