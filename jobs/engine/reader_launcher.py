"""Stands where Spark starts a Python that reads, or plans to: has it forked by `reader_server`, and lives as long as it does.

Run by path, isolated and without site-packages, so that it begins at once: it imports nothing that is not Python's own. Where nothing can
be forked it becomes the Python that Spark asked for.
"""

import json
import os
import signal
import socket
import sys
import time
from contextlib import suppress

#: The server listens before it imports anything.
_BEGIN_SECONDS = 20.0
_PAUSE_SECONDS = 0.01


def main() -> int:
    python = os.environ["PIPELINE_WEB_PYTHON"]
    try:
        line = _connected(python, os.environ["PIPELINE_WEB_READERS"])
        pid = _forked(line)
    except (OSError, ValueError):
        os.execv(python, [python, *sys.argv[1:]])  # noqa: S606 - what Spark gave
    signal.signal(signal.SIGTERM, lambda *_: _ask_to_end(pid))
    while line.recv(1):
        pass
    return 0


def _ask_to_end(pid: int) -> None:
    with suppress(ProcessLookupError):  # it has ended meanwhile
        os.kill(pid, signal.SIGTERM)


def _connected(python: str, address: str) -> socket.socket:
    """A line to the server, which is started where there is none. OSError where there will be none."""
    deadline, server = time.monotonic() + _BEGIN_SECONDS, 0
    while True:
        line = socket.socket(socket.AF_UNIX)
        try:
            line.connect(address)
            return line
        except OSError:
            line.close()
            if server and (os.waitpid(server, os.WNOHANG)[0] or time.monotonic() > deadline):
                raise
        server = server or _server_started(python, address)
        time.sleep(_PAUSE_SECONDS)


def _server_started(python: str, address: str) -> int:
    """Its pid. It keeps none of what this process reads and writes, which ends with the reader."""
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    command = [python, "-m", "jobs.engine.reader_server", address, os.environ["PIPELINE_WEB_DRIVER"]]
    return os.posix_spawn(python, command, os.environ, file_actions=nothing)


def _forked(line: socket.socket) -> int:
    """The pid of a reader with this process's files, surroundings and folder. OSError or ValueError where there is none."""
    module, *arguments = sys.argv[2:]
    asked = json.dumps({"module": module, "arguments": arguments, "environment": dict(os.environ), "folder": os.getcwd()}).encode()
    socket.send_fds(line, [len(asked).to_bytes(4, "big")], [0, 1, 2])
    line.sendall(asked)
    return int.from_bytes(line.recv(4), "big") or int("no pid")


if __name__ == "__main__":
    sys.exit(main())
