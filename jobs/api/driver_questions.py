"""Questions that only an interactive driver can answer, because Spark is asked."""

from collections.abc import Mapping
from typing import Any

from jobs.queue import InteractiveFailed, InteractiveKind, InteractiveUnavailable, interactive_call
from jobs.selectors.drivers import interactive_expected
from jobs.selectors.refusals import Unavailable


def driver_answer(kind: InteractiveKind, payload: Mapping[str, Any], *, seconds: float, failing: str) -> dict[str, Any]:
    """Unavailable, which begins with `failing` ("the state cannot be read now"), where no driver runs or comes, or none answers in time."""
    if not interactive_expected():
        raise Unavailable(f"{failing}: no interactive driver runs; start a worker")
    try:
        return interactive_call(kind, payload, seconds)
    except (InteractiveUnavailable, InteractiveFailed) as error:
        raise Unavailable(f"{failing}: {error}") from error
