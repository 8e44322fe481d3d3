"""Checkpoints in a store of objects: S3, and whatever else fsspec reaches."""

from __future__ import annotations

import tempfile
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TypeVar

from checkpoints.checksums import file_digest
from checkpoints.cut import CutDamaged, folder_remove
from checkpoints.manifest import ManifestDamaged
from checkpoints.stores.base import CheckpointStorage, Placed, StorageAway, StorageFailed, Stored, Wanted, everything
from checkpoints.stores.contents import CONTENTS, Contents, Piece, contents_parse, contents_text, key_of, objects_named
from checkpoints.threads import Pulse, all_done, no_pulse
from checkpoints.verification import checkpoint_files
from jobs.nodes.base import NodeError
from jobs.nodes.stores.store import Store
from jobs.nodes.stores.store import Stored as Object

Result = TypeVar("Result")

#: So many lists of contents are kept in memory.
_REMEMBERED = 200
#: What an upload that failed left is taken up by the next for so long; the clean-up waits for longer.
_FRESH = timedelta(minutes=30)


class ObjectStorage(CheckpointStorage):
    """Below `address`, which is what people see of it."""

    def __init__(self, name: str, connect: Callable[[], Store], address: str) -> None:
        """`connect` is called when the store is first asked: it may take its time, or fail."""
        super().__init__(name)
        self._connect = connect
        self._connecting = threading.Lock()
        self._connected: Store | None = None
        self._address = address.rstrip("/")
        self._known_contents: dict[str, Contents] = {}

    def put(self, folder: Path, key: str, *, base: str = "", pulse: Pulse = no_pulse) -> Placed:
        pulse()
        (known,) = _all_done([partial(self._known, key, base)], pulse)
        contents: dict[str, Piece] = {}
        sending: dict[str, Path] = {}
        for name, facts in checkpoint_files(folder).items():
            size, sha256 = int(facts["bytes"]), str(facts["sha256"])
            found = known.get((sha256, size))
            contents[name] = Piece(size, sha256, found or f"{key}/{sha256}")
            if contents[name].object not in sending and found is None:
                sending[contents[name].object] = folder / name
        _all_done([partial(self._send, path, name) for name, path in sending.items()], pulse)
        _all_done([partial(self._conclude, key, contents)], pulse)
        own = sum({piece.object: piece.bytes for piece in contents.values() if key_of(piece.object) == key}.values())
        return Placed(self.place(key), own)

    def list_stored(self) -> Iterator[Stored]:
        """Of what has no contents any more only that which nobody else names."""
        jobs: dict[str, dict[str, list[Object]]] = defaultdict(lambda: defaultdict(list))
        for one in self._asked(lambda store: store.find("")):
            if key := key_of(one.name):
                jobs[key.split("/")[0]][key].append(one)
        for keys in jobs.values():
            named = {key: self._named_if_sound(key) for key, objects in keys.items() if _is_whole(key, objects)}
            for key, objects in sorted(keys.items()):
                shared = set().union(*(names for other, names in named.items() if other != key))
                alone = [one for one in objects if one.name not in shared]
                if alone:
                    changed = datetime.fromtimestamp(max(one.modified for one in objects), UTC)
                    yield Stored(key, self.place(key), sum(one.size for one in alone), changed)

    @contextmanager
    def open(self, key: str, scratch: Path, *, wanted: Wanted = everything, pulse: Pulse = no_pulse) -> Iterator[Path]:
        (found,) = _all_done([partial(self._contents, key)], pulse)
        contents = {name: piece for name, piece in found.items() if wanted(name)}
        problems: list[str] = []
        scratch.mkdir(parents=True)
        try:
            _all_done([partial(self._fetch, piece, name, scratch, problems) for name, piece in contents.items()], pulse)
            if problems:
                raise CutDamaged(sorted(problems))
            yield scratch
        finally:
            folder_remove(scratch)

    def delete(self, key: str) -> int:
        """Its contents first: what is left by an interruption never looks whole. What others name stays until the last of them goes."""
        mine = self._contents_if_sound(key)  # none of an upload that failed, or of a call that did not finish
        self._remove(f"{key}/{CONTENTS}")
        objects = {one.name: one.size for one in self._below(_job_of(key))}
        others = {key_of(name) for name in objects if name.endswith(f"/{CONTENTS}")} - {key}
        try:
            named = set().union(*(self._named(other) for other in others))
        except ManifestDamaged as damaged:
            raise StorageFailed(f"{self.name}: what {_job_of(key)} shares cannot be told: {damaged}; delete that one first") from None
        own = {name for name in objects if key_of(name) == key}
        going = sorted((own | objects_named([mine])) & set(objects) - named)
        _all_done([partial(self._remove, name) for name in going], no_pulse)
        return sum(objects[name] for name in going)

    def size(self, key: str) -> int:
        return sum(piece.bytes for piece in self._contents_if_sound(key).values())

    def alone(self, keys: Collection[str]) -> dict[str, int]:
        """What was read once is believed: it never changes but when a checkpoint is kept, and then the next process reads it anew."""
        found = {key: contents for key in keys if (contents := self._remembered(key)) is not None}
        names = Counter(name for contents in found.values() for name in objects_named([contents]))
        return {
            key: sum({one.object: one.bytes for one in contents.values() if names[one.object] == 1}.values())
            for key, contents in found.items()
        }

    def place(self, key: str) -> str:
        return f"{self._address}/{key}"

    def _known(self, key: str, base: str) -> dict[tuple[str, int], str]:
        """What need not be sent, by checksum and size → its object."""
        found: dict[tuple[str, int], str] = {}
        fresh = datetime.now(UTC) - _FRESH
        objects = self._below(_job_of(key))
        whole = {key_of(one.name) for one in objects if one.name.endswith(f"/{CONTENTS}")}
        if base in whole:
            found |= {(piece.sha256, piece.bytes): piece.object for piece in self._contents_if_sound(base).values()}
        for one in objects:
            owner, name = key_of(one.name), one.name.rsplit("/")[-1]
            is_left = bool(base) and owner not in whole and datetime.fromtimestamp(one.modified, UTC) > fresh
            if owner == key or is_left:
                found.setdefault((name, one.size), one.name)
        sizes = {one.name: one.size for one in objects}
        return {(sha256, size): name for (sha256, size), name in found.items() if sizes.get(name) == size}

    def _conclude(self, key: str, contents: Contents) -> None:
        """The list of contents, once everything that it names is there and as large as it should be."""
        sizes = {one.name: one.size for one in self._below(_job_of(key))}
        for name, piece in contents.items():
            if sizes.get(piece.object) != piece.bytes:
                raise StorageFailed(f"{self.name}: {name} did not arrive whole")
        self._write(f"{key}/{CONTENTS}", contents_text(contents))
        self._known_contents.pop(key, None)

    def _below(self, folder: str) -> list[Object]:
        return self._asked(lambda store: store.find(folder))

    def _contents(self, key: str) -> Contents:
        text = self._asked(lambda store: store.read(f"{key}/{CONTENTS}"))
        if text is None:
            raise ManifestDamaged(f"it is not there: {self.place(key)}")
        return contents_parse(text)

    def _contents_if_sound(self, key: str) -> Contents:
        """None of what is damaged, or gone meanwhile."""
        try:
            return self._contents(key)
        except ManifestDamaged:
            return {}

    def _remembered(self, key: str) -> Contents | None:
        if key not in self._known_contents:
            if len(self._known_contents) >= _REMEMBERED:
                self._known_contents.clear()
            try:
                self._known_contents[key] = self._contents(key)
            except ManifestDamaged:
                return None
        return self._known_contents[key]

    def _named(self, key: str) -> set[str]:
        """The objects that a checkpoint names; none where it has gone meanwhile."""
        text = self._asked(lambda store: store.read(f"{key}/{CONTENTS}"))
        try:
            return objects_named([contents_parse(text)]) if text is not None else set()
        except ManifestDamaged as damaged:
            raise ManifestDamaged(f"{self.place(key)}: {damaged}") from None

    def _named_if_sound(self, key: str) -> set[str]:
        """To list what there is; what is deleted is looked at more closely."""
        try:
            return self._named(key)
        except ManifestDamaged:
            return set()

    def _remove(self, name: str) -> None:
        self._asked(lambda store: store.remove([name]))

    def _send(self, path: Path, name: str) -> None:
        self._asked(lambda store: store.put(path, name))

    def _write(self, name: str, text: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, CONTENTS)
            path.write_text(text, encoding="utf-8")
            self._send(path, name)

    def _fetch(self, piece: Piece, name: str, folder: Path, problems: list[str]) -> None:
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not self._asked(lambda store: store.fetch(piece.object, target)):
            problems.append(f"{name} is missing")
        elif file_digest(target) != piece.sha256:
            problems.append(f"{name} is damaged: its checksum does not fit")

    def _asked(self, request: Callable[[Store], Result]) -> Result:
        try:
            return request(self._store())
        except NodeError as error:
            is_away = not error.permanent and error.kind != "user"
            raise (StorageAway if is_away else StorageFailed)(error.message) from error

    def _store(self) -> Store:
        with self._connecting:
            if self._connected is None:
                try:
                    self._connected = self._connect()
                except Exception as error:  # each library has errors of its own
                    why = next(iter(str(error).splitlines()), type(error).__name__)
                    raise StorageFailed(f"{self.name}: the store cannot be opened: {why}") from error
            return self._connected


def _job_of(key: str) -> str:
    return key.rsplit("/", 2)[0]


def _is_whole(key: str, objects: list[Object]) -> bool:
    return any(one.name == f"{key}/{CONTENTS}" for one in objects)


def _all_done(calls: list[Callable[[], Result]], pulse: Pulse) -> list[Result]:
    """What each gives; several at once. What is under way when one fails, or `pulse` ends it, is not waited for."""

    def work(call: Callable[[], Result], going_on: Pulse) -> Result:
        return call()

    return all_done([partial(work, call) for call in calls], pulse, leave=True)
