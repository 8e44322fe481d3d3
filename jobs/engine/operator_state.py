"""What the stateful operators of a query's folder remember: which they are, and their rows, by Spark's own reader of state.

Nothing of the folder is changed, and no query that runs is waited for.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, StructField, StructType

from jobs.engine.plan import Settings
from jobs.engine.progress import last_committed
from jobs.engine.session import execution_conf
from jobs.engine.user_code import time_limit
from jobs.nodes.columns import quoted

#: Name, type and column.
Cell = tuple[str, str, Column]
#: Of a page: keys may hold long lists.
_MOST_CHARACTERS = 16 << 20
_EXACT = ("bigint", "decimal")
#: Types that JSON has in another form than a cast to text.
_SHOWN_OTHERWISE = ("timestamp", "binary", "array", "map")
#: The one part of an operator that has no parts.
WHOLE = "default"
TIMERS = "timers"
#: What stands before the name of a variable, which may be called like any of the others.
VARIABLE = "state."
_SIDES = ("left", "right")
_MEMORY = "HDFSBackedStateStoreProvider"


class StateRefused(Exception):
    """What was asked for is not there, or cannot be read; the text says why."""


@dataclass(frozen=True)
class StateOperator:
    """`name` as Spark calls it. `parts`: sides of a join, variables of a person's own state, else one."""

    operator: int
    name: str
    parts: tuple[str, ...]


def state_operators(spark: SparkSession, folder: Path, *, seconds: float = 60) -> list[StateOperator]:
    """Those of a query's folder in the order of their numbers; none where it keeps no state. StateRefused as for `state_rows`."""
    with _reading(spark, folder, seconds) as session:
        return _operators(session, folder)


def state_rows(
    spark: SparkSession, folder: Path, *, operator: int, part: str, search: str = "", offset: int = 0, rows: int = 100, seconds: float = 60
) -> dict[str, Any]:
    """{"columns": [{"name", "type"}], "rows": [list], "more": bool}: `rows` of them behind the first `offset`, keys before values.

    Fewer, with `more`, where they hold very much. Whole numbers of 64 bits and decimals are text, as they would not come through JSON.
    `search`: only those in whose key this text stands. StateRefused where there is no such state, where it cannot be read, or not
    within `seconds`.
    """
    with _reading(spark, folder, seconds) as session:
        found = next((one for one in _operators(session, folder) if one.operator == operator), None)
        if found is None or part not in found.parts:
            raise StateRefused(f"there is no state {part[:100]} of operator {operator} in this checkpoint")
        return _page(_frame(session, folder, found, part), search, offset, rows)


@contextmanager
def _reading(spark: SparkSession, folder: Path, seconds: float) -> Iterator[SparkSession]:
    session = _session(spark, folder)
    group = f"state-{uuid4()}"
    session.sparkContext.setJobGroup(group, f"state of {folder.name}", interruptOnCancel=True)
    try:
        with time_limit(session, group, seconds) as limit:
            try:
                yield session
            except StateRefused:
                raise
            except Exception as error:  # a failed task comes as it was raised in the JVM
                told = str(error).strip().splitlines()[0] if isinstance(error, PySparkException) else "a file of it is missing or damaged"
                words = f"it takes longer than {seconds:.0f} s: search for a key" if limit.passed else told
                raise StateRefused(f"the state cannot be read: {words}") from error
    finally:
        for name in ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel"):
            session.sparkContext.setLocalProperty(name, None)  # type: ignore[arg-type]


def _operators(session: SparkSession, folder: Path) -> list[StateOperator]:
    if not (folder / "state").is_dir():
        return []
    stores: dict[tuple[int, str], list[Mapping[str, Any]]] = {}
    for row in session.read.format("state-metadata").load(str(folder)).collect():
        stores.setdefault((row["operatorId"], row["operatorName"]), []).append(row.asDict())
    return [StateOperator(number, name, _parts(rows)) for (number, name), rows in sorted(stores.items())]


