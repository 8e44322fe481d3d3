"""A driver process as its supervisor holds it: started with an environment without secrets, told by its pipe, killed as a group."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

from django.conf import settings

from jobs.driver.driver_log import driver_log, last_words, log_cut, log_touch, old_logs_remove
from jobs.engine.readers_folder import readers_folders_remove
from pipeline_web.variables import VARIABLES

#: What a driver, its JVM and Spark's Python workers may inherit. Everything else goes through the pipe.
_INHERITED = (
    *("PATH", "HOME", "USER", "LANG", "LANGUAGE", "TZ", "TMPDIR", "JAVA_HOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH"),
    *("PYTHONPATH", "PYTHONPYCACHEPREFIX"),
)
_INHERITED_PREFIXES = ("LC_", "SPARK_", "HADOOP_")
_SECRET_WORDS = ("SECRET", "PASSWORD", "TOKEN", "KEY")


class Child:
    """One driver. `started_at`, `ready` and the like are the supervisor's clock."""

    def __init__(self, *, kind: str, worker: str, slots: int, memory: str) -> None:
        self.kind = kind
        self.driver_id = uuid.uuid4()
        self.started_at = time.monotonic()
        self.work_dir = _scratch() / str(self.driver_id)
        self.work_dir.mkdir(parents=True, exist_ok=True)
        try:
            self._log = driver_log(self.driver_id)
            self.process = self._begun()
        except OSError:
            shutil.rmtree(self.work_dir, ignore_errors=True)
            raise
        order = {
            "driver_id": str(self.driver_id),
            "kind": kind,
            "worker": worker,
            "slots": str(slots),
            "memory": memory,
            "work_dir": str(self.work_dir),
        }
        self._say(json.dumps(dict(VARIABLES)))
        self._say(json.dumps(order))
        # From here on a driver that does not read must never hold up the worker.
        assert self.process.stdin is not None
        os.set_blocking(self.process.stdin.fileno(), False)

    def _begun(self) -> "subprocess.Popen[bytes]":
        with self._log.open("ab") as output:
            return subprocess.Popen(
                [sys.executable, "-m", "jobs.driver", str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                env=driver_environment(),
                cwd=settings.BASE_DIR,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self.process.pid

    def wake(self) -> None:
        self._say("wake")

    def stop(self) -> None:
        """Ask it to hand over and end."""
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)

    def exit_code(self) -> int | None:
        return self.process.poll()

    def kill(self) -> None:
        """The whole group, the JVM included, and wait until nothing of it is left (at most five seconds)."""
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            try:
                os.killpg(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                break
            self.process.poll()
            time.sleep(0.02)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)

    def clear(self) -> None:
        """Its pipe, its scratch folder and that of its readers, and the logs of older drivers."""
        if self.process.stdin is not None:
            with contextlib.suppress(OSError):
                self.process.stdin.close()
        shutil.rmtree(self.work_dir, ignore_errors=True)
        readers_folders_remove(self.pid)
        old_logs_remove(self._log.parent)

    def last_words(self) -> str:
        """The end of what it wrote, for the worker's log."""
        return last_words(self._log)

    def log_look_after(self) -> None:
        """Keep its log among the new ones, and cut one that has grown too large. OSError where that cannot be."""
        log_touch(self._log)
        log_cut(self._log)

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        # A full or broken pipe: it is dead, or will look by itself in a second.
        with contextlib.suppress(BlockingIOError, BrokenPipeError, ValueError, OSError):
            self.process.stdin.write(f"{line}\n".encode())
            self.process.stdin.flush()


def driver_environment() -> dict[str, str]:
    """The environment of a driver: what programs need to start, and nothing that opens anything."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if (name in _INHERITED or name.startswith(_INHERITED_PREFIXES)) and not any(word in name for word in _SECRET_WORDS)
    }
    return inherited | {"PYTHONUNBUFFERED": "1", "DJANGO_SETTINGS_MODULE": os.environ["DJANGO_SETTINGS_MODULE"]}


def is_driver(pid: int) -> bool:
    """Whether a driver runs under this process id here; a zombie or another program does not count."""
    try:
        return b"jobs.driver" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


def _scratch() -> Path:
    return Path(settings.DATA_DIR) / "spark"


def scratch_folders() -> set[str]:
    """The names of all drivers' scratch folders here, living or not."""
    return {path.name for path in _scratch().iterdir()} if _scratch().is_dir() else set()


def scratch_clear(names: set[str]) -> None:
    for name in names:
        shutil.rmtree(_scratch() / name, ignore_errors=True)
