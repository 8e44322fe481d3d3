"""Lines of text that Spark's tasks write into files, read file by file while the tasks go on."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from threading import Event
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO

from jobs.nodes.hadoop_paths import hadoop_path

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A task begins another file after so many lines; the one before is whole then.
_LINES_IN_FILE = 20_000
_LOOK_SECONDS = 0.05
_NUMBERED = re.compile(r"(.+)-c(\d+)\.txt")
_TRIES_ONCE = re.compile(r"local(\[[^,\]]+\])?")


class LinesUnderWay:
    """`write` in one thread, iterate in another: every whole file once, opened; None while there is none to read.

    The iteration ends when all is read, and raises when the writing failed. Files come in no order while the writing goes on, in
    Spark's order after it. Where a task may be tried again (not with a local master) they come only then: those of a try that
    failed do not count.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._early = False
        self._failed = False
        self._ended = Event()

    def write(self, lines: DataFrame, end: str = "\n") -> None:
        """`lines` has one column of text. To be called inside `with`, whose end tells the reader that no more will come."""
        self._early = _TRIES_ONCE.fullmatch(str(lines.sparkSession.sparkContext.master)) is not None
        writer = lines.write.mode("overwrite").option("maxRecordsPerFile", _LINES_IN_FILE).option("lineSep", end)
        writer.text(hadoop_path(self._folder.resolve()))

    def __enter__(self) -> LinesUnderWay:
        shutil.rmtree(self._folder, ignore_errors=True)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._failed = error is not None
        self._ended.set()

    def __iter__(self) -> Iterator[BinaryIO | None]:
        read: set[str] = set()
        while True:
            ended = self._ended.wait(_LOOK_SECONDS)
            if self._failed:
                raise InterruptedError("the rows of this batch could not be computed")
            whole = sorted(self._folder.glob("part-*")) if ended else self._whole_so_far()
            for path in whole:
                if path.name not in read:
                    with suppress(FileNotFoundError), path.open("rb") as lines:  # files move when their task ends
                        read.add(path.name)
                        yield lines
            if ended:
                return
            yield None

    def _whole_so_far(self) -> list[Path]:
        if not self._early:
            return []
        tasks = self._folder / "_temporary" / "0"
        try:
            of_ended, being_written = list(tasks.glob("task_*/part-*")), list(tasks.glob("_temporary/*/part-*"))
        except FileNotFoundError:  # a task ended meanwhile and moved its files
            return []
        by_task = groupby(sorted(being_written, key=_task_and_number), key=lambda path: _task_and_number(path)[0])
        return of_ended + [path for _, files in by_task for path in list(files)[:-1]]


def _task_and_number(path: Path) -> tuple[str, int]:
    named = _NUMBERED.fullmatch(str(path))
    return (named[1], int(named[2])) if named else (str(path), 0)
