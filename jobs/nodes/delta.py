"""Delta tables in folders: what stands in a table's log, and what Delta says when it cannot go on, in words."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from jobs.nodes.base import NodeError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

LOG_FOLDER = "_delta_log"
_INTERNALS = "org.apache.spark.sql.delta"
_MISSING_JARS = "Spark was started without the jars of Delta Lake: start it by `make run`, which fetches them"
#: The end of an address that a file action may have instead of a path below its table.
_ELSEWHERE = r"^(/|[A-Za-z][A-Za-z0-9+.-]*:|(.*/)?\.\.(/|$))"


@dataclass(frozen=True)
class DeltaTable:
    """A table's newest version as it was when it was opened. `acting`: "reading delta" or "writing delta", for errors."""

    spark: SparkSession
    folder: Path
    log: Any
    snapshot: Any

    @property
    def version(self) -> int:
        return int(self.snapshot.version())

    @property
    def table_id(self) -> str:
        return str(self.snapshot.metadata().id())

    @property
    def schema(self) -> StructType:
        from pyspark.sql.types import StructType

        return StructType.fromJson(json.loads(self.snapshot.schema().json()))

    @property
    def partition_columns(self) -> list[str]:
        names = self.snapshot.metadata().partitionColumns()
        return [str(names.apply(index)) for index in range(names.size())]

    def files_check(self) -> None:
        """NodeError where a file of the table stands outside of its folder, as those of a shallow clone do: it may be anyone's."""
        from pyspark.sql import DataFrame

        files = DataFrame(self.snapshot.allFiles().toDF(), self.spark)
        found = files.where(files["path"].rlike(_ELSEWHERE)).select("path").take(1)
        if found:
            why = f'the table has a file outside of its folder, "{found[0]["path"]}", as a shallow clone does; copy the table whole'
            raise NodeError(f'the Delta table "{self.folder}": {why}', permanent=True, kind="user", field="path")

    def version_check(self, version: int) -> None:
        """NodeError on `version` where the table has no such version, or can no longer show it."""
        self._asked(lambda: self.log.history().checkVersionExists(version, _none(self.spark), True, False), "version")

    def version_at(self, time: str) -> int:
        """The version that was the newest one at `time` (ISO 8601, UTC unless it says otherwise); NodeError if there was none yet."""
        jvm: Any = self.spark._jvm
        moment = jvm.java.sql.Timestamp(round(moment_of(time).timestamp() * 1000))
        commit = self._asked(lambda: self.log.history().getActiveCommitAtTime(moment, _none(self.spark), True, True, False), "time")
        return int(commit.version())

    def _asked(self, question: Any, field: str) -> Any:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException

        try:
            return question()
        except (Py4JJavaError, PySparkException) as error:
            words = delta_failure(str(error), f'reading delta "{self.folder}"')
            if words is None:
                raise
            raise NodeError(words.message, permanent=True, kind="user", field=field) from error


def is_delta(folder: Path) -> bool:
    return (folder / LOG_FOLDER).is_dir()


def delta_open(spark: SparkSession, folder: Path) -> DeltaTable:
    """The table in `folder`, which has to be one. Spark reads its log where it is long."""
    log = _delta_log(spark).forTable(_java(spark), str(folder))
    none = _none(spark)
    return DeltaTable(spark, folder, log, log.update(False, none, none))


def _delta_log(spark: SparkSession) -> Any:
    from py4j.java_gateway import JavaClass

    jvm: Any = spark._jvm
    found = jvm.org.apache.spark.sql.delta.DeltaLog
    if not isinstance(found, JavaClass):
        raise NodeError(_MISSING_JARS, permanent=True, kind="system")
    return found


def delta_object(spark: SparkSession, name: str) -> Any:
    """The Scala object `name` below Delta's own package."""
    jvm: Any = spark._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    return loader.loadClass(f"{_INTERNALS}.{name}$").getField("MODULE$").get(None)


def _java(spark: SparkSession) -> Any:
    session: Any = spark
    return session._jsparkSession


def _none(spark: SparkSession) -> Any:
    jvm: Any = spark._jvm
    return jvm.scala.Option.empty()


def moment_of(time: str) -> datetime:
    """The moment that ISO 8601 tells, in UTC unless it says otherwise."""
    read = datetime.fromisoformat(time)
    return read if read.tzinfo else read.replace(tzinfo=UTC)


