"""How Spark lays out a query's folder, and which of its files a restart behind batch N needs (Spark 4.2).

`metadata` (query id) · `offsets/N` (planned) · `commits/N` (done) · `sources/<name>/…` (a file source's log) ·
`state/<operator>/<partition>/[<store>/]` with, per version V = N + 1: RocksDB `V_<id>.changelog` and now and then `V_<id>.zip`, which names
files below `SSTs/` (without `_<id>` in checkpoint format 1); the in-memory provider `V.delta` and now and then `V.snapshot`.
Beside a file may stand Hadoop's `.<name>.crc` and Spark's `<name>.crc`; `….tmp` is a file still being written.
"""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from checkpoints.source_logs import names_files, unambiguous

_VERSIONED = re.compile(r"(?P<version>\d+)(?:_(?P<id>[0-9a-fA-F-]{36}))?\.(?P<kind>zip|changelog|delta|snapshot)")
_SNAPSHOTS = {"zip", "snapshot"}
#: What an archive of a snapshot holds is lists: more than this it never is.
_MOST_UNPACKED = 256 << 20
#: Its directory names a handful of files, and is read in one piece before anything of it can be looked at.
_LARGEST_DIRECTORY = 1 << 20
_LOG_ENTRY = re.compile(r"(?P<batch>\d+)(?P<compact>\.compact)?")


class FolderDamaged(Exception):
    """A file of a query's folder is missing or cannot be what Spark wrote; the text names it."""


def root_name(name: str) -> str | None:
    """The file that `name` belongs to: itself, or the one it is a checksum of; None for a file still being written."""
    if name.startswith(".") and name.endswith(".crc"):
        name = name[1:-4]
    if name.endswith(".crc"):
        name = name[:-4]
    return None if name.endswith(".tmp") else name


def batch_ids(log: Path) -> list[int]:
    """The batches of `offsets` or `commits`, in order; none if there is no such folder."""
    try:
        return sorted(int(entry.name) for entry in log.iterdir() if entry.name.isdigit())
    except FileNotFoundError:
        return []


def last_committed(folder: Path) -> int:
    """The newest batch that Spark committed, -1 if none."""
    return max(batch_ids(folder / "commits"), default=-1)


def query_id(folder: Path) -> str:
    """The id in `metadata`; FolderDamaged if there is none."""
    found = _json_of(folder / "metadata", _text(folder, "metadata"))
    if not isinstance(found, dict) or not found.get("id"):
        raise FolderDamaged("metadata does not hold the query's id")
    return str(found["id"])


def source_offsets(folder: Path, batch_id: int) -> dict[str, Any]:
    """Source name → end offset of a planned batch as data; a source without one yet is left out. Unnamed sources are "0", "1", …"""
    name = f"offsets/{batch_id}"
    lines = _text(folder, name).splitlines()
    if len(lines) < 2 or lines[0] not in ("v1", "v2"):
        raise FolderDamaged(f"{name} is not an offset log: it begins with {lines[0][:20] if lines else 'nothing'!r}")
    _json_of(folder / name, lines[1])
    named = lines[0] == "v2"
    found = {}
    for index, line in enumerate(lines[2:]):
        key, _, offset = line.partition(":") if named else (str(index), "", line)
        if offset and offset != "-":
            found[key] = _offset(offset)
    return found


def files_needed(folder: Path, batch_id: int) -> list[str]:
    """The files, relative and in order, that a restart exactly behind `batch_id` needs, checksum files included.

    FolderDamaged if one of them is missing. Files newer than the batch are left out, so is state that no needed version builds on.
    """
    found = _listing(folder)
    offsets = source_offsets(folder, batch_id)
    query_id(folder)
    keep = _log_files(found, "offsets", batch_id) | _log_files(found, "commits", batch_id)
    ids = _state_ids(folder, batch_id)
    for directory, names in found.items():
        top = directory.split("/")[0]
        if top == "sources":
            keep |= _source_files(folder, directory, names, offsets)
        elif top == "state":
            keep |= _state_files(folder, directory, found, batch_id + 1, ids)
        elif top not in ("offsets", "commits"):
            keep |= {f"{directory}/{name}".lstrip("/") for name in names}
    return sorted(keep)


