"""Whether a connection was corrected while its system is waited for: the attempt then begins anew with what is kept now."""

import time

from jobs.driver.planning import plan_renewed
from jobs.engine.events import EngineEvent, Waiting
from jobs.engine.plan import Plan
from jobs.models import Execution
from jobs.nodes.base import ConnectionSettings

_LOOK_SECONDS = 5.0


class Corrections:
    """Hears what a run reports. A connection that changes while all goes well changes nothing: its lines stay open."""

    def __init__(self, execution: Execution) -> None:
        self._execution = execution
        self._waiting: set[str] = set()
        self._looked_at = time.monotonic()

    def hear(self, event: EngineEvent) -> None:
        if isinstance(event, Waiting):
            (self._waiting.add if event.what else self._waiting.discard)(event.node_id)

    def found(self, plan: Plan) -> str:
        """Which connections are others now than those of `plan`, in words; "" if none are. Looks every few seconds at most."""
        if not self._waiting or time.monotonic() - self._looked_at < _LOOK_SECONDS:
            return ""
        self._looked_at = time.monotonic()
        now = _used(plan_renewed(plan, self._execution))
        changed = sorted(name for name, settings in _used(plan).items() if now.get(name) != settings)
        return f"the connection {', '.join(changed)} was changed" if changed else ""


def _used(plan: Plan) -> dict[str, ConnectionSettings]:
    """The connections that the nodes' configs name."""
    named = {value for step in plan.steps for _, value in step.config if isinstance(value, str)}
    return {name: settings for name, settings in plan.connections.items() if name in named}
