"""Which store a checkpoint lies in, or will: by the name in the job's settings or the installation's, and in the row from then on."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings

from checkpoints.database_storage import DATABASE, DatabaseStorage
from checkpoints.manifest import MANIFEST
from checkpoints.models import Checkpoint
from checkpoints.roots import root_away
from checkpoints.storage import OutsideRoot, inside, storage_key
from checkpoints.stores.addresses import Access, name_of, storage_at
from checkpoints.stores.base import CheckpointStorage, StorageFailed, StorageUnfit, Wanted, everything
from checkpoints.stores.local import LOCAL, LocalStorage
from checkpoints.stores.plugins import storage_brought
from checkpoints.threads import Pulse, no_pulse


@dataclass(frozen=True)
class Chosen:
    """The store that checkpoints go to; `warning` where that is not the one that was named, a sentence, else ""."""

    storage: CheckpointStorage
    warning: str = ""


def storage_chosen(name: str, *, stateful: bool) -> Chosen:
    """The store called `name`, or the local disk where that cannot be. `stateful`: nodes of the job keep state."""
    if reason := storage_refusal(name, stateful=stateful):
        return Chosen(storage_named(LOCAL), f"checkpoints stay on the local disk: {reason}")
    return Chosen(storage_named(name))


def storage_refusal(name: str, *, stateful: bool) -> str:
    """Why checkpoints of a job cannot go to the store called `name`, "" if they can; the store itself is not asked."""
    if name == DATABASE and stateful:
        return 'the store "database" takes positions only, and nodes of this job keep state'
    try:
        storage_named(name)
    except StorageUnfit as unfit:
        return str(unfit)
    return ""


def storage_named(name: str) -> CheckpointStorage:
    """StorageUnfit where there is none of that name here, or it cannot be used."""
    return _made(name, json.dumps(_configuration(), sort_keys=True, default=str), os.getpid())


def storages_known() -> list[CheckpointStorage]:
    """Every store that is set up here and does not lie on the local disk, and those that rows name, where they can be used."""
    named = {name_of(url) for url in settings.CHECKPOINT_STORAGE_URLS} | {DATABASE, settings.CHECKPOINT_STORAGE}
    named |= set(Checkpoint.objects.exclude(storage=LOCAL).order_by().values_list("storage", flat=True).distinct())
    return [storage_named(name) for name in sorted(named - {LOCAL}) if not storage_refusal(name, stateful=False)]


def storage_of(checkpoint: Checkpoint) -> CheckpointStorage:
    """The store its files are in. StorageUnfit where that is not set up here (any more)."""
    return storage_named(checkpoint.storage)


def key_of(checkpoint: Checkpoint) -> str:
    return storage_key(str(checkpoint.execution.job.job_uid), checkpoint.execution_id, checkpoint.checkpoint_id)


def folder_of(checkpoint: Checkpoint) -> Path:
    """Where on the local disk it is cut, and lies if its store is that; found also after the whole root was moved elsewhere."""
    root = Path(settings.CHECKPOINT_ROOT)
    expected = root / key_of(checkpoint)
    if checkpoint.storage != LOCAL or checkpoint.storage_path in ("", str(expected)):
        return expected
    try:
        return inside(root, checkpoint.storage_path)
    except OutsideRoot:
        return expected


def host_of(checkpoint: Checkpoint) -> str:
    """The other host on whose disk its files are, of which nothing can be told here; "" if they can be reached from this one.

    A host may be called otherwise than it was.
    """
    host = str(checkpoint.execution.storage_host)
    if checkpoint.storage != LOCAL or host == settings.STORAGE_HOST or settings.CHECKPOINT_ROOT_SHARED:
        return ""
    return "" if (folder_of(checkpoint) / MANIFEST).is_file() else host


@contextmanager
def opened(checkpoint: Checkpoint, *, wanted: Wanted = everything, pulse: Pulse = no_pulse) -> Iterator[Path]:
    """A folder with its files, to read only: where they lie, or a checked copy that goes with the context. As `CheckpointStorage.open`.

    StorageFailed where its store does not give them, its disk is not mounted, or its files are on another host.
    """
    if host := host_of(checkpoint):
        raise StorageFailed(f"its files are on the disk of {host}")
    if checkpoint.storage == LOCAL:
        if away := root_away():
            raise StorageFailed(away)
        yield folder_of(checkpoint)
        return
    with storage_of(checkpoint).open(key_of(checkpoint), scratch_of(checkpoint), wanted=wanted, pulse=pulse) as folder:
        yield folder


def scratch_of(checkpoint: Checkpoint) -> Path:
    """A folder of its own beside the live ones, that does not exist yet; the clean-up takes away what a crash leaves there."""
    folder = Path(settings.CHECKPOINT_ROOT).resolve() / key_of(checkpoint)
    return folder.with_name(f".{folder.name}.{uuid.uuid4().hex}.partial")


def _configuration() -> Mapping[str, Any]:
    """What stores are made of: with another, they are made anew."""
    names = (
        "STORAGE_URLS",
        "STORAGE_KEY",
        "STORAGE_SECRET",
        "STORAGE_ENDPOINT",
        "STORAGE_REGION",
        "STORAGE_OPTIONS",
        "DATABASE_BYTES",
        "ROOT",
    )
    return {name: getattr(settings, f"CHECKPOINT_{name}") for name in names}


@lru_cache(maxsize=32)
def _made(name: str, configuration: str, process: int) -> CheckpointStorage:
    """Once in each process: connections are kept, and never shared with a child."""
    addresses = {name_of(url): url for url in settings.CHECKPOINT_STORAGE_URLS}
    options = settings.CHECKPOINT_STORAGE_OPTIONS.get(name, {})
    if name == LOCAL:
        return LocalStorage(Path(settings.CHECKPOINT_ROOT).resolve())
    if name == DATABASE:
        return DatabaseStorage(settings.CHECKPOINT_DATABASE_BYTES)
    if name in addresses:
        return storage_at(addresses[name], _access(name, options))
    if (found := storage_brought(name, options, {LOCAL, DATABASE, *addresses})) is not None:
        return found
    known = ", ".join(sorted({LOCAL, DATABASE, *addresses}))
    raise StorageUnfit(f'no store "{name}" is set up here (there are: {known}); set CHECKPOINT_STORAGE_URL, or choose another')


def _access(name: str, options: Mapping[str, Any]) -> Access:
    if name != "s3":
        return Access(options=options)
    return Access(
        key=settings.CHECKPOINT_STORAGE_KEY,
        secret=settings.CHECKPOINT_STORAGE_SECRET,
        endpoint=settings.CHECKPOINT_STORAGE_ENDPOINT,
        region=settings.CHECKPOINT_STORAGE_REGION,
        options=options,
    )
