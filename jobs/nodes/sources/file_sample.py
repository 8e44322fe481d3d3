"""The first lines of some local files of `source.file`, and what in them would be read wrong without a word."""

from __future__ import annotations

import bz2
import codecs
import csv
import gzip
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

from jobs.nodes.base import NodeError
from jobs.nodes.csv_options import delimiter_sign
from jobs.nodes.file_walk import files_below, is_hidden, size_of
from jobs.nodes.sources.file_config import FileConfig

#: The formats whose files hold characters of an encoding.
_IN_CHARACTERS = frozenset({"csv", "json", "text", "xml"})
_SAMPLED_FILES = 20
_SAMPLED_BYTES = 50_000
#: Most lines of a value whose end is looked for.
_MOST_LINES = 200


def sample_files(path: Path, config: FileConfig) -> list[Path]:
    """Those that are not empty."""
    if path.is_file():
        return [path]
    pattern = "*" if config.is_copied else config.pattern or "*"
    named = (file for file in sorted(files_below(path)) if fnmatchcase(file.name, pattern) and not is_hidden(file.relative_to(path)))
    return [file for file in islice(named, _SAMPLED_FILES) if size_of(file)]


def first_lines(file: Path, encoding: str) -> list[str]:
    """The last one may be cut off. None of a file that cannot be read: that is told where it is read."""
    content = _first_bytes(file)
    return content.decode(encoding, "replace").split("\n") if content else []


def _first_bytes(file: Path) -> bytes:
    """None of a file that cannot be read, nor of one of .zst, which Python cannot open."""
    if file.suffix == ".zst":
        return b""
    kinds: Mapping[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open}
    try:
        with kinds.get(file.suffix, open)(file, "rb") as content:
            return bytes(content.read(_SAMPLED_BYTES))
    except (OSError, EOFError, zlib.error):
        return b""


def file_in_another_encoding(path: Path, config: FileConfig) -> str:
    """The name of the first file of a sample with bytes that are no characters in the encoding that was chosen; "" if there is none."""
    if config.format not in _IN_CHARACTERS:
        return ""
    return next((file.name for file in sample_files(path, config) if not _fits(_first_bytes(file), config.encoding)), "")


def _fits(content: bytes, encoding: str) -> bool:
    if encoding == "UTF-16" and not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "UTF-16BE"  # which Java takes it for
    wide = encoding.startswith("UTF-16")
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(content, final=len(content) < _SAMPLED_BYTES)
    except UnicodeDecodeError:
        return False
    # NUL between letters is half of a wider character; and where two bytes are one, a comma, a quote or a bracket is among the first.
    return "\x00" not in text and (not text or not wide or any(sign.isascii() for sign in text[:1000]))


def values_of(line: str, config: FileConfig) -> list[str]:
    """The values of a line of CSV, which a carriage return may end too."""
    line, delimiter = line.partition("\r")[0], delimiter_sign(config.delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter)) if len(delimiter) == 1 else line.split(delimiter)
    except csv.Error:  # a value longer than Python takes
        return line.split(delimiter)


def require_a_row_a_line(path: Path, config: FileConfig) -> None:
    """NodeError where a sample's line holds more than one row, or less than one, and what Spark makes of it is no misfit to it."""
    faults: Mapping[str, Callable[[Sequence[str], FileConfig], tuple[int, str] | None]] = {"json": _second_object, "csv": _value_over_lines}
    if config.format not in faults:
        return
    for file in sample_files(path, config):
        lines = first_lines(file, config.encoding)
        if fault := faults[config.format](lines, config):
            number, words = fault
            raise NodeError(
                f'reading files: line {number} of "{file.name}" {words}',
                permanent=True,
                kind="user",
                field="format" if config.format == "json" else "multi_line",
            )


def _second_object(lines: Sequence[str], config: FileConfig) -> tuple[int, str] | None:
    """Of files that were put together without line breaks Spark reads the first object of a line, and leaves the others out.
    A comma behind an object, as in a list, costs no row."""
    decoder = json.JSONDecoder()
    for number, line in enumerate(map(str.strip, lines), 1):
        try:
            value, end = decoder.raw_decode(line)
        except ValueError:  # no JSON, or cut off here: a row that is rejected
            continue
        if isinstance(value, dict) and line[end:].lstrip(" \t,").startswith(("{", "[")):
            return number, "holds more than one JSON object, and only the first of a line is read; write each on a line of its own"
    return None


def _value_over_lines(lines: Sequence[str], config: FileConfig) -> tuple[int, str] | None:
    """Line by line the parts of a quoted value would be values of several rows, of which some may fit the columns."""
    if config.is_whole or len(delimiter_sign(config.delimiter)) != 1 or not lines:
        return None
    width = len(values_of(lines[0], config))
    for number, line in enumerate(lines, 1):
        if line.count('"') % 2 and _record_over_lines(lines[number - 1 : number - 1 + _MOST_LINES], config) == width:
            return number, 'begins a quoted value that ends on a later line, but each line is read as a row; turn on "Multi line"'
    return None


def _record_over_lines(lines: Sequence[str], config: FileConfig) -> int:
    """How many values the row has that begins with the first line and ends on a later one; 0 if none does."""
    rows = csv.reader((f"{line}\n" for line in lines), delimiter=delimiter_sign(config.delimiter), strict=True)
    try:
        values = next(rows)
    except csv.Error:  # the quote is never closed, or more stands behind it
        return 0
    return len(values) if rows.line_num > 1 else 0
