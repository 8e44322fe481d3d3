"""JDBC addresses in an imported text, turned into connections."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

from jobs.dag.proposals import Proposal, ProposedConnection, address_split, name_of

_JDBC = re.compile(r"jdbc:(?P<kind>[a-z0-9]+):(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
#: Databases that a client of ours speaks to: what an address calls them → the kind of their connection.
_OWN_KINDS = {"postgresql": "postgresql", "mysql": "mysql", "mariadb": "mysql"}
_DEFAULT_PORTS = {"postgresql": 5432, "mysql": 3306, "oracle": 1521, "sqlserver": 1433, "db2": 50000}
#: `//host:port/name`, `thin:@host:port:name` and `//host:port;databaseName=name`, with options behind.
_ELSEWHERE = re.compile(
    r"(?:thin:@(?://)?|(?:[a-z]+:)?//)(?P<host>\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::(?P<port>\d{1,5}))?"
    r"(?:[:/](?P<database>[^;:?]*))?(?P<options>[;:?].*)?",
    re.IGNORECASE | re.DOTALL,
)
_SIGN_IN = ("user", "username", "password")
#: What drivers call the ways to encrypt, in lower case and with dashes.
_TLS_MODES = {
    **dict.fromkeys(("disable", "disabled"), "disable"),
    **dict.fromkeys(("allow", "prefer", "preferred"), "prefer"),
    **dict.fromkeys(("require", "required", "trust"), "require"),
    "verify-ca": "verify-ca",
    **dict.fromkeys(("verify-full", "verify-identity"), "verify-full"),
}
#: PostgreSQL's driver checks the certificate where it says only `ssl=true`; MySQL's does not.
_TLS_SWITCHES = {("ssl", "true"): "verify-full", ("usessl", "true"): "require", ("ssl", "false"): "disable", ("usessl", "false"): "disable"}


def propose_jdbc(url: str, user: str = "") -> Proposal | None:
    """A connection to the database that `url` (`jdbc:postgresql://host:5432/name`, `jdbc:sqlite:path`) names, or None.

    One that only a driver of the administrator's reaches (`jdbc:db2://…`) is of the kind jdbc, its driver called as in the address.
    """
    match = _JDBC.fullmatch(url.strip())
    if match is None:
        return None
    database, rest = match["kind"].lower(), match["rest"]
    if database == "sqlite":
        name = name_of(rest.rsplit("/", 1)[-1].split(".")[0])
        return Proposal(ProposedConnection(name, "sqlite", {"path": rest})) if rest else None
    kind = _OWN_KINDS.get(database)
    return _own(kind, rest, user) if kind else _elsewhere(database, rest, user)


def _own(kind: str, rest: str, user: str) -> Proposal | None:
    parts = address_split(f"{kind}:{rest}")
    if parts is None or not parts.hostname:
        return None
    database = parts.path.strip("/")
    config: dict[str, Any] = {"host": parts.hostname, "port": parts.port or _DEFAULT_PORTS[kind], "database": database}
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if user := user or parts.username or options.get("user", ""):
        config["user"] = user
    understood, left_out = _options_read(kind, options)
    connection = ProposedConnection(name_of(database or parts.hostname), kind, {**config, **understood}, secrets=("password",))
    return Proposal(connection, left_out=left_out)


def _options_read(kind: str, options: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Fields of the connection, and the names of the options that it has no field for."""
    fields: dict[str, str] = {}
    left_out = []
    for name, value in options.items():
        written = value.lower().replace("_", "-")
        if name.lower() == "sslmode" and written in _TLS_MODES:
            fields["tls"] = _TLS_MODES[written]
        elif (name.lower(), written) in _TLS_SWITCHES:
            fields.setdefault("tls", _TLS_SWITCHES[name.lower(), written])
        elif kind == "postgresql" and name == "currentSchema":
            fields["search_path"] = value
        elif name not in _SIGN_IN:
            left_out.append(name)
    return fields, tuple(left_out)


def _elsewhere(driver: str, rest: str, user: str) -> Proposal | None:
    found = _ELSEWHERE.fullmatch(rest)
    port = int((found and found["port"]) or _DEFAULT_PORTS.get(driver, 0))
    if found is None or port > 65535:
        return None
    options = dict(option.split("=", 1) for option in re.split("[;:?&]", found["options"] or "") if "=" in option)
    host = found["host"].strip("[]")
    database = found["database"] or options.pop("databaseName", "") or options.pop("database", "")
    user = user or options.get("user", "")
    config = {"driver": driver, "host": host, "port": port, "database": database, "user": user}
    connection = ProposedConnection(
        name_of(database or host), "jdbc", {name: value for name, value in config.items() if value}, secrets=("password",)
    )
    return Proposal(connection, left_out=tuple(name for name in options if name not in _SIGN_IN))
