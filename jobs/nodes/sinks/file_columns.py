"""Which columns a file can hold: each format has its own limits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from jobs.nodes.base import NodeError
from jobs.nodes.sinks.file_folders import time_folder_names

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from jobs.nodes.sinks.file_config import FileSinkConfig

_TIMES = ("timestamp", "timestamp_ntz", "date")
_NESTED = ("array", "map", "struct", "variant")
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def columns_check(schema: StructType, config: FileSinkConfig) -> None:
    """NodeError where rows of `schema` cannot be written as `config` says."""
    names = {name.lower() for name in schema.names}
    missing = [name for name in config.partition_by if name.lower() not in names]
    if missing:
        raise _no_such_column(missing[0], schema, "partition_by")
    folders = {name.lower() for name in config.partition_by}
    if schema.names and folders >= names:
        raise _refused("every column is made into folders, so nothing is left to write; leave one out", "partition_by")
    _check_time(schema, config)
    if config.format == "text":
        text_column(schema, config)
    nested = [field.name for field in schema if field.dataType.typeName() in _NESTED]
    if config.format == "csv" and nested:
        raise _refused(f"CSV cannot hold the nested column {nested[0]}; turn it into text with to_json, or write JSON", "format")
    if config.format == "avro":
        _check_avro_names([field.jsonValue() for field in schema if field.name.lower() not in folders])


def text_column(schema: StructType, config: FileSinkConfig) -> str:
    """The column that becomes the lines of a text file: the chosen one, else the only one beside those that make folders."""
    chosen = config.text_column
    folders = {name.lower() for name in (*config.partition_by, config.time_column)}
    left = {field.name.lower(): field for field in schema if field.name.lower() not in folders}
    if not chosen and len(left) != 1:
        raise _refused(f"text files hold one column: choose one of {', '.join(field.name for field in left.values())}", "text_column")
    field = left.get(chosen.lower()) if chosen else next(iter(left.values()))
    if field is None:
        had = ", ".join(one.name for one in left.values())
        raise _refused(f"there is no column {chosen} to write as text; the columns are {had}", "text_column")
    if field.dataType.typeName() != "string":
        raise _refused(f"the column {field.name} is no text; turn it into text first, or choose another", "text_column")
    return str(field.name)


def _check_time(schema: StructType, config: FileSinkConfig) -> None:
    if config.time_folders == "none":
        return
    types = {field.name.lower(): field.dataType.typeName() for field in schema}
    found = types.get(config.time_column.lower())
    if found is None:
        raise _refused(
            f"there is no column {config.time_column} to make folders from; the columns are {', '.join(schema.names)}", "time_column"
        )
    if found not in _TIMES:
        raise _refused(f"the column {config.time_column} is no time or date, but {found}; turn it into one first", "time_column")
    if found == "date" and config.time_folders == "hour":
        raise _refused(f"the column {config.time_column} is a date and has no hour; choose day", "time_folders")
    taken = [name for name in time_folder_names(config.time_folders) if name in types]
    if taken:
        raise _refused(f"folders {taken[0]}=… would stand beside a column of that name; select it under another name", "time_folders")


def _check_avro_names(fields: Sequence[dict[str, Any]]) -> None:
    for name in _names(fields):
        if not _AVRO_NAME.fullmatch(name):
            raise _refused(f'Avro cannot hold a column called "{name}": a name is letters, digits and _; select it under another', "format")


def _names(part: Any) -> Iterator[str]:
    """Names of columns, and of fields within them, from a schema as JSON."""
    if isinstance(part, dict):
        if "nullable" in part:
            yield part["name"]
        for inner in part.values():
            yield from _names(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from _names(inner)


def _no_such_column(name: str, schema: StructType, field: str) -> NodeError:
    return _refused(f"there is no column {name} to make folders from; the columns are {', '.join(schema.names)}", field)


def _refused(why: str, field: str) -> NodeError:
    return NodeError(f"writing files: {why}", permanent=True, kind="user", field=field)