def _listing(folder: Path) -> dict[str, list[str]]:
    """Relative directory ("" for the top) → its files that are whole."""
    found = {}
    for place, _, names in os.walk(folder):
        relative = os.path.relpath(place, folder)
        kept = [name for name in names if root_name(name) is not None and name != "manifest.json"]
        found["" if relative == "." else relative] = kept
    return found


def _log_files(found: Mapping[str, list[str]], log: str, batch_id: int) -> set[str]:
    """Batch N and the one before: Spark reads both when it starts. The very first has none before it."""
    wanted = {str(batch_id), str(batch_id - 1)} if batch_id else {"0"}
    names = found.get(log, [])
    if missing := sorted(wanted - set(names)):
        raise FolderDamaged(f"{log}/{missing[0]} is missing")
    return {f"{log}/{name}" for name in names if root_name(name) in wanted}


def _source_files(folder: Path, directory: str, names: Iterable[str], offsets: Mapping[str, Any]) -> set[str]:
    """A file source's log up to the entry that the batch names; what other sources keep is kept as it is.

    Without an entry that it names, nothing of such a log: Spark would take the files in it for planned, wherever they lie.
    """
    offset = offsets.get(directory.removeprefix("sources").strip("/"))
    last = offset.get("logOffset") if isinstance(offset, dict) else None
    names = list(names)
    if not isinstance(last, int):
        left = {name for name in names if names_files(folder / directory / name)}
        return {f"{directory}/{name}" for name in names if root_name(name) not in left}
    entries = {match["batch"]: bool(match["compact"]) for name in names if (match := _LOG_ENTRY.fullmatch(name))}
    batches = {int(batch): compact for batch, compact in entries.items() if int(batch) <= last}
    compacted = sorted((batch for batch, compact in batches.items() if compact), reverse=True)
    base = compacted[0] if compacted else -1
    for batch in range(max(base, 0), last + 1):
        if batch not in batches:
            raise FolderDamaged(f"{directory}/{batch} is missing")
    # The one compacted before tells Spark how often it compacts.
    oldest = compacted[min(1, len(compacted) - 1)] if compacted else 0
    return {
        f"{directory}/{name}"
        for name in names
        if (match := _LOG_ENTRY.fullmatch(root_name(name) or "")) and oldest <= int(match["batch"]) <= last
    }


@dataclass
class _Store:
    """The versions of one state store: version → kind → file names."""

    directory: str
    versions: dict[int, dict[str, set[str]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))

    def base(self, version: int) -> int:
        """The version to build on: the newest snapshot up to `version`, 0 (empty) without one.

        Two ids of one version come from an attempt that died: then it is not known which one the snapshot is of, and all are kept.
        """
        newest = max((number for number, kinds in self.versions.items() if number <= version and _SNAPSHOTS & set(kinds)), default=0)
        unclear = any(len(self._ids(number)) > 1 for number in range(newest, version + 1))
        return 0 if unclear else newest

    def has_snapshot(self, version: int) -> bool:
        return bool(_SNAPSHOTS & set(self.versions.get(version, {})))

    def _ids(self, version: int) -> set[str]:
        names = {name for kind in self.versions.get(version, {}).values() for name in kind}
        return {str(match["id"]) for name in names if (match := _VERSIONED.fullmatch(name))}

    def check(self, version: int, ids: set[str] | None) -> None:
        newest = max((number for number in self.versions if number <= version and self.has_snapshot(number)), default=0)
        for number in range(newest + 1, version + 1):
            if not self.versions.get(number):
                raise FolderDamaged(f"{self.directory} lacks the state of version {number}")
        if version and not self.versions.get(version):
            raise FolderDamaged(f"{self.directory} lacks the state of version {version}")
        if ids is not None and not ids & self._ids(version):
            raise FolderDamaged(f"{self.directory} lacks the state that was committed as version {version}")


def _state_ids(folder: Path, batch_id: int) -> dict[str, set[str]] | None:
    """Operator → ids of the state the batch committed; None where the format has none."""
    name = f"commits/{batch_id}"
    lines = _text(folder, name).splitlines()
    if not lines or lines[0] not in ("v1", "v2", "v3"):
        raise FolderDamaged(f"{name} is not a commit log: it begins with {lines[0][:20] if lines else 'nothing'!r}")
    found = _json_of(folder / name, lines[1]) if len(lines) > 1 else {}
    by_operator = found.get("stateUniqueIds") if isinstance(found, dict) else None
    if not by_operator:
        return None
    return {operator: {one for stores in partitions for one in stores} for operator, partitions in by_operator.items()}


