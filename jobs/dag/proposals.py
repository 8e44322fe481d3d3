"""Addresses in an imported text, turned into connections that a person can accept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlsplit

_JDBC = re.compile(r"jdbc:(?P<kind>[a-z0-9]+):(?P<rest>.*)", re.DOTALL | re.IGNORECASE)
_DEFAULT_PORTS = {"postgresql": 5432, "mysql": 3306, "mariadb": 3306}


@dataclass(frozen=True)
class ProposedConnection:
    """A connection that does not stand anywhere yet. `secrets` names those to be entered; their values are never taken over."""

    name: str
    kind: str
    config: Mapping[str, Any]
    node_ids: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=())


def propose_http(url: str) -> tuple[ProposedConnection, str, list[tuple[str, str]]] | None:
    """A connection to the host of `url`, the path below it, and the parameters of its query; None if `url` is no web address."""
    parts = _split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    address = f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")
    connection = ProposedConnection(_slug(parts.hostname), "http_api", {"base_url": address})
    return connection, parts.path.strip("/"), parse_qsl(parts.query, keep_blank_values=True)


def propose_jdbc(url: str, user: str = "") -> ProposedConnection | None:
    """A connection to the database that `url` (`jdbc:postgresql://host:5432/name`, `jdbc:sqlite:path`) names, or None."""
    match = _JDBC.fullmatch(url.strip())
    if match is None:
        return None
    kind, rest = match["kind"].lower(), match["rest"]
    if kind == "sqlite":
        return ProposedConnection(_slug(rest.rsplit("/", 1)[-1].split(".")[0]), kind, {"path": rest}) if rest else None
    parts = _split(f"{kind}:{rest}")
    if parts is None or not parts.hostname:
        return None
    database = parts.path.strip("/")
    config: dict[str, Any] = {"host": parts.hostname, "port": parts.port or _DEFAULT_PORTS.get(kind, 0), "database": database}
    user = user or parts.username or dict(parse_qsl(parts.query)).get("user", "")
    if user:
        config["user"] = user
    return ProposedConnection(_slug(database or parts.hostname), kind, config, secrets=("password",))


def _split(url: str) -> SplitResult | None:
    """None also for a port that is no number, which urllib tells only when asked for it."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "connection"
