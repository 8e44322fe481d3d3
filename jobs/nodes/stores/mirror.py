"""A folder on this machine into which files are copied in the order in which Spark shall read them.

Spark reads the files of a folder by their time. It sees a file only once that is whole, and keeps its name for as long as the job lives:
names here are derived from names there, so a file that was read is known again.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal
from urllib.parse import quote
from uuid import uuid4

from jobs.nodes.file_walk import stats_below
from jobs.nodes.job_folders import folders_by_job
from jobs.nodes.stores.store import Store, Stored

Order = Literal["time", "name"]

_MILLISECOND = 1_000_000
#: Where the times of files that are ordered by name begin; in nanoseconds since 1970.
_FIRST_TIME = 1_000_000_000 * 1_000_000_000
_LONGEST_NAME = 180
#: Characters that Hadoop, Spark and every file system take as they are.
_PLAIN = " !$&'()+,;=@-_.~"


def mirror_path(data_dir: Path, job_uid: str, node_id: str) -> Path:
    """Where a source's copies lie on this host."""
    return data_dir / "mirrors" / job_uid / node_id


def mirrors_by_job(data_dir: Path) -> dict[str, Path]:
    """Uid of a job → the folder of its mirrors on this host."""
    return folders_by_job(data_dir / "mirrors")


@dataclass(frozen=True)
class Wanted:
    """A file to be copied, and its name in the mirror."""

    stored: Stored
    local: str


@dataclass(frozen=True)
class Mirror:
    """One source's folder. `folder` is what Spark reads."""

    root: Path

    @property
    def folder(self) -> Path:
        return self.root / "files"

    def make(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._aside, ignore_errors=True)
        self._aside.mkdir()

    def clear(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)

    def sizes(self) -> dict[str, int]:
        """Path of every file that is there → its bytes, oldest first."""
        found = sorted(stats_below(self.folder), key=lambda pair: (pair[1].st_mtime_ns, str(pair[0])))
        return {str(file): stat.st_size for file, stat in found}

    def path(self, wanted: Wanted) -> str:
        return str(self.folder / wanted.local)

    def time_there(self, wanted: Wanted) -> float | None:
        """When the file that was copied in the order of names was last changed there, in seconds since 1970; None where it is not known."""
        known = self._times_there / wanted.local
        return known.stat().st_mtime if known.exists() else None

    def remove(self, paths: Sequence[str]) -> None:
        """Those of them that are copies here: a log that was brought from elsewhere may name whatever file it likes."""
        for path in map(os.path.normpath, paths):
            if path.startswith(f"{self.folder}{os.sep}"):
                Path(path).unlink(missing_ok=True)

    def take(self, store: Store, wanted: Sequence[Wanted], order: Order) -> Generator[Wanted]:
        """Copy files, several at once; each appears in its turn, and is then yielded. What is gone there is left out.

        Whoever does not read to its end closes it, as threads are behind it.
        """
        pool = ThreadPoolExecutor(store.at_once, thread_name_prefix="fetch")
        try:
            for one, time, copied in zip(
                wanted, self._times(wanted, order), pool.map(lambda one: self._copied(store, one), wanted), strict=True
            ):
                if copied is not None:
                    if order == "name":
                        self._keep_time_there(one)
                    os.utime(copied, ns=(time, time))
                    target = self.folder / one.local
                    target.parent.mkdir(parents=True, exist_ok=True)
                    os.replace(copied, target)
                    yield one
        finally:
            pool.shutdown(cancel_futures=True)

    @property
    def _aside(self) -> Path:
        return self.root / "aside"

    @property
    def _times_there(self) -> Path:
        """Empty files with the times that copies in the order of names do not keep; they stay when the copies go."""
        return self.root / "times"

    def _keep_time_there(self, wanted: Wanted) -> None:
        known = self._times_there / wanted.local
        known.parent.mkdir(parents=True, exist_ok=True)
        known.touch()
        os.utime(known, (wanted.stored.modified,) * 2)

    def _copied(self, store: Store, wanted: Wanted) -> Path | None:
        target = self._aside / uuid4().hex
        return target if store.fetch(wanted.stored.name, target) else None

    def _times(self, wanted: Sequence[Wanted], order: Order) -> list[int]:
        """By time: the file's own, told apart within a second by name. By name: each later than all that are there."""
        if order == "time":
            return [int(one.stored.modified * 1000) * _MILLISECOND + place * _MILLISECOND for one, place in _placed(wanted)]
        newest = max((stat.st_mtime_ns for _, stat in stats_below(self.folder)), default=_FIRST_TIME)
        return [newest + place * _MILLISECOND for place in range(1, len(wanted) + 1)]


def _placed(wanted: Sequence[Wanted]) -> Iterator[tuple[Wanted, int]]:
    """Each with its place among those of the same time, at most 999."""
    seen: dict[float, int] = {}
    for one in wanted:
        place = seen.get(one.stored.modified, 0)
        seen[one.stored.modified] = place + 1
        yield one, min(place, 999)


def in_order(stored: Sequence[Stored], order: Order) -> list[Stored]:
    return sorted(stored, key=lambda one: one.name if order == "name" else (one.modified, one.name))


def local_name(name: str, *, flat: bool) -> str:
    """A name that every file system and Spark take, different for different names; `flat`: without folders.

    Folders that are a partition, such as carrier=UA, stay folders, with what is escaped in them already and all their letters: what
    stands there is a value.
    """
    return (
        _plain(name)
        if flat
        else "/".join([*(_escaped(part, is_value=True) for part in name.split("/")[:-1]), _plain(name.rsplit("/", 1)[-1])])
    )


def _plain(name: str) -> str:
    safe = _escaped(name)
    if len(safe.encode()) <= _LONGEST_NAME:
        return safe
    endings = "".join(re.findall(r"\.[A-Za-z0-9]{1,10}", safe[-30:])[-2:])
    return f"{safe.encode()[:100].decode(errors='ignore')}-{sha256(name.encode()).hexdigest()[:24]}{endings}"


def _escaped(name: str, *, is_value: bool = False) -> str:
    return "".join(char if char in _PLAIN or _is_letter(char, is_value) else quote(char, safe="") for char in name)


def _is_letter(char: str, is_value: bool) -> bool:
    return (char.isalnum() and (char.isascii() or is_value)) or (is_value and char == "%")
