"""Checkpoints in a Redis: a hash each, file by file. Redis keeps all of it in memory, so for jobs with little state."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, cast

from checkpoints.cut import CutDamaged, folder_remove
from checkpoints.manifest import ManifestDamaged
from checkpoints.stores.base import CheckpointStorage, Placed, StorageFailed, Stored, Wanted, everything
from checkpoints.threads import Pulse, no_pulse
from checkpoints.verification import checkpoint_files

if TYPE_CHECKING:
    from redis import Redis

_PREFIX = "pipeline-web:checkpoint:"
#: A field that no file is called: when the checkpoint was put.
_TIME = b"/time"


class RedisStorage(CheckpointStorage):
    """Of the server at `url`, which CHECKPOINT_STORAGE_OPTIONS has: {"redis": {"url": "redis://:password@host:6379/0"}}."""

    def __init__(self, name: str, url: str) -> None:
        super().__init__(name)
        self._url = url

    def put(self, folder: Path, key: str, *, base: str = "", pulse: Pulse = no_pulse) -> Placed:
        """In one transaction: whole or not at all. Nothing is shared, so `base` means nothing here."""
        content = {name: (folder / name).read_bytes() for name in checkpoint_files(folder)}
        with self._client() as client:
            pipe = client.pipeline(transaction=True)
            pipe.delete(_PREFIX + key)
            for name, data in content.items():
                pulse()
                pipe.hset(_PREFIX + key, name, data)
            pipe.hset(_PREFIX + key, _TIME, str(datetime.now(UTC).timestamp()))
            pipe.execute()
        return Placed(self.place(key), sum(map(len, content.values())))

    def list_stored(self) -> Iterator[Stored]:
        with self._client() as client:
            for name in client.scan_iter(f"{_PREFIX}*"):
                key = name.decode().removeprefix(_PREFIX)
                changed = datetime.fromtimestamp(float(client.hget(name, _TIME) or 0), UTC)
                yield Stored(key, self.place(key), self.size(key), changed)

    @contextmanager
    def open(self, key: str, scratch: Path, *, wanted: Wanted = everything, pulse: Pulse = no_pulse) -> Iterator[Path]:
        found = self._files(key)
        if not found:
            raise ManifestDamaged("it is not in Redis")
        scratch.mkdir(parents=True)
        try:
            for name, data in found.items():
                pulse()
                (scratch / name).parent.mkdir(parents=True, exist_ok=True)
                (scratch / name).write_bytes(data)
            if problems := _problems(scratch, found):
                raise CutDamaged(problems)
            yield scratch
        finally:
            folder_remove(scratch)

    def delete(self, key: str) -> int:
        freed = self.size(key)
        with self._client() as client:
            client.delete(_PREFIX + key)
        return freed

    def size(self, key: str) -> int:
        return sum(map(len, self._files(key).values()))

    def place(self, key: str) -> str:
        return f"{self.name}:{key}"

    def _files(self, key: str) -> dict[str, bytes]:
        """Path → content; nothing where there is no such checkpoint."""
        with self._client() as client:
            found = cast("dict[bytes, bytes]", client.hgetall(_PREFIX + key))
        return {name.decode(): data for name, data in found.items() if name != _TIME}

    @contextmanager
    def _client(self) -> Iterator[Redis]:
        from redis import Redis, RedisError  # only where it is used

        try:
            with Redis.from_url(self._url, socket_timeout=10) as client:
                yield client
        except RedisError as error:
            raise StorageFailed(f"{self.name}: {error}") from error


def _problems(folder: Path, found: dict[str, bytes]) -> list[str]:
    listed = checkpoint_files(folder)
    wrong = [name for name, facts in listed.items() if name in found and sha256(found[name]).hexdigest() != facts["sha256"]]
    missing = sorted(set(listed) - set(found))
    return [*(f"{name} is damaged: its checksum does not fit" for name in wrong), *(f"{name} is missing" for name in missing)]
