"""A line to MySQL or MariaDB that begins fast."""

from __future__ import annotations

import ssl
from typing import Any

import pymysql

from jobs.nodes.connections.tls import unchecked_context


class MysqlLine(pymysql.Connection):  # type: ignore[misc]  # it has no types
    """Encrypts, where nothing is said of TLS, as the client would, which checks nothing then and yet reads all that the machine trusts."""

    def _create_ssl_ctx(self, sslp: ssl.SSLContext | dict[str, Any]) -> ssl.SSLContext:
        return sslp if isinstance(sslp, ssl.SSLContext) else unchecked_context()
