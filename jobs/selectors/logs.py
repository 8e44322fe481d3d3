"""The log of an execution: JSON lines that its driver wrote, one file an attempt, read in bounded pieces."""

import json
import re
from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from jobs.selectors.shapes.execution import LogLine, LogPage

MAX_LINES = 2000
#: What one answer reads at most, however few of its lines match.
MAX_BYTES = 4 * 1024 * 1024
MAX_MESSAGE = 20_000
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")
_FILE = re.compile(r"attempt-(\d{1,9})\.jsonl")
_EXECUTION_ID = re.compile(r"[0-9a-f-]{36}")


def log_folder(execution_id: str) -> Path:
    """Where the driver keeps the log files of one execution."""
    if not _EXECUTION_ID.fullmatch(execution_id):
        raise ValueError("an execution id is a UUID")
    return Path(settings.LOG_DIR) / execution_id


def log_attempts(execution_id: str) -> list[int]:
    """The attempts that left a log, oldest first."""
    folder = log_folder(execution_id)
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return sorted(int(found.group(1)) for name in names if (found := _FILE.fullmatch(name)))


def log_page(
    execution_id: str,
    *,
    attempt: int | None = None,
    after: int = 0,
    before: int | None = None,
    level: str = "",
    node_id: str = "",
    search: str = "",
    limit: int = 500,
) -> LogPage:
    """Up to `limit` matching lines behind byte `after`, oldest first; a negative `after` counts from the end.

    A line is told once it is complete: `next_offset` stands at the beginning of the first one that was not told. With `before`
    they are the last ones that end there or earlier, and `next_offset` is the `before` of what comes ahead of them.
    """
    attempts = log_attempts(execution_id)
    chosen = attempt if attempt is not None else (attempts[-1] if attempts else None)
    if chosen not in attempts:
        return LogPage(results=[], next_offset=max(after, 0), more=False, attempt=chosen, attempts=attempts)
    path = log_folder(execution_id) / f"attempt-{chosen}.jsonl"
    wanted = _Wanted(level, node_id, search)
    if before is not None:
        earlier, first = _earlier(path, before, wanted, limit)
        return LogPage(results=earlier, next_offset=first, more=first > 0, attempt=chosen, attempts=attempts)
    with path.open("rb") as file:
        size = file.seek(0, 2)
        offset = _start(file, after, size)
        file.seek(offset)
        block = file.read(MAX_BYTES)
        overlong = _overlong(file, block)
    results: list[LogLine] = []
    position = 0
    while len(results) < limit and (end := block.find(b"\n", position)) >= 0:
        line = _line(block[position:end], offset + position)
        position = end + 1
        if wanted.matches(line):
            results.append(line)
    following = offset + (position or overlong)
    return LogPage(results=results, next_offset=following, more=offset < following < size, attempt=chosen, attempts=attempts)


def _earlier(path: Path, before: int, wanted: "_Wanted", limit: int) -> tuple[list[LogLine], int]:
    """The last `limit` matching lines that end at byte `before` or earlier, and where the first line that was looked at begins."""
    with path.open("rb") as file:
        end = before if before <= file.seek(0, 2) else 0  # a file that was begun anew holds other lines there
        start = max(0, end - MAX_BYTES)
        file.seek(start)
        block = file.read(end - start)
    first = block.find(b"\n") + 1 if start else 0  # what stands ahead of it is a piece of a line, or one that is told next
    position = block.rfind(b"\n") + 1
    found: list[LogLine] = []
    if first in (0, len(block)) and start:
        return found, start  # a line that is longer than the block cannot be shown, and must not stop the reading
    while position > first and len(found) < limit:
        begin = block.rfind(b"\n", 0, position - 1) + 1
        line = _line(block[begin : position - 1], start + begin)
        if wanted.matches(line):
            found.append(line)
        position = begin
    return found[::-1], start + position


def _overlong(file: Any, block: bytes) -> int:
    """How long the line is that `block` is only a part of: it cannot be shown, and must not stop the reading. 0 until it is whole."""
    if len(block) < MAX_BYTES or b"\n" in block:
        return 0
    length = len(block)
    while part := file.readline(MAX_BYTES):
        length += len(part)
        if part.endswith(b"\n"):
            return length
    return 0


def _start(file: Any, after: int, size: int) -> int:
    """The byte to read from: `after`, or the first line that begins within the last -`after` bytes.

    A file in which no line begins at `after` was begun anew when it grew too large: it is read from its beginning.
    """
    if after >= 0:
        return after if _begins_line(file, after, size) else 0
    start = max(0, size + after)
    if start == 0:
        return 0
    file.seek(start - 1)
    return start - 1 + len(file.readline(MAX_BYTES))


def _begins_line(file: Any, offset: int, size: int) -> bool:
    if offset == 0 or offset > size:
        return False
    file.seek(offset - 1)
    return bool(file.read(1) == b"\n")


class _Wanted:
    def __init__(self, level: str, node_id: str, search: str) -> None:
        self._least = LEVELS.index(level.upper()) if level.upper() in LEVELS else 0
        self._node_id = node_id
        self._search = search.lower()

    def matches(self, line: LogLine) -> bool:
        known = LEVELS.index(line.level) if line.level in LEVELS else len(LEVELS)
        return known >= self._least and self._node_id in ("", line.node_id) and self._search in line.message.lower()


def _line(raw: bytes, offset: int) -> LogLine:
    """A line that is no JSON (a JVM's last words) is shown as it is."""
    text = raw.decode("utf-8", "replace")
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        return LogLine(offset=offset, time=None, level="INFO", node_id="", message=text[:MAX_MESSAGE])
    level = str(data.get("level") or "INFO").upper()
    level = {"WARN": "WARNING", "CRITICAL": "ERROR", "FATAL": "ERROR", "TRACE": "DEBUG"}.get(level, level)
    message = str(data.get("message") or "")[:MAX_MESSAGE]
    node_id = str(data.get("node_id") or "")
    return LogLine(offset=offset, time=_time(data.get("time")), level=level, node_id=node_id, message=message)


def _time(value: Any) -> datetime | None:
    try:
        return datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
