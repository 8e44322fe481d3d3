"""Which batches of a file sink count in a store that has no lock and no rename: a log whose entries are each created only if absent.

Layout, below `<target>/.pipeline/<job_uid>/<node_id>/`: `log/<number>.json`, entry after entry, of all generations, with
`log/<number>.done` once its files are in place; `aside/<generation>/<batch>-<attempt>/`, files before they count; and `gathered/`,
files of batches that wait to become one file, and marks. An entry says
who may write (`attempt`, `generation`), the newest batch of that generation, and the moves that make it visible. Whoever takes over
writes an entry of its own, so that the next number of an attempt that was left behind is taken: check and claim are one act.
"""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path, PurePosixPath
from uuid import uuid4

from jobs.nodes.base import NodeError, SinkFenced
from jobs.nodes.file_walk import is_hidden
from jobs.nodes.roll_back import RollBackPoint
from jobs.nodes.sinks.file_manifest import BatchFiles, batch_file_prefix, files_behind
from jobs.nodes.stores.store import Store, Stored

_ENTRIES_KEPT = 200
_AT_ONCE = 4


@dataclass(frozen=True)
class _Entry:
    """`batch`: the newest of the generation, -1 before its first. `moves`: file aside → file in the target. `mark`: tells writers apart."""

    attempt: int
    generation: str
    batch: int = -1
    aside: str = ""
    moves: dict[str, str] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    mark: str = field(default_factory=lambda: uuid4().hex)


