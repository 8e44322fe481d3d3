"""`sink.delta` as plain PySpark: Delta's own writer, and one MERGE for rows with keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobs.nodes.columns import quoted
from jobs.nodes.plainly import ScriptText
from jobs.nodes.sinks.delta_merge import latest_rows

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from jobs.nodes.sinks.delta_config import DeltaSinkConfig


def plain_write(frame: DataFrame, written: StructType, folder: Path, config: DeltaSinkConfig) -> tuple[DataFrame, str]:
    """For `Sink.write_plainly`; `written`: the columns of `frame` but the delete flag."""
    if config.mode == "upsert":
        names = {name.lower(): name for name in frame.columns}
        keys, flag = [names[key.lower()] for key in config.keys], names.get(config.delete_flag.lower(), "")
        return latest_rows(frame, keys), _merge_lines(frame.columns, keys, flag, folder, config)
    emptied = config.mode == "overwrite"
    mode = ScriptText("append", '"overwrite" if batch_id == 0 else "append"' if emptied else '"append"')
    writer = frame.write.format("delta").mode(mode)
    if config.partition_by:
        writer = writer.partitionBy(*config.partition_by)
    if config.add_columns:
        writer = writer.option("mergeSchema", "true")
    writer.save(str(folder))
    return frame, ""


def _merge_lines(columns: list[str], keys: list[str], flag: str, folder: Path, config: DeltaSinkConfig) -> str:
    left = f"rows.drop({flag!r})" if flag else "rows"
    parted = f".partitionBy({', '.join(map(repr, config.partition_by))})" if config.partition_by else ""
    mode = 'mode("append").option("mergeSchema", "true")' if config.add_columns else 'mode("ignore")'
    path = str(folder)
    return "\n".join(
        [
            "rows.persist()  # a MERGE reads its rows more than once",
            "# The table, where it is not there yet.",
            f'{left}.limit(0).write.format("delta").{mode}{parted}.save({path!r})',
            'rows.createOrReplaceTempView("batch_rows")',
            "rows.sparkSession.sql(",
            *(f"    {line!r}" for line in _merge(columns, keys, flag, path)),
            ")",
            "rows.unpersist()",
        ]
    )


def _merge(columns: list[str], keys: list[str], flag: str, path: str) -> list[str]:
    written = [quoted(name) for name in columns if name != flag]
    same = " AND ".join(f"t.{quoted(key)} <=> s.{quoted(key)}" for key in keys)
    gone = f"coalesce(s.{quoted(flag)}, false)"
    return [
        f"MERGE INTO delta.{quoted(path)} AS t USING batch_rows AS s ON {same}",
        *([f" WHEN MATCHED AND {gone} THEN DELETE"] if flag else []),
        f" WHEN MATCHED THEN UPDATE SET {', '.join(f'{name} = s.{name}' for name in written)}",
        f" WHEN NOT MATCHED{f' AND NOT {gone}' if flag else ''} THEN INSERT ({', '.join(written)})",
        f" VALUES ({', '.join(f's.{name}' for name in written)})",
    ]
