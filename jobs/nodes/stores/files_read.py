"""Which files Spark's file source has taken up: read from the log it keeps beside its offsets, and that each checkpoint has a copy of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True)
class TakenUp:
    """`number` is that of the log's entry, which offsets name as `logOffset`; `time` the file's last change, in ms since 1970."""

    number: int
    time: int


class FilesRead:
    """The logs of one source in one generation: a source that is read along several ways has one for each.

    A file is in a log from when a batch was planned with it.
    """

    def __init__(self, live: Path, node_id: str) -> None:
        self._live = live
        self._node_id = node_id
        self._known: dict[Path, tuple[int, dict[str, TakenUp]]] = {}

    def logs(self) -> list[Mapping[str, TakenUp]]:
        """As they stand now; only what is new is read again."""
        folders = [*self._live.glob(f"*/sources/{self._node_id}"), *self._live.glob(f"*/sources/{self._node_id}__*")]
        return [self._log(folder) for folder in sorted(folders)]

    def everywhere(self, upto: int | None = None) -> set[str]:
        """Paths that every log holds, below or at entry `upto`."""
        logs = self.logs()
        if not logs:
            return set()
        return set.intersection(*({path for path, taken in log.items() if upto is None or taken.number <= upto} for log in logs))

    def time_of(self, path: str) -> int:
        """When the file that was read was last changed, in ms since 1970; -1 for one that was not."""
        return max((log[path].time for log in self.logs() if path in log), default=-1)

    def _log(self, folder: Path) -> Mapping[str, TakenUp]:
        newest, found = self._known.get(folder, (-1, {}))
        entries = sorted((int(file.name.split(".")[0]), file) for file in folder.iterdir() if file.name.split(".")[0].isdigit())
        compact = max((number for number, file in entries if file.suffix == ".compact"), default=-1)
        for number, file in entries:
            if number > newest and number >= compact:
                found.update(_entries(file))
                newest = number
        self._known[folder] = newest, found
        return found


def _entries(file: Path) -> dict[str, TakenUp]:
    """A first line with the version, then one JSON object a line."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()[1:]
    except FileNotFoundError:  # Spark has just put it into the next compact one
        return {}
    found = (json.loads(line) for line in lines if line.startswith("{"))
    return {unquote(urlsplit(one["path"]).path): TakenUp(int(one["batchId"]), int(one["timestamp"])) for one in found}


def read_by_all(checkpoints: Sequence[Path], node_id: str) -> set[str]:
    """Paths that every one of `checkpoints` has read; none where there is no checkpoint, or one cannot tell."""
    found = [FilesRead(folder, node_id).everywhere() for folder in checkpoints]
    return set.intersection(*found) if found else set()
