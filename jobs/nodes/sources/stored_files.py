"""Files of a store as a folder on this machine that Spark reads: which ones, a sample, copying them ahead, putting them away."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha256
from itertools import accumulate, chain, count
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Any
from uuid import uuid4

from jobs.nodes.base import NodeContext, NodeError
from jobs.nodes.file_roots import allowed_path
from jobs.nodes.file_walk import is_hidden
from jobs.nodes.sources.file_config import FileConfig
from jobs.nodes.stores.files_read import FilesRead, read_by_all
from jobs.nodes.stores.kinds import store_open, stored_path
from jobs.nodes.stores.local import LocalStore
from jobs.nodes.stores.mirror import Mirror, Wanted, in_order, local_name, mirror_path
from jobs.nodes.stores.samples import sample_appear, sample_is_there, samples_folder
from jobs.nodes.stores.store import Store, Stored

_MEGABYTE = 1_000_000
#: How many files are copied before it is looked again how many wait.
_CHUNK = 50
_SAMPLED_FILES, _SAMPLED_BYTES = 20, 1_000_000
#: Of files that are of no use but whole. One is taken, however large.
_SAMPLED_WHOLE_BYTES = 64_000_000
_LINES = ("csv", "json", "text")
_WHILE_FULL_SECONDS = 0.5
#: Times of one file differ by less, for not every store knows parts of seconds.
_SAME_SECONDS = 2.0


class StoredFiles:
    """What `source.file` does for files behind a connection, and for those of this installation that are copied or put away."""

    def __init__(self, context: NodeContext[FileConfig]) -> None:
        self._context = context
        self._config = context.config
        self._folder = self._name_of(context.config.path)
        self.mirror = Mirror(mirror_path(context.limits.data_dir, context.job_uid, context.node_id))
        self._read = FilesRead(context.live_dir, context.node_id)

    def begin(self) -> None:
        """A generation that has read nothing copies all there is; one that goes on keeps what it has, in the order it has it.

        What a stream only looks things up in is there whole before its first row.
        """
        if self._is_looked_up:
            self.mirror.make()
            self._renew(self._store(), Event())
            return
        taken_up = {path for log in self._read.logs() for path in log}
        if not taken_up:
            self.mirror.clear()
        self.mirror.make()
        if self._config.order == "name":
            self.mirror.remove([path for path in self.mirror.sizes() if path not in taken_up])

    def receive(self, stopping: Event) -> None:
        """Copy what is not there yet and was not read; bounded: what there is now, else again and again."""
        store = self._store()
        while not stopping.is_set():
            if self._is_looked_up:
                self._renew(store, stopping)
            else:
                self._catch_up(store, stopping)
            if self._context.bounded:
                return
            stopping.wait(self._config.list_every_seconds)

    def wanted(self, store: Store) -> list[Wanted]:
        """Every file that is input, in order."""
        found = store.find(self._folder, lambda folder: _is_entered(folder, self._config))
        if not found and self._context.bounded:
            raise NodeError(
                f'reading files: {store.title} has no file at "{self._config.path}"; correct the path', kind="user", field="path"
            )
        chosen = in_order([one for one in found if _is_input(self._inside(one), self._config)], self._config.order)
        return [Wanted(one, local_name(self._inside(one), flat=self._config.subfolders)) for one in chosen]

    def sample(self) -> Path:
        """A folder with the beginnings of some files, kept for as long as these do not change."""
        store = self._store()
        some = [one for one in self.wanted(store) if one.stored.size][:_SAMPLED_FILES]
        wanted = some if self._begins_tell(some) else _fitting(some, _SAMPLED_WHOLE_BYTES)
        where = self._context.connection(self._config.connection).config if self._config.connection else {}
        place = json.dumps([where, self._folder], sort_keys=True, default=str)
        samples = samples_folder(self._context.limits.data_dir) / _digest(place)
        kept = samples / _digest(repr([(one, self._config.format, self._config.encoding) for one in wanted]))
        if not sample_is_there(kept):
            draft = samples / f".{uuid4().hex}"
            draft.mkdir(parents=True)
            for one in wanted:
                self._sampled(store, one, draft / one.local)
            sample_appear(draft, kept)
        return kept

    def trim(self, newest: Any, positions: Sequence[Any]) -> None:
        """Copies of files that every checkpoint has read may go, and beyond the limit those that the newest has: the store has them."""
        entries = [int(position["logOffset"]) for position in positions]
        self.mirror.remove(sorted(self._read.everywhere(upto=min(entries, default=-1))))
        read = self._read.everywhere(upto=int(newest["logOffset"]))
        kept = {path: size for path, size in self.mirror.sizes().items() if path in read}
        excess = sum(kept.values()) - self._most
        for path, size in kept.items():
            if excess <= 0:
                break
            self.mirror.remove([path])
            excess -= size

    def put_away(self, checkpoints: Sequence[Path]) -> None:
        """Archive or delete what all of `checkpoints` have read, but for files that were replaced since: nobody has read those."""
        over = read_by_all(checkpoints, self._context.node_id)
        store = self._store()
        there = {self._path(one): one for one in self.wanted(store)} if over else {}
        for path in sorted(over & there.keys()):
            one = there[path].stored
            if self._is_replaced(there[path]):
                self._context.log(f'"{one.name}" was replaced after it was read, and is left where it is: give new files new names')
            elif self._config.afterwards == "archive":
                _archive(store, one, f"{self.archive()}/{self._inside(one)}")
            else:
                store.remove([one.name])

    def _is_replaced(self, wanted: Wanted) -> bool:
        """Whether the file that is there is another than the one that was read."""
        by_name = self._config.order == "name"
        read = self.mirror.time_there(wanted) if by_name else self._read.time_of(self._path(wanted)) / 1000
        return read is not None and abs(wanted.stored.modified - read) > _SAME_SECONDS

    def archive(self) -> str:
        """The store's name of the folder to archive to; NodeError where files may not be put there."""
        try:
            found = self._name_of(self._config.archive)
        except NodeError as error:
            raise NodeError(error.message, permanent=True, kind="user", field="archive") from error
        if f"{found}/".startswith(f"{self._folder}/"):
            message = "name a folder to archive to, which is not the one that is read, nor below it"
            raise NodeError(message, permanent=True, kind="user", field="archive")
        return found

    def _path(self, wanted: Wanted) -> str:
        """The path that Spark reads."""
        return self.mirror.path(wanted) if self._config.is_copied else f"/{wanted.stored.name}"

    def _inside(self, stored: Stored) -> str:
        """Its name below the folder that is read."""
        return stored.name[len(self._folder) :].strip("/") or stored.name.rsplit("/", 1)[-1]

    def _name_of(self, path: str) -> str:
        return stored_path(path) if self._config.connection else str(allowed_path(path, self._context.limits)).strip("/")

    def _catch_up(self, store: Store, stopping: Event) -> None:
        missing = self._missing(store)
        if self._context.bounded:
            self._check_space(missing)
        while missing and not stopping.is_set():
            room = self._most - self._waiting()
            if not self._context.bounded and room <= 0:
                stopping.wait(_WHILE_FULL_SECONDS)
                continue
            chunk = missing[:_CHUNK] if self._context.bounded else _fitting(missing[:_CHUNK], room)
            if not self._taken(store, chunk, stopping):
                return
            missing = missing[len(chunk) :]

    def _taken(self, store: Store, wanted: Sequence[Wanted], stopping: Event) -> bool:
        """Whether all of them were, before it was to stop."""
        with closing(self.mirror.take(store, wanted, self._config.order)) as copied:
            return not any(stopping.is_set() for _ in copied)

    @property
    def _is_looked_up(self) -> bool:
        return self._context.beside and not self._context.bounded

    def _renew(self, store: Store, stopping: Event) -> None:
        """Copy what is new there or another now, and let go of what is gone. A folder that holds nothing any more is left as it was."""
        wanted, had = self.wanted(store), self.mirror.sizes()
        if not wanted and had:
            return
        other = [one for one in wanted if had.get(self.mirror.path(one)) != one.stored.size or self._is_changed(one)]
        self._check_space(other)
        if not self._taken(store, other, stopping):
            return
        self.mirror.remove(sorted(had.keys() - {self.mirror.path(one) for one in wanted}))

    def _is_changed(self, wanted: Wanted) -> bool:
        """Whether the file that is there was changed since it was copied."""
        by_name = self._config.order == "name"
        copied = self.mirror.time_there(wanted) if by_name else Path(self.mirror.path(wanted)).stat().st_mtime
        return copied is None or abs(wanted.stored.modified - copied) > _SAME_SECONDS

    def _missing(self, store: Store) -> list[Wanted]:
        there = {*self.mirror.sizes(), *(path for log in self._read.logs() for path in log)}
        return [one for one in self.wanted(store) if self.mirror.path(one) not in there]

    def _waiting(self) -> int:
        read = self._read.everywhere()
        return sum(size for path, size in self.mirror.sizes().items() if path not in read)

    @property
    def _most(self) -> int:
        return self._config.max_local_megabytes * _MEGABYTE

    def _check_space(self, missing: Sequence[Wanted]) -> None:
        needed, free = sum(one.stored.size for one in missing), shutil.disk_usage(self.mirror.folder).free
        if needed > free:
            raise NodeError(
                f"reading files: {needed // _MEGABYTE} MB are to be copied to this machine, which has {free // _MEGABYTE} MB free; "
                "make room, or name fewer files"
            )

    def _begins_tell(self, wanted: Sequence[Wanted]) -> bool:
        """Whether the beginnings of these files can be read by themselves."""
        by_line = self._config.format in _LINES and not self._config.is_whole
        return by_line and not any(one.local.endswith((".gz", ".bz2", ".zst")) for one in wanted)

    def _sampled(self, store: Store, wanted: Wanted, target: Path) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if self._begins_tell([wanted]) and wanted.stored.size > _SAMPLED_BYTES:
            head = store.head(wanted.stored.name, _SAMPLED_BYTES)
            target.write_bytes(head[: head.rfind(b"\n") + 1] or head)
        else:
            store.fetch(wanted.stored.name, target)

    def _store(self) -> Store:
        if not self._config.connection:
            return LocalStore(Path("/"), self._context.limits)
        return store_open(self._context.connection(self._config.connection), self._context.limits)


