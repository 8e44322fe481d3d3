"""The process that Pythons which read a driver's streams, and plan what is read, are forked from: it has imported what they need.

Spark starts each of them anew, which takes half a second to a second of work before it does anything. Started by the first that is asked
for (`reader_launcher`), it ends when its driver does.
"""

import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

from jobs.engine.python_daemon import preload

#: Beside what all workers need.
_PRELOADED = (
    "pydantic",
    "pyspark.sql.streaming.python_streaming_source_runner",
    "pyspark.sql.worker.lookup_data_sources",
    "pyspark.sql.worker.create_data_source",
    "pyspark.sql.worker.plan_data_source_read",
    "jobs.nodes.readers.replayed",
)
_LOOK_SECONDS = 60.0
_WAITING = 64


def main(address: str, driver: int) -> None:
    """Listens at `address` before anything is imported. Of two that begin at once, the one whose address stands goes on."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        own = f"{address}.{os.getpid()}"
        listener.bind(own)
        listener.listen(_WAITING)
        number = os.stat(own).st_ino
        os.rename(own, address)
        preload()
        for name in _PRELOADED:
            importlib.import_module(name)
        gc.collect()
        gc.freeze()
        driver_ends = os.pidfd_open(driver)
        while True:
            is_asked = _is_asked(address, number)
            ready = select.select([listener.fileno(), driver_ends], [], [], _LOOK_SECONDS if is_asked else 0)[0]
            if driver_ends in ready:
                _forget(address)
                return
            if ready:
                _fork(listener)
            elif not is_asked:
                return


def _is_asked(address: str, number: int) -> bool:
    with suppress(OSError):
        return os.stat(address).st_ino == number
    return False


def _forget(address: str) -> None:
    """The driver is gone, and could not tidy up where it was killed."""
    with suppress(OSError):
        os.unlink(address)
        os.rmdir(Path(address).parent)


def _fork(listener: socket.socket) -> None:
    line, _ = listener.accept()
    with line, suppress(OSError, ValueError):
        head, files, _, _ = socket.recv_fds(line, 4, 3)
        asked = json.loads(_received(line, int.from_bytes(head, "big")))
        if os.fork() == 0:
            listener.close()
            _become(asked, files, line)
        for file in files:
            os.close(file)


def _received(line: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        if not (part := line.recv(size - len(found))):
            raise ConnectionResetError
        found += part
    return found


def _become(asked: dict[str, Any], files: list[int], line: socket.socket) -> None:
    """The process that was asked for, until its end, which the closing of `line` tells."""
    code = 1
    try:
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        line.sendall(os.getpid().to_bytes(4, "big"))
        os.environ.clear()
        os.environ.update(asked["environment"])
        os.chdir(asked["folder"])
        random.seed()
        sys.argv[1:] = asked["arguments"]
        sys.modules.pop(asked["module"], None)  # it is begun as the main one
        runpy.run_module(asked["module"], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        with suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code & 0xFF)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
