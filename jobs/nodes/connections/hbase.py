"""HBase by its Thrift server."""

from __future__ import annotations

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.hbase_client import HbaseLine, HbaseSettings
from jobs.nodes.connections.reach import SECONDS, name_resolve, port_reach


class HbaseConnection(ConnectionKind):
    kind = "hbase"
    title = "HBase"
    icon = "stack-2"
    Config = HbaseSettings

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port of the Thrift server, then whether it answers as one, with an HBase behind it."""
        typed = HbaseSettings.model_validate(settings.config)
        return check_steps(
            ("name", lambda: name_resolve(typed.host)),
            ("port", lambda: port_reach(typed.host, typed.port)),
            ("HBase", lambda: _tables_counted(settings)),
        )


def _tables_counted(settings: ConnectionSettings) -> str:
    with HbaseLine(settings, "asking for the tables", seconds=SECONDS) as line:
        return f"HBase answers; it has {len(line.call('getTableNames'))} table(s)"