Kind = Literal["user", "external"]
#: Delta's error condition → permanent, kind, field, what to say.
_WORDS: tuple[tuple[str, bool, Kind, str, str], ...] = (
    (
        "DELTA_SOURCE_TABLE_IGNORE_CHANGES|DELTA_SOURCE_IGNORE_DELETE",
        True,
        "user",
        "on_change",
        (
            "rows that were read before have been updated, deleted or overwritten (version {version}): choose under “on change” to skip "
            "such versions or to read rewritten files again, then start again: it goes on where it was"
        ),
    ),
    (
        "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE|DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS|CANNOT_CONTINUE_PROCESSING_POST_SCHEMA",
        True,
        "user",
        "path",
        "a column of the table was renamed, dropped or changed in type, so reading cannot go on; start from the beginning",
    ),
    (
        "DELTA_SCHEMA_CHANGED|DELTA_STREAMING_SCHEMA_MISMATCH|assertion failed: Invalid batch: ",
        False,
        "external",
        "path",
        "the columns of the table changed; the next attempt reads it with the new ones",
    ),
    (
        "DIFFERENT_DELTA_TABLE_READ",
        True,
        "user",
        "path",
        "another table stands in the folder than the one this job has read; put that back, or start from the beginning",
    ),
    (
        "DELTA_LOG_FILE_NOT_FOUND|DELTA_MISSING_FILES_UNEXPECTED_VERSION|DELTA_VERSIONS_NOT_CONTIGUOUS|TRAILING_COMMIT_MISSING",
        True,
        "user",
        "path",
        (
            "versions that were not read yet are gone from the table's log: start from the beginning, and keep the log for longer "
            "(delta.logRetentionDuration) than the job may stand still"
        ),
    ),
    (
        "DELTA_FILE_NOT_FOUND|FAILED_READ_FILE.FILE_NOT_EXIST[\\s\\S]*[Dd]elta",
        True,
        "external",
        "path",
        (
            "files that were not read yet are gone, as VACUUM removes them: start from the beginning, and let VACUUM keep them for longer "
            "(delta.deletedFileRetentionDuration) than the job may stand still"
        ),
    ),
    ("DELTA_VERSION_NOT_FOUND", True, "user", "version", "the table has no such version, it has {available}; choose one of these"),
    (
        "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION|DELTA_NO_RECREATABLE_HISTORY|DELTA_NO_COMMITS",
        True,
        "user",
        "time",
        "the table knows nothing of that time any more; choose a later one",
    ),
    (
        "DELTA_TIMESTAMP_GREATER_THAN_COMMIT",
        True,
        "user",
        "time",
        "nothing was added to the table since that time; choose an earlier one, or begin with what comes",
    ),
    (
        "DELTA_CONCURRENT_|DELTA_METADATA_CHANGED|DELTA_PROTOCOL_CHANGED",
        False,
        "external",
        "",
        "another program changed the table at the same moment; it is tried again",
    ),
    (
        "DELTA_NOT_NULL_CONSTRAINT_VIOLATED|DELTA_VIOLATE_CONSTRAINT",
        True,
        "user",
        "",
        "the table does not take a row: {sentence}; mend the data, or filter such rows out before",
    ),
    (
        "DELTA_(?:INVALID_PROTOCOL_VERSION|UNSUPPORTED_FEATURES)",
        True,
        "user",
        "path",
        "the table uses features of a newer Delta Lake than this one: {sentence}",
    ),
)


#: What is said of a table only to who reads it.
_ONLY_READ = (
    "DELTA_SOURCE_|DELTA_STREAMING_|CANNOT_CONTINUE_PROCESSING_POST_SCHEMA|DIFFERENT_DELTA_TABLE_READ|DELTA_VERSION_NOT_FOUND"
    "|DELTA_TIMESTAMP_|DELTA_NO_RECREATABLE_HISTORY|DELTA_NO_COMMITS|assertion failed: Invalid batch: "
)


def only_read(text: str) -> bool:
    """Whether it can come of nothing but reading a table."""
    return re.search(_ONLY_READ, text) is not None


def names_table(text: str, path: str) -> bool:
    """Whether `text` names the folder of a table, or a file in it; `path` is as people write it."""
    return re.search(rf"(?:^|/){re.escape(path.strip('/'))}(?![\w-])", text) is not None


def delta_failure(text: str, acting: str) -> NodeError | None:
    """What Delta says in `text`, in words that begin with `acting`; None if it is about something else."""
    for conditions, permanent, kind, field, words in _WORDS:
        if re.search(conditions, text):
            said = words.format(version=_version(text), available=_available(text), sentence=_sentence(text, conditions))
            return NodeError(f"{acting}: {said}", permanent=permanent, kind=kind, field=field)
    return None


def _version(text: str) -> str:
    found = re.search(r"version:? (\d+)", text)
    return found[1] if found else "unknown"


def _available(text: str) -> str:
    found = re.search(r"\[(\d+), (\d+)\]", text)
    return f"{found[1]} to {found[2]}" if found else "others"


def _sentence(text: str, conditions: str) -> str:
    found = re.search(rf"\[(?:{conditions})[A-Z_.]*\] ([^\n]+)", text)
    return re.sub(r"\s*SQLSTATE.*$", "", found[1]).strip().rstrip(".") if found else "it breaks a rule of the table"