def _state_files(
    folder: Path, directory: str, found: Mapping[str, list[str]], version: int, ids: Mapping[str, set[str]] | None
) -> set[str]:
    """Files of one directory below `state`; those of `SSTs` are chosen with the store they belong to."""
    if directory.rsplit("/", 1)[-1] == "SSTs":
        return set()
    names = found[directory]
    store = _Store(directory)
    for name in names:
        if match := _VERSIONED.fullmatch(name):
            store.versions[int(match["version"])][match["kind"]].add(name)
    if not store.versions:
        return {f"{directory}/{name}" for name in names}
    parts = directory.split("/")
    store.check(version, ids.get(parts[1]) if ids else None)
    base = store.base(version)
    kept = set()
    for name in names:
        match = _VERSIONED.fullmatch(root_name(name) or "")
        if match is None or base <= int(match["version"]) <= version:
            kept.add(f"{directory}/{name}")
    archives = sorted(path for path in kept if _VERSIONED.fullmatch(path.rsplit("/", 1)[-1]) and path.endswith(".zip"))
    return kept | _table_files(folder, directory, archives, found.get(f"{directory}/SSTs", []))


def _table_files(folder: Path, directory: str, archives: Iterable[str], names: Iterable[str]) -> set[str]:
    """What the archives of snapshots name below `SSTs`, with their checksum files."""
    wanted: dict[str, int] = {}
    for archive in archives:
        wanted |= _tables_of(folder, archive)
    for name, size in wanted.items():
        path = folder / directory / "SSTs" / name
        try:
            actual = path.stat().st_size
        except FileNotFoundError:
            raise FolderDamaged(f"{directory}/SSTs/{name} is missing") from None
        if actual != size:
            raise FolderDamaged(f"{directory}/SSTs/{name} has {actual} bytes instead of {size}")
    return {f"{directory}/SSTs/{name}" for name in names if root_name(name) in wanted}


class _Bounded(io.RawIOBase):
    """A file of which no more than `most` bytes are read at once; None: as many as are asked for. ValueError beyond that."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.most: int | None = _LARGEST_DIRECTORY

    def read(self, size: int = -1, /) -> bytes:
        if self.most is not None and size > self.most:
            raise ValueError(f"it says that its directory has {size:,} bytes")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def seekable(self) -> bool:
        return True


def _tables_of(folder: Path, archive: str) -> dict[str, int]:
    try:
        with (folder / archive).open("rb") as file, zipfile.ZipFile(bounded := _Bounded(file)) as opened:
            bounded.most = None
            if sum(max(entry.file_size, entry.compress_size) for entry in opened.infolist()) > _MOST_UNPACKED:
                raise FolderDamaged(f"{archive} says that it holds more than a snapshot's lists")
            if broken := opened.testzip():
                raise FolderDamaged(f"{archive} is damaged: {broken} in it cannot be read")
            text = opened.read("metadata").decode().partition("\n")[2]
        entries = json.loads(text)["sstFiles"]
        return {str(entry["dfsSstFileName"]): int(entry["sizeBytes"]) for entry in entries}
    except FileNotFoundError:
        raise FolderDamaged(f"{archive} is missing") from None
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error, LookupError, ValueError, TypeError, RuntimeError) as error:
        raise FolderDamaged(f"{archive} cannot be read: {error}") from None


def _text(folder: Path, name: str) -> str:
    try:
        return (folder / name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FolderDamaged(f"{name} is missing") from None
    except UnicodeDecodeError:
        raise FolderDamaged(f"{name} is not text") from None


def _json_of(path: Path, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise FolderDamaged(f"{path.parent.name}/{path.name} is not whole: its JSON cannot be read") from None


def _offset(text: str) -> Any:
    """An offset as data where it is JSON (a Python source's may be JSON within JSON), else its text."""
    try:
        value = json.loads(text, object_pairs_hook=unambiguous)
        return json.loads(value) if isinstance(value, str) else value
    except ValueError:
        return text
