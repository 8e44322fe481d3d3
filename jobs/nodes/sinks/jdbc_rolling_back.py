"""A table going back to a checkpoint: rows of later batches are deleted, where the table has the columns that tell them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobs.nodes.base import NodeContext
from jobs.nodes.roll_back import RollBack, RollBackPoint
from jobs.nodes.sinks.jdbc_config import JdbcSinkConfig
from jobs.nodes.sinks.jdbc_dialect import BATCH_COLUMN, GENERATION_COLUMN, Dialect, TableName, TargetColumn
from jobs.nodes.sinks.jdbc_moving import marker_of

_GENERATIONS_AT_ONCE = 500


def roll_back_way(config: JdbcSinkConfig, target: Sequence[TargetColumn] | None, point: RollBackPoint) -> RollBack:
    """What can be done with rows behind `point`; `target` None or empty where there is no table, so that nothing has to go."""
    if config.keys:
        return RollBack("replaced")
    if point.shared:
        return RollBack("repeated", hindrance="shared")
    if not target:
        return RollBack("removed", count=0)
    tells = {GENERATION_COLUMN, BATCH_COLUMN} <= {found.name for found in target}
    return RollBack("removed") if tells else RollBack("repeated", hindrance="columns")


def rows_roll_back(dialect: Dialect, cursor: Any, context: NodeContext[JdbcSinkConfig], point: RollBackPoint) -> RollBack:
    """All of them in the transaction of `cursor`, during which no other attempt takes over the target."""
    table = TableName.parsed(context.config.table)
    dialect.lock_target(cursor)
    marker_of(dialect, context).hold(cursor, context.attempt)
    way = roll_back_way(context.config, dialect.columns(cursor, table), point)
    if way.way != "removed":
        return way
    conditions = [f"{GENERATION_COLUMN} IN ({', '.join(map(dialect.literal, part))})" for part in _parts(point.later)]
    if point.batch_id is not None:
        own = f"{GENERATION_COLUMN} = {dialect.literal(point.generation)}"
        conditions.append(f"{own} AND {BATCH_COLUMN} > {dialect.literal(point.batch_id)}")
    rows = 0
    for condition in conditions:
        cursor.execute(f"DELETE FROM {dialect.qualified(table)} WHERE {condition}")
        rows += int(cursor.rowcount)
    return RollBack("removed", count=rows)


def _parts(generations: Sequence[str]) -> list[Sequence[str]]:
    """So many that a statement does not grow without end."""
    return [generations[begin : begin + _GENERATIONS_AT_ONCE] for begin in range(0, len(generations), _GENERATIONS_AT_ONCE)]
