"""All rows of a batch that a sink's target does not take, where the drawing leads them on: files on this machine, until the batch is over.

Layout, below `<work_dir>/rejected/<batch>/`: `<attempt>.part/`, which a sink fills, and `<attempt>`, its name once the rows count. Each
file holds lines of JSON, {"reason", "row"}, where `row` is the text that `whole_row` made.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from jobs.nodes.hadoop_paths import hadoop_path_read
from jobs.nodes.json_options import JSON_AS_WRITTEN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import DataType, StructType

#: The column of an errors port that tells why a row was rejected.
REASON = "rejected_reason"
_LINE = "reason string, row string"
_GIVEN = "__given_reason"


def whole_row(frame: DataFrame) -> Column:
    """A row of `frame` as JSON text, from which `RejectedRows.read` makes it again."""
    from pyspark.sql import functions as F

    from jobs.nodes.columns import column

    return whole_struct(F.struct(*(column(name) for name in frame.columns)))


def whole_struct(row: Column) -> Column:
    """The same of a row that is in one column."""
    from pyspark.sql import functions as F

    return F.to_json(row, JSON_AS_WRITTEN)


def unkept_column(schema: StructType) -> str:
    """The first column of `schema` that would not come back, as JSON has no place for keys that are no texts; "" where there is none."""
    return next((field.name for field in schema.fields if _has_other_keys(field.dataType)), "")


def _has_other_keys(kind: DataType) -> bool:
    from pyspark.sql.types import ArrayType, MapType, StringType, StructType

    if isinstance(kind, MapType):
        return not isinstance(kind.keyType, StringType) or _has_other_keys(kind.valueType)
    if isinstance(kind, ArrayType):
        return _has_other_keys(kind.elementType)
    return isinstance(kind, StructType) and any(_has_other_keys(field.dataType) for field in kind.fields)


class RejectedPart:
    """One file of them, for one who writes."""

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def add(self, reason: str, row: str) -> None:
        self._file.write(json.dumps({"reason": reason, "row": row}) + "\n")


@dataclass(frozen=True)
class RejectedRows:
    """Those of one batch, written by one attempt; goes to tasks by value. Attempts come in order, and only one at a time counts."""

    folder: Path
    attempt: int

    def begin(self) -> None:
        """Nothing is written yet in this attempt."""
        shutil.rmtree(self._filling, ignore_errors=True)
        self._filling.mkdir(parents=True)

    @contextmanager
    def part(self, name: str) -> Iterator[RejectedPart]:
        """A file that takes the place of one of this name; on the disk when the context ends."""
        with (self._filling / f"{name}.jsonl").open("w", encoding="utf-8") as file:
            yield RejectedPart(file)
            file.flush()
            os.fsync(file.fileno())

    def complete(self) -> None:
        """From now on these count. A sink that will not write a batch twice calls it before the batch counts in the target."""
        if self._filling.is_dir():
            shutil.rmtree(self.folder / str(self.attempt), ignore_errors=True)
            self._filling.rename(self.folder / str(self.attempt))

    def found(self) -> list[Path]:
        """The files that count: those of the last attempt that completed them."""
        attempts = [int(name.name) for name in self.folder.glob("*") if name.name.isdecimal()]
        return sorted((self.folder / str(max(attempts))).iterdir()) if attempts else []

    def counted(self, samples: int) -> tuple[int, tuple[tuple[str, str], ...]]:
        """How many rows count, and (reason, JSON text) of the first of them."""
        rows, kept = 0, list[tuple[str, str]]()
        for path in self.found():
            with path.open(encoding="utf-8") as lines:
                for line in lines:
                    rows += 1
                    if len(kept) < samples:
                        told = json.loads(line)
                        kept.append((told["reason"], told["row"]))
        return rows, tuple(kept)

    def read(self, spark: SparkSession, schema: StructType) -> DataFrame:
        """The rows that count, of `schema`, with the column REASON."""
        from pyspark.sql import functions as F

        paths = [hadoop_path_read(path) for path in self.found()]
        if not paths:
            return rejected_none(spark, schema)
        lines = spark.read.schema(_LINE).json(paths)
        read: Any = F.from_json("row", schema, JSON_AS_WRITTEN)
        return with_reason(lines.select(read.alias("row"), F.col("reason").alias(_GIVEN)).select("row.*", _GIVEN), _GIVEN)

    @property
    def _filling(self) -> Path:
        return self.folder / f"{self.attempt}.part"


def rejected_none(spark: SparkSession, schema: StructType) -> DataFrame:
    """No rows, with the columns of an errors port behind rows of `schema`."""
    from pyspark.sql import functions as F

    return with_reason(spark.createDataFrame([], schema).withColumn(_GIVEN, F.lit(None).cast("string")), _GIVEN)


def with_reason(frame: DataFrame, given: str) -> DataFrame:
    """`frame` with its column `given`, the last, called REASON; of rows that were rejected before, the reason of then goes."""
    return frame.drop(REASON).withColumnRenamed(given, REASON)