class StoreLedger:
    """The ledger of one sink in one generation, for one attempt. Batches come in order. `local`: a folder of this attempt's own.

    Batches and what is put together come from two threads: what is known of the log, and its next entry, is one thread's at a time.
    """

    def __init__(self, store: Store, target: str, *, job_uid: str, node_id: str, generation: str, local: Path) -> None:
        self._store = store
        self._target = target
        self._node = _joined(target, ".pipeline", job_uid or "job", node_id)
        self._node_id = node_id
        self._generation = generation or "generation"
        self._local = local
        self._number = -1
        self._is_done = True
        self._entry = _Entry(0, "")
        self._lock = threading.Lock()

    def begin(self, attempt: int) -> None:
        """Finish what the last entry left half moved, then write this attempt's; SinkFenced if a newer attempt already did."""
        with self._lock:
            if not self._refresh():
                self._check_store()
            old = self._take_over(attempt)
        self._store.remove([*old, *(one.name for one in self._store.find(_joined(self._node, "aside")))])

    def _check_store(self) -> None:
        """Before the first entry: in a store that overwrites, two attempts would both believe that theirs counts."""
        if not self._store.keeps_what_is_there(_joined(self._node, f"trial-{uuid4().hex}")):
            message = (
                f"writing files: {self._store.title} does not keep a file that is there, which exactly once needs; choose another store"
            )
            raise NodeError(message, permanent=True, kind="user", field="connection")

    def _take_over(self, attempt: int) -> list[str]:
        """Gives the names in the log that are not needed any more."""
        while True:
            old = self._refresh()[: -2 * _ENTRIES_KEPT]
            if self._entry.attempt > attempt:
                raise self._fenced(attempt)
            self._move_into_place()
            batch = self._entry.batch if self._entry.generation == self._generation else -1
            if self._append(_Entry(attempt, self._generation, batch)):
                return old

    def folder_aside(self, key: str, attempt: int) -> Path:
        """Where this attempt writes a batch, or what is put together, on this machine first."""
        return self._local / f"{key}-{attempt}"

    def file_prefix(self, batch_id: int) -> str:
        return batch_file_prefix(self._generation, self._node_id, batch_id)

    def all_files(self) -> list[str]:
        """Those that a reader sees, and those of this node that wait."""
        return [*self.visible_files(), *(one.name for one in self.gathered())]

    @property
    def gathered_folder(self) -> str:
        """Where files wait to be put together, from the target."""
        return self._from_target(_joined(self._node, "gathered"))

    def gathered(self) -> list[Stored]:
        """What waits there, and marks; names from the target."""
        found = self._store.find(_joined(self._node, "gathered"))
        return [replace(one, name=self._from_target(one.name)) for one in found]

    def readable(self, names: Iterable[str], attempt: int) -> list[str]:
        """Paths by which Spark reads files that wait: copies on this machine, which go with `put_together`."""
        folder = self._local / f"gathered-{attempt}"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        copies = {name: folder / name.rsplit("/", 1)[-1] for name in names}
        _all_at_once(lambda name: self._fetch(name, copies[name]), copies)
        return [str(path) for path in copies.values()]

    def mark(self, name: str) -> None:
        self._store.create(_joined(self._node, "gathered", name), b"")

    def unmark(self, names: Iterable[str]) -> None:
        self._store.remove(_joined(self._target, name) for name in names)

    def visible_files(self) -> tuple[str, ...]:
        """Every file that a reader of the target sees now."""
        found = (self._from_target(one.name) for one in self._store.find(self._target))
        return tuple(name for name in found if not is_hidden(PurePosixPath(name)))

    def complete_if_claimed(self, batch_id: int, attempt: int) -> bool:
        """Whether the batch already counts; if so its files are in place afterwards."""
        with self._lock:
            self._refuse_if_fenced(attempt)
            self._move_into_place()
            return self._entry.batch >= batch_id

    def roll_back(self, attempt: int, point: RollBackPoint) -> int:
        """Remove this node's files behind `point`; how many. Repeatable. What lay aside went when the attempt began."""
        with self._lock:
            self._refuse_if_fenced(attempt)
        going = files_behind(self.all_files(), self._node_id, point)
        self._store.remove(_joined(self._target, name) for name in going)
        return len(going)

    def claim(self, batch_id: int, attempt: int, files: BatchFiles) -> bool:
        """Make `files` the batch, all or none. They go to the store beside the target, count with one entry, then move into place."""
        self._count(attempt, files, batch_id)
        return True

    def put_together(self, key: str, attempt: int, files: BatchFiles) -> None:
        """`files` take the place of gathered ones, all or none."""
        with self._lock:
            self._refuse_if_fenced(attempt)
        self._count(attempt, files)
        shutil.rmtree(self._local / f"gathered-{attempt}", ignore_errors=True)

    def _count(self, attempt: int, files: BatchFiles, batch_id: int | None = None) -> None:
        """`batch_id` None: the newest batch stays what it is by then."""
        aside = _joined("aside", self._generation, f"{files.aside}-{uuid4().hex[:8]}")
        written = self._local / files.aside
        _all_at_once(lambda source: self._store.put(written / source, _joined(self._node, aside, source)), files.moves)
        with self._lock:
            self._move_into_place()  # what broke off before; behind a newer entry nobody would look at it
            batch = self._entry.batch if batch_id is None else batch_id
            if not self._append(_Entry(attempt, self._generation, batch, aside, files.moves, files.removes)):
                raise self._fenced(attempt)
            self._move_into_place()
            past = self._number - _ENTRIES_KEPT
        shutil.rmtree(written, ignore_errors=True)
        self._store.remove([self._log(past), self._log(past, "done")] if past >= 0 else [])

    def _refuse_if_fenced(self, attempt: int) -> None:
        self._refresh()
        if (self._entry.attempt, self._entry.generation) != (attempt, self._generation):
            raise self._fenced(attempt)

    def _refresh(self) -> list[str]:
        """Take the newest entry for the state of things; gives the names of all. Only the newest ever has anything left to do."""
        names = self._logged()
        if names and _number(names[-1]) != self._number:
            self._number = _number(names[-1])
            self._entry = self._read(self._number)
            self._is_done = self._log(self._number, "done") in names
        return names

    def _logged(self) -> list[str]:
        """Names of all entries and marks, the newest entry last. Some stores list files that they are still taking too, by other names."""
        names = (one.name for one in self._store.find(_joined(self._node, "log")))
        return [name for name in names if name.endswith((".json", ".done"))]

    def _append(self, entry: _Entry) -> bool:
        """Make `entry` the next; False when the number is taken by another. An answer that was lost is not taken for a refusal."""
        number = self._number + 1
        if not self._store.create(self._log(number), json.dumps(asdict(entry)).encode()) and self._read(number).mark != entry.mark:
            return False
        if _number(self._logged()[-1]) != number:  # left behind so long ago that the entry which said so is trimmed
            self._store.remove([self._log(number)])
            return False
        self._number, self._entry, self._is_done = number, entry, False
        return True

    def _move_into_place(self) -> None:
        """Repeatable at any point: what is gone was removed or moved by a try before this one."""
        entry = self._entry
        if self._is_done or not (entry.moves or entry.removes):
            return
        self._store.remove(_joined(self._target, name) for name in entry.removes)
        _all_at_once(lambda source: self._move(_joined(self._node, entry.aside, source), entry.moves[source]), entry.moves)
        self._store.create(self._log(self._number, "done"), b"")
        self._is_done = True

    def _move(self, aside: str, name: str) -> None:
        target = _joined(self._target, name)
        if not self._store.copy(aside, target) and not self._store.exists(target):
            raise NodeError(f'writing files: "{aside}" vanished before it was in place; restore a checkpoint')
        self._store.remove([aside])

    def _fetch(self, name: str, copy: Path) -> None:
        if not self._store.fetch(_joined(self._target, name), copy):
            raise NodeError(f'writing files: "{name}" is gone; nothing else may write below .pipeline')

    def _from_target(self, name: str) -> str:
        return name[len(self._target) :].strip("/")

    def _read(self, number: int) -> _Entry:
        raw = self._store.read(self._log(number))
        if raw is None:
            raise NodeError(f'writing files: "{self._log(number)}" is gone; nothing else may write below .pipeline')
        found = json.loads(raw)
        return _Entry(**(found | {"removes": tuple(found["removes"])}))

    def _fenced(self, attempt: int) -> SinkFenced:
        return SinkFenced(f'writing files: another attempt took over "{self._target}" in {self._store.title}; this one, {attempt}, stops')

    def _log(self, number: int, kind: str = "json") -> str:
        return _joined(self._node, "log", f"{number:012d}.{kind}")


def _all_at_once(act: Callable[[str], None], names: Iterable[str]) -> None:
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="store") as pool:
        list(pool.map(act, names))


def _number(name: str) -> int:
    return int(name.rsplit("/", 1)[-1].split(".")[0])


def _joined(*parts: str) -> str:
    return "/".join(part for part in parts if part)
