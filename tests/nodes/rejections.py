"""Where a sink of a test puts the rows that its target refuses, as the engine has it put them."""

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from jobs.nodes.rejected_rows import RejectedRows


def rejections_in(folder: Path) -> RejectedRows:
    """Begun, for one batch."""
    rejections = RejectedRows(folder / "rejected", 1)
    rejections.begin()
    return rejections


def rows_led_on(rejections: RejectedRows, frame: DataFrame) -> list[tuple[Any, ...]]:
    """What stands behind the errors port of a sink that was given `frame`, without the reasons, in order."""
    rejections.complete()
    found = rejections.read(frame.sparkSession, frame.schema).collect()
    assert all(row.rejected_reason for row in found)
    return sorted(tuple(row)[:-1] for row in found)
