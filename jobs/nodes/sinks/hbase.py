"""Writes rows to a table of HBase."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, ClassVar

from jobs.nodes.base import Batch, NodeContext, NodeError, Sink, Written
from jobs.nodes.columns import empty_frame
from jobs.nodes.connections.hbase_client import HbaseLine, HbaseSettings, hbase_silent
from jobs.nodes.connections.reach import SECONDS
from jobs.nodes.durable_text import text_place
from jobs.nodes.sinks.hbase_config import HbaseSinkConfig
from jobs.nodes.sinks.hbase_rows import cell_columns, rows_made
from jobs.nodes.sinks.hbase_table import families_check, families_there, table_make
from jobs.nodes.user_python.arrow_schema import handed_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType


class HbaseSink(Sink[HbaseSinkConfig]):
    """Writes rows to an HBase table, a cell for each column.

    Bounded and unbounded input. At least once, and effectively once: a batch that is tried again writes the same cells with the same
    timestamps, which changes nothing; after a restore they come once more as newer versions with the same values. Of several rows with
    one key the last counts, where they are read in one partition. Deletions follow the order of a batch's rows.
    """

    type = "sink.hbase"
    title = "HBase"
    icon = "stack-2"
    Config = HbaseSinkConfig
    connection_kinds = ("hbase",)
    rejects_rows: ClassVar[bool] = True
    guarantee: ClassVar[str] = "at least once"
    summary_template = "{table} · {row_key}"
    pace_fields: ClassVar[frozenset[str]] = frozenset({"batch_size"})

    def waits_for(self, context: NodeContext[HbaseSinkConfig]) -> str:
        return hbase_silent(context.connection(context.config.connection), context.config.table)

    def check(self, spark: SparkSession, schema: StructType, context: NodeContext[HbaseSinkConfig]) -> None:
        rows_made(empty_frame(spark, schema), context.config)
        with self._line(context, seconds=SECONDS) as line:
            families_check(families_there(line, context.config), context.config)

    def begin(self, spark: SparkSession, schema: StructType, context: NodeContext[HbaseSinkConfig]) -> None:
        self.check(spark, schema, context)
        with self._line(context) as line:
            if families_there(line, context.config) is None:
                table_make(line, context.config)
                families_check(families_there(line, context.config), context.config)

    def replaces(self, config: HbaseSinkConfig) -> bool:
        return True

    def write_plainly(self, frame: DataFrame, context: NodeContext[HbaseSinkConfig]) -> tuple[DataFrame, str]:
        from jobs.nodes.sinks.hbase_plain import HbasePutting

        config, made = context.config, rows_made(frame, context.config)
        arrow = handed_schema(made.schema, context.time_zone, "is written")
        cells = tuple(one.cell for one in cell_columns(frame.columns, config))
        typed = HbaseSettings.model_validate(context.connection(config.connection).config)
        putting = HbasePutting(
            **typed.model_dump(),
            table=config.table_name,
            key_type=arrow.field("key").type,
            cells=cells,
            types=tuple(arrow.field(f"c{number}").type for number in range(len(cells))),
            families=tuple(config.families()) if config.create_table else (),
            batch_size=config.batch_size,
            deletes_empty=config.empty_cells == "delete",
            stops_at_rejected=context.fails_at_rejected,
        )
        made.foreachPartition(putting.put)
        return frame, ""

    def write(self, frame: DataFrame, batch: Batch, context: NodeContext[HbaseSinkConfig]) -> Written:
        """Every task puts its own rows and hands back counts, and some of what was rejected."""
        from jobs.nodes.sinks.hbase_sending import HbaseSender
        from jobs.nodes.sinks.task_tally import sent_by_tasks

        config = context.config
        sender = HbaseSender(
            config=config,
            connection=context.connection(config.connection),
            node_id=context.node_id,
            act=_act(context),
            cells=tuple(one.cell for one in cell_columns(frame.columns, config)),
            families=self._families(context) if config.delete_flag else (),
            time=_batch_time(batch, context),
            stops_at_rejected=batch.fails_at_rejected,
            rejections=batch.rejections,
        )
        return sent_by_tasks(rows_made(frame, config, keeps_rows=batch.rejections is not None), sender)

    def _families(self, context: NodeContext[HbaseSinkConfig]) -> tuple[bytes, ...]:
        """All that a row can have cells in."""
        with self._line(context) as line:
            there = families_there(line, context.config)
        if there is None:
            raise NodeError(f"{_act(context)}: the table {context.config.table} is gone; make it again", kind="user", field="table")
        return tuple(name.encode() for name in there)

    def _line(self, context: NodeContext[HbaseSinkConfig], seconds: float | None = None) -> HbaseLine:
        return HbaseLine(context.connection(context.config.connection), _act(context), seconds=seconds)


def _act(context: NodeContext[HbaseSinkConfig]) -> str:
    return f'writing to hbase "{context.config.connection}"'


def _batch_time(batch: Batch, context: NodeContext[HbaseSinkConfig]) -> int:
    """The timestamp of a batch's cells, milliseconds since 1970: when it was begun first, and later than that of the batch before.

    It is kept before anything is written: a repeat finds it. Only the last batch that was begun is ever repeated.
    """
    kept = context.work_dir / "hbase_time"
    last_batch, last_time = map(int, kept.read_text(encoding="utf-8").split()) if kept.is_file() else (-1, 0)
    if last_batch == batch.batch_id:
        return last_time
    found = max(time.time_ns() // 1_000_000, last_time + 1)
    text_place(kept, f"{batch.batch_id} {found}")
    return found
