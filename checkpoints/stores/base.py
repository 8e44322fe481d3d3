"""What every store of checkpoints does.

A checkpoint is always cut and checked on the local disk first. A store takes that folder under its key, and gives it back as a folder.
A key is `<job_uid>/checkpoints/<execution_id>/<number>`: the same in every store, so a store that was moved finds what it holds.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from checkpoints.cut import CutDamaged
from checkpoints.manifest import ManifestDamaged
from checkpoints.threads import Pulse, no_pulse
from checkpoints.verification import checkpoint_verify

#: Whether a file of a checkpoint is asked for, by its path in the folder.
Wanted = Callable[[str], bool]


class StorageFailed(Exception):
    """The store could not do what was asked; the text is one sentence for people."""


class StorageAway(StorageFailed):
    """The store does not answer now: to ask it at once again would take as long, and bring no more."""


class StorageUnfit(StorageFailed):
    """The store cannot be used here, or not for this job; the text says why."""


@dataclass(frozen=True)
class Placed:
    """Where a checkpoint lies now, for people, and how many bytes that took which no other checkpoint holds."""

    place: str
    bytes: int


@dataclass(frozen=True)
class Stored:
    """A checkpoint in a store, or what is left of one. `bytes`: what deleting it gives back. `changed`: when anything of it last was."""

    key: str
    place: str
    bytes: int
    changed: datetime

    @property
    def job_uid(self) -> str:
        return self.key.split("/")[0]

    @property
    def execution_id(self) -> str:
        return self.key.split("/")[2]

    @property
    def number(self) -> int:
        return int(self.key.split("/")[3])


def everything(name: str) -> bool:
    """Every file is wanted."""
    return True


class CheckpointStorage(ABC):
    """One store under the name that settings and rows call it by. Whatever goes wrong there is a StorageFailed.

    Every process makes its own, and several threads may ask it at once.
    """

    #: Whether it is the local disk: what it holds needs no copy to be read.
    is_local = False

    def __init__(self, name: str) -> None:
        self.name = name

    @abstractmethod
    def put(self, folder: Path, key: str, *, base: str = "", pulse: Pulse = no_pulse) -> Placed:
        """Take the checkpoint in `folder`, whole or not at all: nobody finds a key before every file of it is there.

        What a call before, that failed, left under the key is not sent again. `base`: the key of a checkpoint that stays for as long as
        this takes, and may share what is the same; "": every file is to be its own.
        """

    @abstractmethod
    def list_stored(self) -> Iterator[Stored]:
        """All that takes room, of calls that failed too."""

    @abstractmethod
    def open(self, key: str, scratch: Path, *, wanted: Wanted = everything, pulse: Pulse = no_pulse) -> AbstractContextManager[Path]:
        """A folder with the checkpoint's files, or those that are `wanted`, to read only; gone when the context ends.

        `scratch` does not exist yet, and may be used for that. Each file is what was put, byte by byte: else CutDamaged names those
        that are not. ManifestDamaged where there is no such checkpoint.
        """

    @abstractmethod
    def delete(self, key: str) -> int:
        """Take it away; the bytes given back. Nothing happens where it is gone already."""

    @abstractmethod
    def size(self, key: str) -> int:
        """The bytes of all its files; 0 where there is no such checkpoint."""

    @abstractmethod
    def place(self, key: str) -> str:
        """Where a checkpoint is, as people are told; without any secret."""

    def alone(self, keys: Collection[str]) -> dict[str, int]:
        """Key → the bytes that deleting it would give back now; `keys` are all that may share with one another. {}: they share nothing."""
        return {}

    def verify(self, key: str, scratch: Path, pulse: Pulse = no_pulse) -> list[str]:
        """What is wrong with it, a sentence a file; [] when a restart finds all it needs. Every byte is read."""
        try:
            with self.open(key, scratch, pulse=pulse) as folder:
                return checkpoint_verify(folder, pulse)
        except CutDamaged as damaged:
            return damaged.problems
        except ManifestDamaged as damaged:
            return [str(damaged)]
