"""What a person's Python prints in Spark's workers: kept short, and told in the job's log once a task has ended."""

from __future__ import annotations

import io
import os
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import AccumulatorParam, _accumulatorRegistry

if TYPE_CHECKING:
    from pyspark.accumulators import Accumulator
    from pyspark.sql import SparkSession

#: Of what one task prints, so much is kept.
MOST_CHARACTERS = 20_000
#: More than this ends code whose time is limited, as in a preview: it would print on until the time is over.
LIMITED_CHARACTERS = 10_000_000
Printed = tuple[str, ...]
#: What a line of a job's log begins with that was printed.
PRINTED = "printed: "


class _Heard(AccumulatorParam[Printed]):
    """Tells the driver at once, and keeps nothing there, nor alive who hears it. A worker gets it without `hear`."""

    def __init__(self, hear: weakref.WeakMethod[Callable[[str], None]] | None) -> None:
        self._hear = hear

    def __reduce__(self) -> tuple[Any, ...]:
        return _Heard, (None,)

    def zero(self, value: Printed) -> Printed:
        return ()

    def addInPlace(self, value1: Printed, value2: Printed) -> Printed:  # noqa: N802
        if self._hear is None:
            return (*value1, *value2)
        if (hear := self._hear()) is not None:
            for text in value2:
                hear(text)
        return ()


def prints_of(spark: SparkSession, hear: Callable[[str], None]) -> Accumulator[Printed]:
    """Brings what tasks print to the method `hear` while its object lives; a text is at most `MOST_CHARACTERS` and a note long."""
    found = spark.sparkContext.accumulator((), _Heard(weakref.WeakMethod(hear)))
    # Spark would keep it for as long as the driver lives.
    weakref.finalize(hear.__self__, _accumulatorRegistry.pop, found.aid, None)  # type: ignore[attr-defined]
    return found


class PrintedTooMuch(Exception):
    """Raised by the `print` that went too far."""


class _Short(io.TextIOBase):
    """Keeps the beginning of what is written, and counts the rest; PrintedTooMuch behind `most` characters."""

    def __init__(self, most: int | None = None) -> None:
        self._kept: list[str] = []
        self._room = MOST_CHARACTERS
        self._lost = 0
        self._most = most

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        kept = text[: self._room]
        if kept:
            self._kept.append(kept)
        self._room -= len(kept)
        self._lost += len(text) - len(kept)
        if self._most is not None and self._lost > self._most:
            raise PrintedTooMuch(f"more than {self._most:,} characters have been printed here and before; print less")
        return len(text)

    def text(self) -> str:
        more = f" … and {self._lost:,} characters more" if self._lost else ""
        return f"{''.join(self._kept).rstrip()}{more}"


class TaskPrints:
    """What one task prints, in however many pieces: told once."""

    def __init__(self, prints: Accumulator[Printed] | None, most: int | None = None) -> None:
        self._prints, self._most = prints, most
        self._short = _Short(most)

    @contextmanager
    def caught(self) -> Iterator[None]:
        """What Python prints inside never reaches the driver's own output."""
        out, error = sys.stdout, sys.stderr
        sys.stdout = sys.stderr = self._short
        try:
            yield
        finally:
            sys.stdout, sys.stderr = out, error

    def tell(self) -> None:
        if self._prints is not None and (text := self._short.text()):
            self._prints.add((text,))
        self._short = _Short(self._most)


@contextmanager
def printed_to(prints: Accumulator[Printed] | None, *, limited: bool = False) -> Iterator[None]:
    """A task that is one piece; `limited`: PrintedTooMuch behind so much."""
    task = TaskPrints(prints, LIMITED_CHARACTERS if limited else None)
    try:
        with task.caught():
            yield
    finally:
        task.tell()


class Heard:
    """Brings what a node's tasks print into the job's log: one accumulator for all batches of a run."""

    def __init__(self) -> None:
        self._prints: Accumulator[Printed] | None = None
        self._log: Callable[[str], None] | None = None

    def of(self, spark: SparkSession, log: Callable[[str], None]) -> Accumulator[Printed]:
        self._log = log
        if self._prints is None:
            self._prints = prints_of(spark, self._tell)
        return self._prints

    def _tell(self, text: str) -> None:
        if self._log is not None:
            self._log(f"{PRINTED}{text}")


def output_close() -> None:
    """In a worker that runs nothing but a person's code: what is written past Python's own `print` goes nowhere.

    Spark would copy it into the driver's log for as long as it comes.
    """
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(nowhere.fileno(), 2)
