"""Rows of several batches become one file: each batch's wait, hidden, as Parquet, until there are enough of them or they are old enough.

Only batches that Spark committed are put together, and never some from before a checkpoint with some from behind it: a file goes or
stays whole when a job goes back to that checkpoint. Those of one attempt stay apart from the next one's, whose columns may differ.
"""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from jobs.nodes.columns import column
from jobs.nodes.sinks.file_config import FileSinkConfig
from jobs.nodes.sinks.file_manifest import BatchFiles, FolderLedger, batch_file_prefix, generation_and_batch, short, since_batch
from jobs.nodes.sinks.store_ledger import StoreLedger
from jobs.nodes.stores.store import Stored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Ledger = FolderLedger | StoreLedger

_MEGABYTE = 1_000_000
_MARK = re.compile(r"mark-(?P<generation>\w+)-(?P<batch>\d+)$")


@dataclass(frozen=True)
class Gathered:
    """A file that waits: `name` from the target, its generation as names tell it, batch, size in bytes, time in seconds since 1970."""

    name: str
    generation: str
    batch: int
    size: int
    since: float


@dataclass(frozen=True)
class Group:
    """Files that may become one; `is_closed`: no further ones join them."""

    files: tuple[Gathered, ...]
    is_closed: bool

    @property
    def size(self) -> int:
        return sum(one.size for one in self.files)

    @property
    def newest(self) -> Gathered:
        return self.files[-1]

    def is_due(self, config: FileSinkConfig, now: float) -> bool:
        is_large = config.roll_megabytes is not None and self.size >= config.roll_megabytes * _MEGABYTE
        is_old = config.roll_seconds is not None and now - min(one.since for one in self.files) >= config.roll_seconds
        return self.is_closed or is_large or is_old


def groups_of(files: Sequence[Gathered], marks: Sequence[tuple[str, int]], generation: str, committed: int) -> list[Group]:
    """`files` parted behind every mark (generation, batch), without those of `generation` behind `committed`."""
    known = sorted(
        (one for one in files if one.generation != generation or one.batch <= committed), key=lambda one: (one.generation, one.batch)
    )

    def place(one: Gathered) -> tuple[str, int]:
        return one.generation, sum(1 for of, batch in marks if of == one.generation and batch < one.batch)

    open_place = (generation, sum(1 for of, _ in marks if of == generation))
    return [Group(tuple(group), found != open_place) for found, group in groupby(known, key=place)]


class Rolling:
    """What waits in one sink, known from the ledger once and then kept. `write(frame, folder)` writes files as the sink's form says."""

    def __init__(
        self,
        ledger: Ledger,
        config: FileSinkConfig,
        write: Callable[[DataFrame, Path], None],
        *,
        node_id: str,
        generation: str,
        attempt: int,
    ) -> None:
        self._ledger, self._config, self._write = ledger, config, write
        self._node_id, self._generation, self._attempt = node_id, short(generation), attempt
        self._lock = threading.RLock()
        self._files: list[Gathered] = []
        self._marks: set[tuple[str, int]] = set()
        self._put_together = -1

    def begin(self) -> None:
        """Learn what earlier attempts left. Called again when something was taken away."""
        with self._lock:
            found = self._ledger.gathered()
            known = [(one, generation_and_batch(one.name)) for one in found]
            self._files = [Gathered(one.name, *of, one.size, one.modified) for one, of in known if of is not None]
            marks = (_MARK.search(one.name) for one in found)
            self._marks = {(match["generation"], int(match["batch"])) for match in marks if match}
            newest = max((one.batch for one in self._files if one.generation == self._generation), default=-1)
            if newest >= 0:
                self._mark(newest)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Meanwhile nothing is put together."""
        with self._lock:
            yield

    def files(self) -> list[str]:
        """Names of all that wait."""
        with self._lock:
            return [one.name for one in self._files]

    def counted(self, batch_id: int, files: Sequence[Stored], *, emptied: bool) -> None:
        """A batch counts now, and these files of it wait; `emptied`: with it went all that waited before."""
        with self._lock:
            waited = [] if emptied else self._files
            self._files = [*waited, *(Gathered(one.name, self._generation, batch_id, one.size, one.modified) for one in files)]

    def mark(self, batch_id: int) -> bool:
        """Whether what is put together from now on is parted behind this batch."""
        with self._lock:
            if batch_id < self._put_together:
                return False
            if any(one.generation == self._generation for one in self._files):
                self._mark(batch_id)
            return True

    def roll(self, spark: SparkSession, *, committed: int, everything: bool = False) -> None:
        """Put together what is due, or `everything`, of batches up to `committed`."""
        with self._lock:
            now = time.time()
            for group in groups_of(self._files, tuple(self._marks), self._generation, committed):
                if everything or group.is_due(self._config, now):
                    self._roll(spark, group)
            self._forget_marks()

    def _roll(self, spark: SparkSession, group: Group) -> None:
        names = [one.name for one in group.files]
        newest = group.newest
        key = f"{newest.batch}t{newest.generation}"
        frame = spark.read.parquet(*self._ledger.readable(names, self._attempt))
        aside = self._ledger.folder_aside(key, self._attempt)
        self._write(self._in_parts(frame, group.size), aside)
        prefix = batch_file_prefix(newest.generation, self._node_id, newest.batch)
        since = since_batch(group.files[0].batch) if len(group.files) > 1 else ""
        self._ledger.put_together(key, self._attempt, BatchFiles.found(aside, prefix=prefix, removes=names, since=since))
        gone = set(names)
        self._files = [one for one in self._files if one.name not in gone]
        if newest.generation == self._generation:
            self._put_together = max(self._put_together, newest.batch)

    def _in_parts(self, frame: DataFrame, size: int) -> DataFrame:
        """As many as the size asks for; rows of one folder in one of them."""
        parts = max(1, math.floor(size / (self._config.roll_megabytes * _MEGABYTE))) if self._config.roll_megabytes else 1
        if parts > 1 and self._config.partition_by:
            return frame.repartition(parts, *(column(name) for name in self._config.partition_by))
        return frame.coalesce(parts)

    def _mark(self, batch_id: int) -> None:
        if (self._generation, batch_id) not in self._marks:
            self._ledger.mark(f"mark-{self._generation}-{batch_id}")
            self._marks.add((self._generation, batch_id))

    def _forget_marks(self) -> None:
        """Those that part nothing any more."""
        useless = {(of, batch) for of, batch in self._marks if not any(one.generation == of and one.batch <= batch for one in self._files)}
        self._ledger.unmark(f"{self._ledger.gathered_folder}/mark-{of}-{batch}" for of, batch in useless)
        self._marks -= useless
