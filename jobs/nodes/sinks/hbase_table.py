"""The table that `sink.hbase` writes to, and its column families."""

from __future__ import annotations

from collections.abc import Sequence

from jobs.nodes.base import NodeError
from jobs.nodes.connections.hbase_client import HbaseLine, RowsRefused
from jobs.nodes.sinks.hbase_config import HbaseSinkConfig


def families_there(line: HbaseLine, config: HbaseSinkConfig) -> list[str] | None:
    """Names of the table's families; None where there is no table. NodeError where it is disabled."""
    name = config.table_name
    if name not in line.call("getTableNames"):
        return None
    if not line.call("isTableEnabled", name):
        raise NodeError(f"the table {config.table} is disabled; enable it", kind="user", field="table")
    return sorted(family.decode().rstrip(":") for family in line.call("getColumnDescriptors", name))


def families_check(there: Sequence[str] | None, config: HbaseSinkConfig) -> None:
    """NodeError on the field that names what is missing; a table that may be made is not."""
    if there is None:
        if not config.create_table:
            raise _refused(f"there is no table {config.table}; make it, let the node make it, or correct its name", "table")
        return
    for family in config.families():
        if family not in there:
            had = ", ".join(there)
            field = "family" if family == config.family else "columns"
            raise _refused(
                f"the table {config.table} has no column family {family}, only {had}; choose one of these, or add it to the table", field
            )


def table_make(line: HbaseLine, config: HbaseSinkConfig) -> None:
    """With the families that the node names, set as HBase's own shell does. Nothing happens where somebody made it meanwhile."""
    from happybase.connection import ColumnDescriptor

    usual = {"maxVersions": 1, "bloomFilterType": "ROW", "blockCacheEnabled": True}
    families = [ColumnDescriptor(name=f"{name}:".encode(), **usual) for name in config.families()]
    try:
        line.call("createTable", config.table_name, families)
    except RowsRefused as refused:
        raise _refused(f"the table {config.table} cannot be made: {refused}", "table") from refused
    except NodeError:
        if config.table_name not in line.call("getTableNames"):
            raise


def _refused(why: str, field: str) -> NodeError:
    return NodeError(why, permanent=True, kind="user", field=field)
