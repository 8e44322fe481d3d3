"""What Spark says of a source's file that it cannot read on, in words for the user. Empty where a text is about something else."""

from __future__ import annotations

import re
from urllib.parse import unquote

from jobs.nodes.going_on import GOES_ON, START_AGAIN, START_AND_GO_ON

_OTHER_TYPE = re.compile(
    r"reading file (\S+)\. Data type mismatches when reading Parquet column \[([^\]]+)\]\. "
    r"Expected Spark type (.+?), actual Parquet type (\w+)"
)
#: Its path may hold blanks, and be written as an address or as it is. The second is said while columns are taken from files of Avro.
_UNREAD = re.compile(r"(?:Encountered error while reading file|SparkException: Could not read file:) ([^\n]+?)(?:\.\s|\n|$)")
_GONE = re.compile(r"(?:File (?:does not exist|\S+ does not exist)|FileNotFoundException|PATH_NOT_FOUND)[^\n]*")


def about_a_header(text: str) -> str:
    """A CSV file whose first line names other columns than the source lists."""
    match = re.search(r"CSV header does not conform to the schema\.\s+Header: ([^\n]*)\s+Schema: ([^\n]*)", text)
    counted = re.search(r"Number of column in CSV header is not equal[^\n]*\s+Header length: (\d+), schema size: (\d+)", text)
    if not (match or counted):
        return ""
    found = re.search(r"CSV file: (\S+)", text)
    told = f"the header of {path_in(found[1]) if found else 'a CSV file'}"
    if match:
        names = f"names the columns {match[1].strip()}, where {match[2].strip()} are listed"
        return f"{told} {names}; list the columns in the order of the files, or correct the file"
    assert counted is not None
    return f"{told} has {counted[1]} columns, where {counted[2]} are listed; list the columns of the files, or correct the file"


def unopened_file(text: str) -> tuple[str, str] | tuple[()]:
    """A path that Java does not open although it may be there, and why."""
    if match := re.search(r"(/[^\n]*) \(Too many open files", text):
        return match[1], f"too many files are open at once; let the user that runs Spark open more (ulimit -n){GOES_ON}"
    if match := re.search(r"(/[^\n]*) \(Permission denied\)", text):
        return match[1], f"the file {match[1]} may not be opened; give the user that runs Spark the right to{GOES_ON}"
    return ()


def is_of_spark(path: str) -> bool:
    """Whether it lies in one of the folders that Spark makes for a process."""
    return re.search(r"/(?:blockmgr|spark|pyspark)-[0-9a-f]{8}-[0-9a-f]{4}-", path) is not None


def missing_file(text: str) -> str:
    """The path that is gone; "" where the text tells of none."""
    match = _GONE.search(text)
    return (path_in(match[0]) or path_in(text)) if match else ""


def about_a_file(text: str) -> str:
    """A file that is gone or cannot be read."""
    if match := _GONE.search(text):
        path = missing_file(text)
        return f"the file or folder {path} is no longer there; put it back{START_AND_GO_ON}" if path else f"a file is missing: {match[0]}"
    return _unsound(text)


def unreadable_file(text: str) -> str:
    """A file that holds something else than its source takes, or nothing sound."""
    return about_a_header(text) or _unsound(text)


def _unsound(text: str) -> str:
    return _other_type(text) or _nanoseconds(text) or _twin_columns(text) or _damaged_file(text)


def _other_type(text: str) -> str:
    if (match := _OTHER_TYPE.search(text)) is None:
        return ""
    return (
        f"column {match[2]} of the file {path_in(match[1])} holds Parquet's {match[4]}, where {match[3]} is listed; "
        "list what the files hold, or put another file in its place"
    )


def _nanoseconds(text: str) -> str:
    """As pandas writes its times."""
    if not re.search(r"Illegal Parquet type: INT64 \(TIMESTAMP\(NANOS", text):
        return ""
    return "the Parquet files hold a time in nanoseconds, which cannot be read; write it in microseconds, or list the columns without it"


def _twin_columns(text: str) -> str:
    file = re.search(r"Encountered error while reading file (\S+)", text)
    twins = re.search(r"Found duplicate field\(s\) [^\n]*?\[([^\]]+)\] in case-insensitive mode", text)
    if file is None or twins is None:
        return ""
    path, names = path_in(file[1]), twins[1].replace(", ", " and ")
    return (
        f"the file {path} holds the columns {names}, which differ in upper and lower case only and cannot be told apart; "
        "write it with another name for one of them"
    )


def _damaged_file(text: str) -> str:
    if (match := _UNREAD.search(text)) is None:
        return ""
    address = match[1]
    path = unquote(f"/{address[5:].lstrip('/')}") if address.startswith("file:") else path_in(address)
    return f"the file {path} cannot be read: it is damaged, cut off or of another format; put a sound one in its place{START_AGAIN}"


def path_in(text: str) -> str:
    """The first; of an address as people write it, with its spaces."""
    match = re.search(r"(file:)?(/[^\s,;\"')]+)", text)
    if match is None:
        return ""
    path = "/" + match[2].lstrip("/").rstrip(".:")
    return unquote(path) if match[1] else path
