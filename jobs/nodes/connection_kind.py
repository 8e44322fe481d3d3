"""What every kind of connection is made of: its form, its secrets, its test."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from jobs.nodes.base import ConfigClass, ConnectionSettings, Limits, NodeError
from jobs.nodes.form import form_schema


class ConnectionKind(ABC):
    """A kind of system one can connect to: its form, its secrets, its test. One file below `connections/`."""

    kind: ClassVar[str]
    title: ClassVar[str]
    icon: ClassVar[str]
    Config: ClassVar[ConfigClass]
    #: Names of secret fields with their labels; kept encrypted, never echoed.
    secrets: ClassVar[Mapping[str, str]] = {}
    #: Secret field → "field=value" of the form that needs it; the others are always needed.
    secrets_when: ClassVar[Mapping[str, str]] = {}
    #: Secret fields of several lines, such as a key in PEM: one line of a form would take their line breaks away.
    secrets_of_lines: ClassVar[frozenset[str]] = frozenset()

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """JSON Schema of its form, without its secrets."""
        return form_schema(cls.Config)

    @classmethod
    def form(cls, limits: Limits) -> dict[str, Any]:
        """The schema with the choices of this installation. NodeError where it has none, with what to do."""
        return cls.schema()

    @abstractmethod
    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Try it step by step; stops at the first failing one. Never raises for an unreachable or refusing system."""


@dataclass(frozen=True)
class CheckStep:
    """One step of a connection test: name (such as "port", "sign-in"), whether it held, and what was seen."""

    name: str
    ok: bool
    message: str
    milliseconds: int = 0


def check_steps(*acts: tuple[str, Callable[[], str]]) -> list[CheckStep]:
    """Each act tried only when all before it held: it says what was seen, or raises NodeError, OSError or ValueError."""
    steps: list[CheckStep] = []
    for name, act in acts:
        started = time.monotonic()
        try:
            found, message = True, act()
        except (NodeError, OSError, ValueError) as error:
            found, message = False, str(error)
        steps.append(CheckStep(name, found, message, round((time.monotonic() - started) * 1000)))
        if not found:
            break
    return steps
