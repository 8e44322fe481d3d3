"""What a node says when it cannot do its work."""

from __future__ import annotations

from typing import ClassVar, Literal

#: Why a stream that worked may work again by itself: a system that does not answer, or takes the sign-in no more.
Outage = Literal["", "away", "sign-in"]


class NodeError(Exception):
    """What happened at a node, why, and what to do, in one sentence. `permanent`: trying again cannot help.

    `kind`: user (the job is wrong), external (another system), system (ours). `field`: of the config, such as "aggregates/0/column".
    """

    outage: ClassVar[Outage] = ""

    def __init__(
        self, message: str, *, permanent: bool = False, kind: Literal["user", "external", "system"] = "external", field: str = ""
    ) -> None:
        super().__init__(message)
        self.message = message
        self.permanent = permanent
        self.kind = kind
        self.field = field


class SystemAway(NodeError):
    """Another system does not answer, or asks to come later: a stream tries again until it does."""

    outage = "away"


class SignInRefused(NodeError):
    """Another system does not let in who signs in: final at a start; a stream that worked tries again until the connection is right."""

    outage = "sign-in"


def outage_error(outage: Outage) -> type[NodeError]:
    return {"away": SystemAway, "sign-in": SignInRefused}.get(outage, NodeError)


def reworded(error: NodeError, message: str, field: str | None = None) -> NodeError:
    """The same fault in other words: an outage stays one."""
    kind = outage_error(error.outage)
    return kind(message, permanent=error.permanent, kind=error.kind, field=error.field if field is None else field)
