"""The worker's step that starts what its main process looks after, and the control command that wakes its drivers."""

from typing import Any

from celery import bootsteps
from celery.worker.control import control_command

from jobs.driver.connection_checks import ConnectionChecks
from jobs.driver.leaving import tasks_end
from jobs.driver.supervisor import Supervisor
from jobs.driver.watch import Watch
from jobs.queue import WAKE_COMMAND

_supervisor: Supervisor | None = None
_watch: Watch | None = None
_checks: ConnectionChecks | None = None


class DriversStep(bootsteps.StartStopStep):
    """After what Celery forks: none of those processes keeps a driver's pipe open, or waits for ever for a lock of a thread of ours."""

    requires = ("celery.worker.components:Pool", "celery.worker.components:Beat")

    def start(self, worker: Any) -> None:
        global _supervisor, _watch, _checks
        _supervisor = Supervisor(worker=worker.hostname)
        _supervisor.start()
        _watch = Watch(name=worker.hostname, let_go=_supervisor.stop)
        _watch.start()
        _checks = ConnectionChecks()
        _checks.start()

    def stop(self, worker: Any) -> None:
        """The drivers hand over while the tasks under way end."""
        self._stop_begin()
        tasks_end(worker)
        self._drivers_end()

    def terminate(self, worker: Any) -> None:
        """Celery kills the tasks itself."""
        self._stop_begin()
        self._drivers_end()

    def _stop_begin(self) -> None:
        if _supervisor is not None:
            _supervisor.stop_begin()
        if _checks is not None:
            _checks.stop()
        if _watch is not None:
            _watch.stop()

    def _drivers_end(self) -> None:
        if _supervisor is not None:
            _supervisor.stop()


@control_command(name=WAKE_COMMAND)
def wake_drivers(state: Any, **_: Any) -> None:
    """Runs in the worker's main process; returns at once."""
    if _supervisor is not None:
        _supervisor.wake()
