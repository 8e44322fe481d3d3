"""Runs a streaming frame to its end and keeps what came, batch by batch."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame


class Drained:
    """`batches`: batch id → sorted values of `column`. A batch whose id is `failing` fails after it was read.

    `meanwhile` is called with the number of each batch after it was read.
    """

    def __init__(self, column: str = "id") -> None:
        self.column = column
        self.batches: dict[int, list[Any]] = {}
        self.failing: int | None = None
        self.progress: list[Any] = []
        self.meanwhile: Callable[[int], None] = lambda batch_id: None

    def run(self, frame: DataFrame, folder: Path) -> None:
        def write(batch: DataFrame, batch_id: int) -> None:
            found = sorted(row[self.column] for row in batch.collect())
            if batch_id == self.failing:
                raise RuntimeError("the sink is away")
            self.batches[batch_id] = found
            self.meanwhile(batch_id)

        query = frame.writeStream.foreachBatch(write).option("checkpointLocation", str(folder)).trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        finally:
            self.progress = list(query.recentProgress)

    @property
    def everything(self) -> list[Any]:
        return [value for batch_id in sorted(self.batches) for value in self.batches[batch_id]]

    def end_offset(self) -> Any:
        """Of the last batch's only source."""
        return json.loads(self.progress[-1]["sources"][0]["endOffset"])
