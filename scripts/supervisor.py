"""Runs several services in one terminal: coloured, prefixed logs; one stop for all of them, and nothing left behind."""

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from jobs.driver.mortality import die_with_parent

PR_SET_CHILD_SUBREAPER = 36
COLOURS = (36, 32, 35, 34, 33, 96)
#: A service that ends this often within seconds of its start will not come up by trying again.
QUICK_DEATHS_ALLOWED = 3
QUICK_SECONDS = 10.0
#: Whoever waits longer than this for a service to end is told so.
PATIENCE_SECONDS = 10.0
#: So much is shown of a log that holds the reason.
REASON_LINES, REASON_BYTES = 5, 4_000
#: Orphans that ended are looked for so often.
REAP_SECONDS = 10.0


@dataclass
class Service:
    """A process to keep running. `stop_seconds`: how long it may take to end by itself when asked to."""

    name: str
    command: Sequence[str]
    stop_seconds: float = 10.0
    environment: dict[str, str] = field(default_factory=dict)
    #: Not started again when it ends with exit code 0: its work is done. The others go on without it where it cannot do that.
    may_finish: bool = False
    #: Where it writes what goes wrong, if not to the terminal.
    log: Path | None = None


class Supervisor:
    """Starts services in the order given, restarts one that dies, stops them in reverse order on SIGINT or SIGTERM.

    On Linux they do not outlive it, however it ends. `handed_on`: descriptors that stay open as long as any of them lives.
    """

    def __init__(self, services: Sequence[Service], *, cwd: Path, environment: dict[str, str], handed_on: Sequence[int] = ()) -> None:
        self.services = services
        self.cwd = cwd
        self.environment = environment
        self.handed_on = handed_on
        self.processes: dict[str, asyncio.subprocess.Process] = {}
        self.stopping = asyncio.Event()
        self.exit_code = 0
        self.width = max(len(service.name) for service in services)
        self.coloured = sys.stdout.isatty() or os.environ.get("FORCE_COLOR") == "1"

    async def run(self) -> int:
        """Return the exit code: 0 when asked to stop, 1 when a service would not stay up."""
        become_subreaper()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, self._asked_to_stop, number)
        keepers = [asyncio.create_task(self._keep(service, colour)) for service, colour in self._coloured_services()]
        keepers.append(asyncio.create_task(self._reap()))
        await self.stopping.wait()
        for keeper in keepers:
            keeper.cancel()
        await self._stop_all()
        await asyncio.gather(*keepers, return_exceptions=True)
        descendants_end()
        return self.exit_code

    def say(self, name: str, line: str, colour: int = 37) -> None:
        stamp = time.strftime("%H:%M:%S")
        prefix = f"{stamp} {name.ljust(self.width)} │ "
        sys.stdout.write(f"\x1b[{colour}m{prefix}\x1b[0m{line}\n" if self.coloured else f"{prefix}{line}\n")
        sys.stdout.flush()

    def _coloured_services(self) -> Iterator[tuple[Service, int]]:
        for number, service in enumerate(self.services):
            yield service, COLOURS[number % len(COLOURS)]

    def _asked_to_stop(self, number: signal.Signals) -> None:
        if self.stopping.is_set():
            if number is not signal.SIGINT:
                return  # make, and what started make, may both pass on one request
            self.say("stop", "stopping at once")
            for process in self.processes.values():
                signal_group(process.pid, signal.SIGKILL)
            return
        self.say("stop", "stopping everything; Ctrl-C again to stop at once")
        self.stopping.set()

    async def _reap(self) -> None:
        """What ended stays a zombie until its parent asks for it. One seen for the first time may be a service that has just begun."""
        seen: set[int] = set()
        while True:
            await asyncio.sleep(REAP_SECONDS)
            ended = zombies() - {process.pid for process in self.processes.values()}
            for pid in ended & seen:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            seen = ended

    async def _keep(self, service: Service, colour: int) -> None:
        quick_deaths = 0
        while True:
            began = time.monotonic()
            code = await self._run_once(service, colour)
            if service.may_finish and code == 0:
                return
            quick_deaths = quick_deaths + 1 if time.monotonic() - began < QUICK_SECONDS else 0
            if quick_deaths > QUICK_DEATHS_ALLOWED:
                self._give_up(service, code, colour)
                return
            self.say(service.name, f"ended with exit code {code}: starting it again", colour)
            await asyncio.sleep(min(2.0**quick_deaths, 10.0))

    def _give_up(self, service: Service, code: int, colour: int) -> None:
        """Of what the others can do without, that alone; else of everything."""
        for line in last_lines(service.log) if service.log else ():
            self.say(service.name, line, colour)
        follows = "the rest goes on without it" if service.may_finish else "stopping everything"
        self.say(service.name, f"ended with exit code {code} again and again: {follows}, the reason stands above", colour)
        if not service.may_finish:
            self.exit_code = 1
            self.stopping.set()

    async def _run_once(self, service: Service, colour: int) -> int:
        # A pipe of our own: asyncio's `wait` lasts until its pipes are closed, and a grandchild may hold one open.
        read_end, write_end = os.pipe()
        try:
            process = await asyncio.create_subprocess_exec(
                *service.command,
                cwd=self.cwd,
                env={**self.environment, **service.environment},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=write_end,
                stderr=write_end,
                start_new_session=True,
                pass_fds=self.handed_on,
                # Outright: in whatever order they were asked to end, one would wait for another that is gone already.
                preexec_fn=partial(die_with_parent, signal.SIGKILL, parent=os.getpid()),
            )
        finally:
            os.close(write_end)
        self.processes[service.name] = process
        reader = asyncio.create_task(self._copy_lines(service, read_end, colour))
        code = await process.wait()
        signal_group(process.pid, signal.SIGKILL)
        await asyncio.wait([reader], timeout=0.5)
        reader.cancel()
        return code

    async def _copy_lines(self, service: Service, descriptor: int, colour: int) -> None:
        lines = asyncio.StreamReader(limit=1 << 20)
        pipe = os.fdopen(descriptor, "rb", 0)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), pipe)
        try:
            while True:
                try:
                    line = await lines.readline()
                except ValueError:
                    continue  # a line longer than the limit: dropped
                if not line:
                    return
                self.say(service.name, line.decode(errors="replace").rstrip(), colour)
        finally:
            transport.close()

    async def _stop_all(self) -> None:
        """In reverse order, so that what others lean on (Redis) goes last."""
        for service in reversed(self.services):
            process = self.processes.get(service.name)
            if process is None or process.returncode is not None:
                continue
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
            if service.stop_seconds > PATIENCE_SECONDS:
                self.say("stop", f"{service.name} hands over what runs, which may take up to {service.stop_seconds:g} s")
            try:
                await asyncio.wait_for(process.wait(), service.stop_seconds)
            except TimeoutError:
                self.say("stop", f"{service.name} did not end within {service.stop_seconds:g} s: killed")
            signal_group(process.pid, signal.SIGKILL)


