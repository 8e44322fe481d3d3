"""A person's Python inside a Spark worker: loaded as a module of its own, and what it raises told by its own lines."""

from __future__ import annotations

import linecache
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import FrameType, ModuleType
from typing import Any, Protocol

from jobs.nodes.base import NodeError
from jobs.nodes.user_python.code import FUNCTION
from jobs.nodes.user_python.worker_memory import memory_bind, memory_error, memory_unbind

#: What a function may raise for one row without more: exits and interrupts belong to it. `Code.reason` lets through what ends the task.
RAISED = BaseException
_MODULE = "pipeline_user_code"
_MOST_CHARACTERS = 500
_MOST_LINES = 20


class _TimeUp(BaseException):
    """It ends the task, not a row."""


_ENDS_TASK = (_TimeUp, GeneratorExit)


class Code(Protocol):
    """A person's code, in a run or in a script."""

    def load(self) -> Callable[..., Any]:
        """The function that is called."""

    def names(self) -> Mapping[str, Any]:
        """All that the code defines."""

    def told(self) -> AbstractContextManager[None]:
        """What the code raises inside leaves in the words of its own lines."""

    def reason(self, error: BaseException) -> str:
        """What was raised, in one sentence. What does not belong to a row is raised again."""


@dataclass(frozen=True)
class UserCode:
    """The text as it stands in the form, and the node's name, under which its lines are told."""

    node_name: str
    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def place(self) -> str:
        """The name of its file: no real one is called so."""
        return f"<{self.node_name}>"

    def load(self) -> Callable[..., Any]:
        """Runs the code outside of the function, and gives the function; NodeError where it raises, with its line."""
        function: Callable[..., Any] | None = self.names().get(FUNCTION)
        if not callable(function):
            raise NodeError(f"the Python code has no function {FUNCTION} when it has run", permanent=True, kind="user", field="code")
        return function

    def names(self) -> Mapping[str, Any]:
        """Runs the code outside of its functions, and gives all it defines; NodeError where it raises, with its line."""
        module = ModuleType(_MODULE)
        module.__dict__["parameters"] = dict(self.parameters)
        sys.modules[_MODULE] = module  # where dataclasses and pickle look for what the code defines
        linecache.cache[self.place] = (len(self.text), None, self.text.splitlines(keepends=True), self.place)
        memory_bind()
        with self.told():
            exec(compile(self.text, self.place, "exec", dont_inherit=True), module.__dict__)  # noqa: S102
        return module.__dict__

    @contextmanager
    def told(self) -> Iterator[None]:
        """What is raised inside leaves as a NodeError that names the exception and the person's own lines, and no others."""
        try:
            yield
        except NodeError:
            raise
        except RAISED as error:
            raise NodeError(
                f"its Python failed: {self.reason(error)}\n{self._lines(error)}", permanent=True, kind="user", field="code"
            ) from None

    @contextmanager
    def ended_after(self, seconds: float | None) -> Iterator[None]:
        """What runs inside, in a process's main thread, is ended with its line; what hangs outside of Python goes on hanging."""
        if seconds is None:
            yield
            return

        def stop(number: int, frame: FrameType | None) -> None:
            while frame is not None:
                if frame.f_code.co_filename == self.place:
                    raise _TimeUp
                frame = frame.f_back

        before = signal.signal(signal.SIGALRM, stop)
        # Again every second: it may come between two rows, or the code may catch it.
        signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
        try:
            yield
        except _TimeUp as error:
            told = f"its Python did not end within {seconds:g} s and was stopped{_where(self._frames(error))}"
            raise NodeError(f"{told}; look for a loop without an end", permanent=True, kind="user", field="code") from None
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)

    def reason(self, error: BaseException) -> str:
        """In one sentence: what was raised, and in which line of the code. NodeError where its memory is limited and did not do."""
        if isinstance(error, _ENDS_TASK):
            raise error
        megabytes = memory_unbind() if isinstance(error, MemoryError) else 0
        frames = self._frames(error)
        if megabytes:
            raise memory_error(megabytes, _where(frames)) from None
        where = f", in line {frames[-1].lineno}: {(frames[-1].line or '').strip()[:200]}" if frames else ""
        return f"{named(error)}{where}"

    def _frames(self, error: BaseException) -> list[traceback.FrameSummary]:
        return [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == self.place]

    def _lines(self, error: BaseException) -> str:
        frames = [traceback.FrameSummary(self.node_name, frame.lineno, frame.name, line=frame.line) for frame in self._frames(error)]
        shown = traceback.format_list(frames[-_MOST_LINES:])
        return f"Traceback (most recent call last):\n{''.join(shown)}{named(error)}"


def _where(frames: list[traceback.FrameSummary]) -> str:
    return f" in line {frames[-1].lineno}: {(frames[-1].line or '').strip()[:200]}" if frames else ""


def named(error: BaseException) -> str:
    """The exception and what it says."""
    try:
        text = str(error).strip()
    except Exception:  # an exception of the person's own, whose text raises too
        text = ""
    name = type(error).__name__
    return f"{name}: {text[:_MOST_CHARACTERS]}" if text else name
