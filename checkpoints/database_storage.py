"""Checkpoints in the database itself, for jobs without operator state: a few kilobytes of positions, kept and backed up with the rows."""

from __future__ import annotations

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django import db
from django.db.models.functions import Length

from checkpoints.cut import CutDamaged, folder_remove
from checkpoints.manifest import ManifestDamaged
from checkpoints.models import CheckpointData
from checkpoints.stores.base import CheckpointStorage, Placed, StorageFailed, Stored, Wanted, everything
from checkpoints.threads import Pulse, no_pulse
from checkpoints.verification import checkpoint_files, file_problem, holds_state

DATABASE = "database"


class DatabaseStorage(CheckpointStorage):
    """A row each. `largest`: bytes of its files that a checkpoint may have."""

    def __init__(self, largest: int) -> None:
        super().__init__(DATABASE)
        self._largest = largest

    def put(self, folder: Path, key: str, *, base: str = "", pulse: Pulse = no_pulse) -> Placed:
        pulse()
        files = checkpoint_files(folder)
        size = sum(int(facts["bytes"]) for facts in files.values())
        if holds_state(files):
            raise StorageFailed(
                "database: the job keeps state, which is no matter for a database; let its checkpoints lie in another store"
            )
        if size > self._largest:
            raise StorageFailed(f"database: it has {size:,} bytes; at most {self._largest:,} go into the database")
        body = _packed(folder, sorted(files))
        try:
            CheckpointData.objects.update_or_create(key=key, defaults={"body": body, "bytes": size})
        except db.Error as error:
            raise StorageFailed(f"database: {error}") from error
        return Placed(self.place(key), len(body))

    def list_stored(self) -> Iterator[Stored]:
        rows = CheckpointData.objects.annotate(taken=Length("body")).values_list("key", "taken", "create_time").order_by("key")
        for key, taken, time in rows.iterator(chunk_size=500):
            yield Stored(key, self.place(key), taken, time)

    @contextmanager
    def open(self, key: str, scratch: Path, *, wanted: Wanted = everything, pulse: Pulse = no_pulse) -> Iterator[Path]:
        row = CheckpointData.objects.filter(pk=key).first()
        if row is None:
            raise ManifestDamaged("it is not in the database")
        scratch.mkdir(parents=True)
        try:
            _unpack(bytes(row.body), scratch, wanted)
            files = checkpoint_files(scratch) if wanted is everything else {}
            if problems := [problem for name, facts in files.items() if (problem := file_problem(scratch, name, facts))]:
                raise CutDamaged(problems)
            yield scratch
        finally:
            folder_remove(scratch)

    def delete(self, key: str) -> int:
        taken = CheckpointData.objects.filter(pk=key).annotate(taken=Length("body")).values_list("taken", flat=True).first()
        CheckpointData.objects.filter(pk=key).delete()
        return taken or 0

    def size(self, key: str) -> int:
        return CheckpointData.objects.filter(pk=key).values_list("bytes", flat=True).first() or 0

    def place(self, key: str) -> str:
        return f"{CheckpointData._meta.db_table}/{key}"


def _packed(folder: Path, names: list[str]) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in names:
            content = (folder / name).read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def _unpack(body: bytes, folder: Path, wanted: Wanted) -> None:
    """CutDamaged where it is not what was packed."""
    try:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(body)), mode="r:") as archive:
            entries = [entry for entry in archive if wanted(entry.name)]
            archive.extractall(folder, entries, filter="data")
    except (OSError, EOFError, zlib.error, tarfile.TarError) as error:
        raise CutDamaged([f"what the database holds is damaged: {error}"]) from None
