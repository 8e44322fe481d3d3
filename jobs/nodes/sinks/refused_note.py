"""What a target refused of a batch, kept until the batch is over: a batch found in the target tells no more what it refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import Batch, NodeContext, Written
from jobs.nodes.durable_text import text_place

if TYPE_CHECKING:
    from jobs.nodes.sinks.jdbc_dialect import Refused


class RefusedNote:
    """Of one batch: `<work_dir>/refused/<batch>.json` with {"rows", "sample": [[reason, row], …]}, where any row was refused.

    Rows that go on by the errors port are all kept beside it already (`Batch.rejections`), so those need no note.
    """

    def __init__(self, batch: Batch, context: NodeContext[Any]) -> None:
        self._needed = batch.rejections is None and not batch.fails_at_rejected
        self._file: Path = context.work_dir / "refused" / f"{batch.batch_id}.json"

    def keep(self, refused: Refused) -> None:
        """On the disk when this returns: called before the batch counts in the target. Notes of other batches go."""
        if not self._needed:
            return
        for file in self._file.parent.glob("*.json"):
            file.unlink()
        if refused.rows:
            text_place(self._file, json.dumps({"rows": refused.rows, "sample": refused.sample}))

    def repeated(self) -> Written:
        """What is told of a batch that was in."""
        if not self._needed or not self._file.is_file():
            return Written(rows=0, repeated=True)
        told = json.loads(self._file.read_text(encoding="utf-8"))
        sample = tuple((reason, row) for reason, row in told["sample"])
        return Written(rows=0, repeated=True, rejected=told["rows"], rejected_rows=sample)
