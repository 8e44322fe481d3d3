"""How a driver process ended, in words."""

import signal

HANGING, SPARK_DIED, LEASE_LOST = 3, 4, 5
_REASONS = {
    HANGING: "gave itself up: an execution could not be interrupted",
    SPARK_DIED: "ended with Spark's JVM",
    LEASE_LOST: "ended itself: its leases could not be renewed",
}


def exit_reason(pid: int, code: int) -> str:
    """A sentence for the event log; `code` is negative for a signal."""
    if code < 0:
        return f"driver {pid} was killed ({signal.Signals(-code).name})"
    return f"driver {pid} {_REASONS.get(code, 'ended' if code == 0 else f'ended with code {code}')}"