def last_lines(log: Path) -> list[str]:
    """The end of what a service wrote there; none where it wrote nothing."""
    if not log.is_file():
        return []
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - REASON_BYTES))
        return file.read().decode(errors="replace").splitlines()[-REASON_LINES:]


def signal_group(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def become_subreaper() -> None:
    """On Linux: orphaned grandchildren (drivers, JVMs) become this process's children, so that they can be found and ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def process_states() -> Iterator[tuple[int, str, int]]:
    """Each process with its state and its parent, from /proc; none where there is none."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError):
            state, parent = stat.read_text().rpartition(")")[2].split()[:2]
            yield int(stat.parent.name), state, int(parent)


def process_parents() -> dict[int, int]:
    """Process → its parent, for every living process."""
    return {pid: parent for pid, state, parent in process_states() if state != "Z"}


def zombies() -> set[int]:
    """Children of this process that ended and were not asked for."""
    return {pid for pid, state, parent in process_states() if state == "Z" and parent == os.getpid()}


def descendants() -> list[int]:
    """Every living process below this one."""
    parents = process_parents()
    found: set[int] = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return sorted(found - {os.getpid()})


def descendants_end(patience: float = 5.0) -> None:
    """End what is still there: first asked, then killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        deadline = time.monotonic() + patience
        for pid in descendants():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)
        while descendants() and time.monotonic() < deadline:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(-1, os.WNOHANG)
            time.sleep(0.05)
        if not descendants():
            return