def _session(spark: SparkSession, folder: Path) -> SparkSession:
    """Set up for the kind of store that the folder's newest batch names."""
    newest = folder / "offsets" / str(last_committed(folder))
    in_memory = newest.is_file() and _MEMORY in newest.read_text(encoding="utf-8")
    session = spark.newSession()
    for key, value in execution_conf(Settings(state_store="memory" if in_memory else "rocksdb")).items():
        session.conf.set(key, value)
    _ = session.streams  # makes the coordinator of state stores, which a reader of RocksDB looks for although it has no need of it
    return session


def _parts(stores: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    if any(str(store["stateStoreName"]).startswith("left-") for store in stores):
        return _SIDES
    properties = json.loads(next((store["operatorProperties"] for store in stores if store["operatorProperties"]), None) or "{}")
    variables = tuple(str(variable["stateName"]) for variable in properties.get("stateVariables", ()))
    own = tuple(f"{VARIABLE}{name}" for name in variables if not name.startswith("$"))
    timers = (TIMERS,) if str(properties.get("timeMode", "NoTime")) not in ("NoTime", "None", "") else ()
    return (*own, *timers) or (WHOLE,)


def _frame(session: SparkSession, folder: Path, operator: StateOperator, part: str) -> DataFrame:
    reader = session.read.format("statestore").option("path", str(folder)).option("operatorId", str(operator.operator))
    if part in _SIDES:
        reader = reader.option("joinSide", part)
    elif part == TIMERS:
        reader = reader.option("readRegisteredTimers", "true")
    elif part.startswith(VARIABLE):
        reader = reader.option("stateVarName", part.removeprefix(VARIABLE))
    return reader.load()


def _page(frame: DataFrame, search: str, offset: int, rows: int) -> dict[str, Any]:
    cells = list(_cells(frame.schema.fields))
    if search:
        keys = [text for name, kind, cell in cells if name == "key" or name.startswith("key.") for text in _texts(kind, cell)]
        frame = frame.filter(F.contains(F.concat_ws("\n", *keys), F.lit(search)))
    sent = (cell.cast("string") if kind.startswith(_EXACT) else cell for _, kind, cell in cells)
    record = F.to_json(F.struct(*(cell.alias(str(number)) for number, cell in enumerate(sent))), {"ignoreNullFields": "false"})
    values: list[list[Any]] = []
    more, size = False, 0
    for (text,) in frame.offset(offset).limit(rows + 1).select(record).toLocalIterator():
        size += len(text)
        if more := len(values) == rows or (size > _MOST_CHARACTERS and bool(values)):
            break
        values.append(list(json.loads(text).values()))
    return {"columns": [{"name": name, "type": kind} for name, kind, _ in cells], "rows": values, "more": more}


def _texts(kind: str, cell: Column) -> Iterator[Column]:
    """What is searched for in a cell: as Spark writes it, and as it is shown."""
    yield cell.cast("string")
    if kind.startswith(_SHOWN_OTHERWISE):
        yield F.get_json_object(F.to_json(F.struct(cell.alias("cell"))), "$.cell")


def _cells(fields: Sequence[StructField]) -> Iterator[Cell]:
    """What stands in a row: structs are taken apart, the number of the partition is left out."""
    for field in fields:
        if field.name != "partition_id":
            yield from _parts_of(field.name, field.dataType, F.col(quoted(field.name)))


def _parts_of(name: str, kind: DataType, taken: Column) -> Iterator[Cell]:
    if not isinstance(kind, StructType):
        yield name, kind.simpleString(), taken
        return
    names = _told_apart(kind.names)
    if names != kind.names:  # averages keep a count beside a count
        taken = taken.cast(StructType([StructField(told, one.dataType) for told, one in zip(names, kind.fields, strict=True)]))
    for told, one in zip(names, kind.fields, strict=True):
        yield from _parts_of(f"{name}.{told}", one.dataType, taken.getField(told))


def _told_apart(names: Sequence[str]) -> list[str]:
    seen: Counter[str] = Counter()
    told = []
    for name in names:
        seen[name.lower()] += 1
        told.append(name if seen[name.lower()] == 1 else f"{name}_{seen[name.lower()]}")
    return told
