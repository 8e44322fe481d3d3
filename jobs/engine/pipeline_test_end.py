"""When a test of a job ends before it is through, and why."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from jobs.dag.problems import Problem


class Stopped(Exception):
    """The test cannot go on. `hanging`: it could not be ended."""

    def __init__(self, message: str, problems: Sequence[Problem] = (), node_id: str = "", *, hanging: bool = False) -> None:
        super().__init__(message)
        self.message, self.problems, self.node_id, self.hanging = message, list(problems), node_id, hanging


def hold(problems: Sequence[Problem], message: str = "the test, or the part of the job that it runs, has problems") -> None:
    """Stopped where there are any."""
    if problems:
        raise Stopped(problems[0].message if len(problems) == 1 else message, problems)


@dataclass(frozen=True)
class Patience:
    """How long a test may go on: until `deadline`, or until `cancelled` says so; a task of a person's code in it for `code_seconds`."""

    deadline: float
    cancelled: Callable[[], bool]
    code_seconds: float | None = None

    def over(self, *, has_code: bool = False) -> str:
        """Why it is to end now, "" while it may go on."""
        if self.cancelled():
            return "it was cancelled"
        if time.monotonic() <= self.deadline:
            return ""
        if has_code:
            return "it took too long and was ended: give it fewer rows or batches, or look for a loop without an end in its Python"
        return "it took too long and was ended: give it fewer rows or batches"

    def look(self) -> None:
        """Stopped once it is over."""
        if why := self.over():
            raise Stopped(why)
