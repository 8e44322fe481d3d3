"""What a checkpoint's row says of each of its queries, read from the folder: that is the truth, not what Spark reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from checkpoints.cut import cut_files
from checkpoints.verification import checkpoint_queries


def query_facts(folder: Path) -> dict[str, dict[str, Any]]:
    """Query → {"batch_id" (-1: nothing committed yet), "sinks", "files", "bytes" (of Spark's files), "watermark_ms"} of a whole checkpoint.

    ManifestDamaged or CutDamaged where it is not.
    """
    found = {}
    for key, query in checkpoint_queries(folder).items():
        cut = folder / query["folder"]
        files = cut_files(cut) if query["folder"] else {}
        found[key] = {
            "batch_id": query["batch_id"],
            "sinks": query["sinks"],
            "files": len(files),
            "bytes": sum(int(facts["bytes"]) for facts in files.values()),
            "watermark_ms": watermark_ms(cut, query["batch_id"]) if files else None,
        }
    return found


def watermark_ms(cut: Path, batch_id: int) -> int | None:
    """The event time, in milliseconds since 1970, below which rows of the batch came too late; None where the query has no such limit."""
    metadata = json.loads((cut / "offsets" / str(batch_id)).read_text(encoding="utf-8").splitlines()[1])
    # Spark writes 0 as long as there is none.
    told = metadata.get("batchWatermarkMs") if isinstance(metadata, dict) else None
    return told or None if isinstance(told, int) else None
