"""A real Celery worker with its beat and its drivers, on the test's database and Redis."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType

from django.conf import settings

from jobs.models import Driver, DriverStatus
from tests.servers.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]


class Worker:
    """A context: inside it a SHARED driver is READY (with `ready=True`)."""

    def __init__(self, *, database_url: str, data: Path, name: str = "w1", ready: bool = True, **chosen: object) -> None:
        self.log = data / f"{name}.log"
        self._ready = ready
        self._schedule = f"--schedule={data / f'{name}-beat'}"
        self._command = [sys.executable, "-m", "celery", "-A", "pipeline_web", "worker", "--pool=prefork", "--concurrency=1"]
        self._command += ["--loglevel=INFO", f"--hostname={name}@test", "--beat", self._schedule]
        defaults = {"LEASE_SECONDS": 6, "LEASE_RENEW_SECONDS": 1, "STOP_GRACE_SECONDS": 8, "INTERACTIVE_DRIVERS": 0, "RECONCILE_SECONDS": 1}
        self.environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "pipeline_web.settings",
            "DATABASE_URL": database_url,
            "DATA_DIR": str(data),
            "FILE_ROOTS": str(data),
            "SPARK_DRIVER_MEMORY": "1g",
            "LOG_LEVEL": "INFO",
            "ENCRYPTION_KEYS": ",".join(settings.ENCRYPTION_KEYS),
            **{key: str(value) for key, value in (defaults | chosen).items()},
        }

    def __enter__(self) -> "Worker":
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(self._command, cwd=ROOT, env=self.environment, stdout=output, stderr=output)
        try:
            if self._ready:
                wait_until(lambda: self.process.poll() is not None or bool(self.drivers()), seconds=150, what="a driver")
            if self.process.poll() is not None:
                raise RuntimeError(f"the worker ended with {self.process.returncode}")
        except BaseException as error:
            error.add_note(self.output[-5000:])
            self.stop(signal.SIGKILL)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if error is not None:
            error.add_note(f"{self.output[-5000:]}\n{self._doing()}")
        self.stop()

    def _doing(self) -> str:
        """Where the threads of its main process are; empty once it ended. One that hangs in a library tells it in no other way."""
        if self.process.poll() is not None:
            return ""
        before = len(self.output)
        self.process.send_signal(signal.SIGUSR1)  # Celery's own answer to it are the stacks of all threads
        with contextlib.suppress(TimeoutError):
            wait_until(lambda: "LOCAL VARIABLES" in self.output[before:] or self.process.poll() is not None, seconds=10, what="its stacks")
        return self.output[before:][:20000]

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""

    def drivers(self, kind: str = "SHARED") -> list[int]:
        """Process ids of the READY drivers."""
        return list(Driver.objects.filter(status=DriverStatus.READY, kind=kind).values_list("pid", flat=True))

    def processes(self) -> list[int]:
        """Ids of the processes that Celery made for it, itself included; they are told from those of other workers by its file."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                if self._schedule.encode() in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
            except OSError:  # it ended meanwhile
                continue
        return found

    def stop(self, number: signal.Signals = signal.SIGTERM) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired as late:
                late.add_note(self.output[-5000:])
                self.process.kill()
                raise
