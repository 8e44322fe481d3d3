"""The product as `make run` starts it, on a port and in a data folder of its own."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType

from scripts.ports import free_port
from scripts.supervisor import process_parents
from tests.servers.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
OF_THE_TEST_RUN = {"REDIS_URL", "DATABASE_URL", "TEST_DATA_DIR", "LOG_LEVEL"}
LINK = re.compile(r"https?://\S+/sign-in\S*")


class Product:
    """A context: inside it the product is ready, at `url`; `link` signs one browser in, once."""

    def __init__(self, data: Path, *, port: int | None = None, patience: float = 180) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.data = data
        self.patience = patience
        self.lines: list[str] = []
        given = {name: value for name, value in os.environ.items() if name not in OF_THE_TEST_RUN}
        self.environment = given | {
            "HOST": "127.0.0.1",
            "PORT": str(self.port),
            "DATA_DIR": str(data),
            "DJANGO_SETTINGS_MODULE": "pipeline_web.settings",
        }

    def start(self) -> "Product":
        command = [sys.executable, "-m", "scripts.run"]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        self.process = subprocess.Popen(command, cwd=ROOT, env=self.environment, text=True, **streams)  # type: ignore[call-overload]
        threading.Thread(target=self._read, daemon=True).start()
        wait_until(lambda: self._link_line() is not None or self.process.poll() is not None, seconds=self.patience, what="the sign-in link")
        if self.process.poll() is not None:
            raise RuntimeError(f"the product ended with {self.process.returncode}:\n{self.output}")
        return self

    @property
    def output(self) -> str:
        return "".join(self.lines)

    @property
    def link(self) -> str:
        """The link printed at the start; good for one sign-in."""
        line = self._link_line()
        assert line is not None
        return line

    def sign_in_link(self) -> str:
        """A fresh one-time link."""
        return LINK.search(self.manage("sign_in_link")).group()  # type: ignore[union-attr]

    def manage(self, *arguments: str) -> str:
        """What a management command prints, run against the running product."""
        command = [sys.executable, "manage.py", *arguments]
        return subprocess.run(command, cwd=ROOT, env=self.environment, text=True, stdout=subprocess.PIPE, check=True).stdout

    def processes(self) -> set[int]:
        """Every living process below the product's first one, that one included."""
        parents = process_parents()
        found = {self.process.pid}
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found & {*parents}

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop and wait; the exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=90)

    def stop_wholly(self, number: signal.Signals) -> None:
        """As `stop`; AssertionError where it does not end well, or leaves a process behind."""
        started = self.processes()
        assert len(started) > 5
        assert self.stop(number) == 0
        assert not started & set(process_parents())
        assert not [line for line in _commands() if str(self.data) in line]

    def __enter__(self) -> "Product":
        try:
            return self.start()
        except BaseException:
            self._end()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        if self.process.poll() is None:
            self.stop()

    def _read(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line)

    def _link_line(self) -> str | None:
        return next((found.group() for line in reversed(self.lines) if (found := LINK.search(line))), None)


def _commands() -> list[str]:
    """The command lines of this machine, without those of tests."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [line for line in found if "pytest" not in line]
