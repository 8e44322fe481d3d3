"""Which batches of a file sink count: a hidden ledger in the target folder that makes each batch's files appear once.

Layout, below `<target>/.pipeline/<job_uid>/<node_id>/`: `fence.json` (who may write), `lock`,
`<generation>/<batch>.json` (the manifest: created only if absent), `<generation>/<batch>.done`,
`<generation>/<batch>-<attempt>/` (files aside), `gathered/` (files of batches that wait to become one file, and marks).
Instead of `<batch>` there is also the key of files that were put together out of gathered ones: `<batch>t<generation, short>`.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from uuid import uuid4

from jobs.nodes.base import NodeError, SinkFenced
from jobs.nodes.durable_text import text_place
from jobs.nodes.file_walk import files_below, is_hidden
from jobs.nodes.roll_back import RollBackPoint
from jobs.nodes.stores.store import Stored

_LOCK_PATIENCE_SECONDS = 30.0
_MANIFESTS_KEPT = 100
#: What `batch_file_prefix` begins; a node's id has no hyphen.
#: With the oldest batch behind it where a file holds several.
_OWN_NAME = re.compile(r"part-(?P<generation>\w+)-(?P<node>\w+)-(?P<batch>\d{8,})-\d{5,}(\.since-(?P<oldest>\d{8,}))?(\.|$)")

#: A manifest, its mark or a folder aside of one batch. What was put together is called otherwise: it is in place, or gone, once an
#: attempt has begun.
_OF_BATCH = re.compile(r"(\d+)[-.]")


@dataclass(frozen=True)
class BatchFiles:
    """`moves`: path in the folder aside → path in the target; `removes`: paths in the target that vanish first."""

    aside: str
    moves: dict[str, str]
    removes: tuple[str, ...] = ()

    @classmethod
    def found(cls, aside: Path, *, prefix: str, removes: Sequence[str], folder: str = "", since: str = "") -> BatchFiles:
        """Every data file that Spark wrote below `aside`, each under a new name that begins with `prefix`, in `folder` of the target.

        `since`: stands behind their numbers. A file of no bytes, which Spark writes of a batch without rows, stays aside.
        """
        written = sorted(file.relative_to(aside) for file in files_below(aside) if _is_data(file))
        names = (
            str(Path(folder) / file.parent / f"{prefix}-{number:05d}{since}{_suffix(file.name)}") for number, file in enumerate(written)
        )
        return cls(aside.name, dict(zip(map(str, written), names, strict=True)), tuple(removes))

    def written(self, aside: Path) -> list[Stored]:
        """The files by their names in the target, while they are still aside."""
        facts = ((name, (aside / source).stat()) for source, name in self.moves.items())
        return [Stored(name, one.st_size, one.st_mtime) for name, one in facts]


def _is_data(file: Path) -> bool:
    return not file.name.startswith((".", "_")) and file.stat().st_size > 0


@dataclass(frozen=True)
class FolderLedger:
    """The ledger of one sink in one generation. Safe against two attempts writing at once."""

    target: Path
    job_uid: str
    node_id: str
    generation: str

    @property
    def _node_folder(self) -> Path:
        return self.target / ".pipeline" / (self.job_uid or "job") / self.node_id

    @property
    def _folder(self) -> Path:
        return self._node_folder / (self.generation or "generation")

    def begin(self, attempt: int) -> None:
        """Raise the fence to this attempt and generation; SinkFenced if a newer attempt already did. Finishes half-moved batches.

        And what any generation put together: those rows are committed. A batch that another one left half moved comes again.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._locked():
            self._refuse_if_fenced(attempt, newer_only=True)
            text_place(self._node_folder / "fence.json", json.dumps({"generation": self.generation, "attempt": attempt}))
        for aside in self._of_own_or_put_together("-*"):
            if not aside.with_name(f"{aside.name.rsplit('-', 1)[0]}.json").exists():
                shutil.rmtree(aside, ignore_errors=True)
        for manifest in sorted(self._of_own_or_put_together(".json")):
            self._move_into_place(manifest)
            if not manifest.stem.isdigit():
                self._forget(manifest)

    def _of_own_or_put_together(self, ending: str) -> set[Path]:
        """Batches of this generation, and what this node put together in any, that end so."""
        return {*self._folder.glob(f"[0-9]*{ending}"), *self._node_folder.glob(f"*/[0-9]*t*{ending}")}

    def folder_aside(self, key: str, attempt: int) -> Path:
        """Where this attempt writes a batch, or what is put together, before it counts."""
        return self._folder / f"{key}-{attempt}"

    def file_prefix(self, batch_id: int) -> str:
        """Start of the names of this batch's files: tells generation, node and batch, and never meets another's."""
        return batch_file_prefix(self.generation, self.node_id, batch_id)

    def visible_files(self) -> tuple[str, ...]:
        """Every file that a reader of the target sees now."""
        found = (file.relative_to(self.target) for file in files_below(self.target))
        return tuple(sorted(str(file) for file in found if not is_hidden(file)))

    def all_files(self) -> list[str]:
        """Those that a reader sees, and those of this node that wait."""
        return [*self.visible_files(), *(one.name for one in self.gathered())]

    @property
    def gathered_folder(self) -> str:
        """Where files wait to be put together, from the target."""
        return str(self._node_folder.relative_to(self.target) / "gathered")

    def gathered(self) -> list[Stored]:
        """What waits there, and marks; names from the target."""
        found = [(file, file.stat()) for file in sorted((self.target / self.gathered_folder).glob("*"))]
        return [Stored(str(file.relative_to(self.target)), facts.st_size, facts.st_mtime) for file, facts in found]

    def readable(self, names: Iterable[str], attempt: int) -> list[str]:
        """Paths by which Spark reads files that wait."""
        return [str(self.target / name) for name in names]

    def mark(self, name: str) -> None:
        (self.target / self.gathered_folder).mkdir(parents=True, exist_ok=True)
        (self.target / self.gathered_folder / name).touch()

    def unmark(self, names: Iterable[str]) -> None:
        for name in names:
            (self.target / name).unlink(missing_ok=True)

    def complete_if_claimed(self, batch_id: int, attempt: int) -> bool:
        """Whether the batch already counts; if so its files are in place afterwards."""
        with self._locked():
            self._refuse_if_fenced(attempt)
        manifest = self._manifest(str(batch_id))
        if not manifest.exists():
            return False
        self._move_into_place(manifest)
        return True

    def claim(self, batch_id: int, attempt: int, files: BatchFiles) -> bool:
        """Make `files` the batch, all or none; False when another attempt's already are. The winner's are in place afterwards."""
        won = self._claimed(str(batch_id), attempt, files)
        self._trim(batch_id)
        return won

    def put_together(self, key: str, attempt: int, files: BatchFiles) -> None:
        """`files` take the place of gathered ones, all or none."""
        self._claimed(key, attempt, files)
        self._forget(self._manifest(key))

    def _claimed(self, key: str, attempt: int, files: BatchFiles) -> bool:
        draft = self._folder / f".{key}-{uuid4().hex}"
        text_place(draft, json.dumps(asdict(files)))
        try:
            with self._locked():
                self._refuse_if_fenced(attempt)
                os.link(draft, self._manifest(key))
            won = True
        except FileExistsError:
            won = False
        finally:
            draft.unlink(missing_ok=True)
        self._move_into_place(self._manifest(key))
        return won

    def roll_back(self, attempt: int, point: RollBackPoint) -> int:
        """Remove this node's files behind `point`; how many. Repeatable.

        What lies aside goes first: an attempt that was left behind while it moved files into place then finds no more of them.
        """
        with self._locked():
            self._refuse_if_fenced(attempt)
        for generation in (point.generation, *point.later):
            for kept in (self._node_folder / generation).glob("[0-9]*"):
                batch = _OF_BATCH.match(kept.name)
                if batch and point.is_behind(generation, int(batch[1])):
                    shutil.rmtree(kept, ignore_errors=True) if kept.is_dir() else kept.unlink(missing_ok=True)
        going = files_behind(self.all_files(), self.node_id, point)
        for name in going:
            (self.target / name).unlink(missing_ok=True)
        return len(going)

    def _manifest(self, key: str) -> Path:
        return self._folder / f"{key}.json"

    def _move_into_place(self, manifest: Path) -> None:
        """Repeatable at any point: what is gone was removed or moved by a try before this one."""
        done = manifest.with_suffix(".done")
        if done.exists():
            return
        raw = json.loads(manifest.read_text(encoding="utf-8"))
        aside = manifest.with_name(raw["aside"])
        for name in raw["removes"]:
            (self.target / name).unlink(missing_ok=True)
        for source, name in raw["moves"].items():
            (self.target / name).parent.mkdir(parents=True, exist_ok=True)
            try:
                os.replace(aside / source, self.target / name)
            except FileNotFoundError:
                if not (self.target / name).exists():
                    raise NodeError(f'writing files: "{aside / source}" vanished before it was in place; restore a checkpoint') from None
        done.touch()
        shutil.rmtree(aside, ignore_errors=True)

    def _trim(self, batch_id: int) -> None:
        """Spark repeats only the newest batch, so old manifests serve nobody."""
        self._forget(self._manifest(str(batch_id - _MANIFESTS_KEPT)))

    def _forget(self, manifest: Path) -> None:
        for name in (manifest, manifest.with_suffix(".done")):
            name.unlink(missing_ok=True)

    def _refuse_if_fenced(self, attempt: int, *, newer_only: bool = False) -> None:
        fence = self._node_folder / "fence.json"
        if not fence.exists():
            return
        holder = json.loads(fence.read_text(encoding="utf-8"))
        if holder["attempt"] > attempt or (not newer_only and holder["generation"] != self.generation):
            raise SinkFenced(f'writing files: attempt {holder["attempt"]} took over "{self.target}"; this one, {attempt}, stops')

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Held for a check and one link only; a process frozen in it is given up on after a while."""
        deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
        with (self._node_folder / "lock").open("w") as handle:
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > deadline:
                        raise NodeError(f'writing files: another process holds the lock of "{self.target}"; stop it') from None
                    time.sleep(0.02)
            yield


def batch_file_prefix(generation: str, node_id: str, batch_id: int) -> str:
    return f"part-{short(generation)}-{node_id}-{batch_id:08d}"


def since_batch(batch_id: int) -> str:
    """In the names of files of several batches: the oldest of them."""
    return f".since-{batch_id:08d}"


def generation_and_batch(name: str) -> tuple[str, int] | None:
    """Of which generation, as `short` tells it, and batch a file is; None for one that no sink of files wrote."""
    match = _OWN_NAME.match(name.rsplit("/", 1)[-1])
    return (match["generation"], int(match["batch"])) if match else None


def files_behind(names: Iterable[str], node_id: str, point: RollBackPoint) -> list[str]:
    """Of files in a target those that this node wrote behind `point`, wholly: their names tell generation, node and batches."""
    generations = {short(generation): generation for generation in (point.generation, *point.later)}
    found = ((name, _OWN_NAME.match(name.rsplit("/", 1)[-1])) for name in names)
    own = [(name, match) for name, match in found if match and match["node"] == node_id and match["generation"] in generations]
    return [name for name, match in own if point.is_behind(generations[match["generation"]], int(match["oldest"] or match["batch"]))]


def short(generation: str) -> str:
    """A generation as files' names tell it."""
    return generation.replace("-", "")[:12] or "g"


def _suffix(name: str) -> str:
    """`.snappy.parquet` of Spark's `part-00000-<uuid>.c000.snappy.parquet`."""
    return "." + name.split(".c000.", 1)[1] if ".c000." in name else "".join(Path(name).suffixes[-2:])
