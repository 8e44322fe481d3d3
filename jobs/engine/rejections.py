"""What a sink's target refuses of a batch, on its way to the nodes behind the sink's errors port."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

from jobs.engine.counts import SAMPLE_ROWS
from jobs.nodes.base import NodeContext, Written
from jobs.nodes.rejected_rows import RejectedRows


def rejections_begun(context: NodeContext[Any], batch_id: int) -> RejectedRows:
    """Where the sink of `context` puts them in this batch. What earlier batches put there goes: Spark has committed those."""
    place = context.work_dir / "rejected"
    for folder in place.glob("*"):
        if folder.name != str(batch_id):
            shutil.rmtree(folder, ignore_errors=True)
    rejections = RejectedRows(place / str(batch_id), context.attempt)
    rejections.begin()
    return rejections


def rejections_counted(rejections: RejectedRows, written: Written) -> Written:
    """`written` with all that was rejected, now that it counts; of a batch that an earlier attempt wrote, what it rejected."""
    if not written.repeated:
        rejections.complete()
        return written
    rows, sample = rejections.counted(SAMPLE_ROWS)
    return replace(written, rejected=rows, rejected_rows=sample)
