"""A store of files behind a connection, over fsspec: one more of them is a subclass of `Store` that says what its errors mean."""

from __future__ import annotations

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from jobs.nodes.base import NodeError
from jobs.nodes.node_error import SystemAway, reworded
from jobs.nodes.patience import Patience

if TYPE_CHECKING:
    from fsspec.asyn import AsyncFileSystem

Result = TypeVar("Result")

_COMPARED_BYTES = 8 * 1024 * 1024
_DISK_TAKES_NOTHING = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


@dataclass(frozen=True)
class Stored:
    """One file: its name below the connection's folder, its size in bytes, its last change in seconds since 1970."""

    name: str
    size: int
    modified: float


def everywhere(folder: str) -> bool:
    """No folder is left out."""
    return True


class Store(ABC):
    """Files below one folder of a store. Names are relative to it, their parts joined by "/". Whatever fails is a NodeError.

    `title` is what it is called in sentences, as in "s3 lake".
    """

    patience_seconds = 0.0
    #: So many requests may be under way at a time.
    at_once = 4

    def __init__(self, title: str, files: AsyncFileSystem, base: str) -> None:
        self.title = title
        self._files = files
        self._base = base.rstrip("/")

    @abstractmethod
    def meaning(self, error: Exception) -> NodeError | None:
        """What the store says, in words that name the remedy; None where it just does not answer."""

    @abstractmethod
    def is_taken(self, error: Exception) -> bool:
        """Whether `error` says that a file which was to be new is there already."""

    def modified(self, entry: dict[str, Any]) -> float:
        """When a file that fsspec describes so was last changed, in seconds since 1970."""
        return float(entry["LastModified"].timestamp())

    def find(self, folder: str, enters: Callable[[str], bool] = everywhere) -> list[Stored]:
        """Every file in `folder` and the folders below it, by name; `folder` may also be a file. Empty where there is none.

        A store that is asked folder by folder leaves out those whose own name `enters` refuses: they may be closed to us.
        """
        path = self._path(folder)
        return self._stored(self._done(f'listing "{folder or "/"}"', lambda: self._files.find(path, withdirs=False, detail=True)))

    def _stored(self, found: Mapping[str, dict[str, Any]]) -> list[Stored]:
        """Of what fsspec found."""
        below = len(self._base) + 1
        return [
            Stored(entry["name"][below:], int(entry["size"] or 0), self.modified(entry))
            for _, entry in sorted(found.items())
            if not entry["name"].endswith("/")
        ]

    def fetch(self, name: str, target: Path) -> bool:
        """Copy a file to the local `target`; False when it is not there (any more). An OSError where the local disk takes no more."""
        try:
            return self._was_there(f'reading "{name}"', lambda: self._files.get_file(self._path(name), str(target)))
        except NodeError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in _DISK_TAKES_NOTHING:
                raise error.__cause__ from None  # no fault of the store's
            raise

    def head(self, name: str, size: int) -> bytes:
        """The first `size` bytes of a file."""
        return self._done(f'reading "{name}"', lambda: bytes(self._files.cat_file(self._path(name), start=0, end=size)))

    def read(self, name: str) -> bytes | None:
        """A small file whole; None when it is not there."""
        try:
            return self._done(f'reading "{name}"', lambda: bytes(self._files.cat_file(self._path(name))))
        except StoredGone:
            return None

    def create(self, name: str, content: bytes) -> bool:
        """Make a small file; False, changing nothing, when there is one of that name already. The store itself decides.

        After an answer that was lost the file is there already too, with this content.
        """
        try:
            self._done(f'writing "{name}"', lambda: self._files.pipe_file(self._path(name), content, mode="create"))
        except StoredAlready:
            return False
        return True

    def keeps_what_is_there(self, trial: str) -> bool:
        """Whether `create` can be relied on: not every store that takes the condition heeds it. `trial` is a file that is not there."""
        self.create(trial, b"")
        kept = not self.create(trial, b"again")
        self.remove([trial])
        return kept

    def put(self, source: Path, name: str) -> None:
        self._done(f'writing "{name}"', lambda: self._files.put_file(str(source), self._path(name)))

    def copy(self, name: str, target: str) -> bool:
        """Copy within the store; False when `name` is not there."""
        return self._was_there(f'writing "{target}"', lambda: self._files.cp_file(self._path(name), self._path(target)))

    def exists(self, name: str) -> bool:
        return self._done(f'reading "{name}"', lambda: bool(self._files.exists(self._path(name))))

    def holds_same(self, name: str, other: str) -> bool:
        """Whether two files that are there have the same content, which is read only where they are as long."""
        size = self._size(name)
        return size == self._size(other) and all(
            self._part(name, start) == self._part(other, start) for start in range(0, size, _COMPARED_BYTES)
        )

    def _size(self, name: str) -> int:
        return self._done(f'reading "{name}"', lambda: int(self._files.size(self._path(name)) or 0))

    def _part(self, name: str, start: int) -> bytes:
        path = self._path(name)
        return self._done(f'reading "{name}"', lambda: bytes(self._files.cat_file(path, start=start, end=start + _COMPARED_BYTES)))

    def move(self, name: str, target: str) -> None:
        """Nothing where `name` is not there. Broken off in between, both are there."""
        if self.copy(name, target):
            self.remove([name])

    def remove(self, names: Iterable[str]) -> None:
        """One by one, for not every store takes a list. What is not there is removed."""
        for name in names:
            self._was_there(f'deleting "{name}"', partial(self._files.rm_file, self._path(name)))

    def _path(self, name: str) -> str:
        return f"{self._base}/{name.strip('/')}".rstrip("/")

    def _was_there(self, act: str, request: Callable[[], Any]) -> bool:
        try:
            self._done(act, request)
        except StoredGone:
            return False
        return True

    def _done(self, act: str, request: Callable[[], Result]) -> Result:
        """What `request` gives; while the store does not answer it is repeated for as long as there is patience."""
        patience = Patience(self.patience_seconds)
        while True:
            try:
                return request()
            except Exception as error:  # each store's library has errors of its own
                told = self.told(act, error)
                if told.permanent or told.kind == "user" or patience.is_over():
                    raise told from error
            patience.pause()

    def told(self, act: str, error: Exception) -> NodeError:
        """What a request that failed means."""
        if self.is_taken(error):
            return StoredAlready(f"{self.title}: {act}: it is there already", kind="user")
        if (known := self.meaning(error)) is not None:
            return reworded(known, f"{self.title}: {act}: {known.message}", "")
        if isinstance(error, FileNotFoundError):
            return StoredGone(f"{self.title}: {act}: it is not there", kind="user")
        why = " ".join(str(error).split()) or type(error).__name__
        return SystemAway(f"{self.title}: {act}: the store does not answer ({why}); check that it runs and can be reached")


class StoredGone(NodeError):
    """The file is not there."""


class StoredAlready(NodeError):
    """The file, which was to be made, is there."""