def _fitting(wanted: Sequence[Wanted], room: int) -> Sequence[Wanted]:
    """The first of them, as many as `room` bytes take; one at least."""
    fitting = sum(1 for total in accumulate(one.stored.size for one in wanted) if total <= room)
    return wanted[: max(1, fitting)]


def _archive(store: Store, one: Stored, name: str) -> None:
    """What was archived before is not overwritten; where it is this file, whose move was broken off, the move is ended."""
    for target in _names(name, one.modified):
        if not store.exists(target):
            store.move(one.name, target)
            return
        if _is_copy(store, one, target):
            store.remove([one.name])
            return


def _is_copy(store: Store, one: Stored, target: str) -> bool:
    """A copy is never older: of two deliveries of the same content under one name, the second is newer than what the first became."""
    oldest = one.modified - _SAME_SECONDS
    return any(found.modified >= oldest for found in store.find(target)) and store.holds_same(one.name, target)


def _names(name: str, modified: float) -> Iterator[str]:
    """`name`, then such with the time of the file behind it."""
    folder, _, last = name.rpartition("/")
    base, dot, endings = last.partition(".")
    time_told = datetime.fromtimestamp(modified, UTC).strftime("%Y%m%dT%H%M%SZ")
    others = (f"{folder}/{base}-{time_told}{f'-{number}' if number > 1 else ''}{dot}{endings}" for number in count(1))
    return chain([name], others)


def _is_input(name: str, config: FileConfig) -> bool:
    """As Spark judges a local folder: no hidden names; files below it only in folders that are partitions, unless all are asked for."""
    if is_hidden(PurePosixPath(name)):
        return False
    *folders, last = name.split("/")
    return all(_is_entered(part, config) for part in folders) and fnmatchcase(last, config.pattern or "*")


def _is_entered(folder: str, config: FileConfig) -> bool:
    return not is_hidden(PurePosixPath(folder)) and (config.subfolders or "=" in folder)


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:32]
