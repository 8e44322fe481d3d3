"""Why a read or a write was refused: what happened, why, and what to do, in words for people and a stable code for programs."""

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.dag.problems import Problem


class Refusal(Exception):
    """Base of every refusal. `detail` holds further facts for programs, such as who saved in between."""

    code = "refused"

    def __init__(self, message: str, *, code: str = "", problems: Sequence[Problem] = (), detail: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or type(self).code
        self.problems = list(problems)
        self.detail = dict(detail or {})


class NotFound(Refusal):
    """It does not exist, or not for this user: the two are never told apart."""

    code = "not_found"


class Forbidden(Refusal):
    """It is visible, but the user's role in its project does not allow the act."""

    code = "forbidden"


class Conflict(Refusal):
    """Somebody or something else was first, or the state does not allow it."""

    code = "conflict"


class Invalid(Refusal):
    """What was sent has Problems."""

    code = "invalid"


class NotYet(Refusal):
    """Announced, and not built yet."""

    code = "not_yet"


class Unavailable(Refusal):
    """What answers this is away now; it may be asked again."""

    code = "unavailable"
