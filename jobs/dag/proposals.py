"""Addresses in an imported text, turned into connections that a person can accept."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit


@dataclass(frozen=True)
class ProposedConnection:
    """A connection that does not stand anywhere yet. `secrets` names those to be entered; their values are never taken over."""

    name: str
    kind: str
    config: Mapping[str, Any]
    node_ids: tuple[str, ...] = ()
    secrets: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Proposal:
    """What is made of an address: a connection, fields of the node itself, and the names of what neither has a field for."""

    connection: ProposedConnection
    node_config: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()


#: Parameters of a query that carry a key: their values never stand in a document.
_KEYS = frozenset(("key", "apikey", "api_key", "api-key", "token", "access_token", "auth_token", "password", "secret", "client_secret"))


def propose_http(url: str, _: str = "") -> Proposal | None:
    """A connection to the host of `url`, with the path below it and its query for the node; None if `url` is no web address.

    The user before the host, or a key in the query, becomes the connection's way of signing in; a second key is left out.
    """
    parts = address_split(url)
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    address = f"{parts.scheme}://{host}" + (f":{parts.port}" if parts.port else "")
    config: dict[str, Any] = {"path": parts.path.strip("/")}
    asked = parse_qsl(parts.query, keep_blank_values=True)
    if parameters := [{"name": name, "value": value} for name, value in asked if name.lower() not in _KEYS]:
        config["parameters"] = parameters
    keys = list(dict.fromkeys(name for name, _ in asked if name.lower() in _KEYS))
    sign_in: dict[str, str] = {}
    secrets: tuple[str, ...] = ()
    if parts.username:
        sign_in, secrets = {"auth": "basic", "user": unquote(parts.username)}, ("password",)
    elif keys:
        sign_in, secrets = {"auth": "api_key", "api_key_in": "query", "api_key_parameter": keys.pop(0)}, ("api_key",)
    connection = ProposedConnection(name_of(parts.hostname), "http_api", {"base_url": address, **sign_in}, secrets=secrets)
    return Proposal(connection, config, tuple(keys))


def address_split(url: str) -> SplitResult | None:
    """The parts of `url`; None also for a port that is no number, which urllib tells only when asked for it."""
    try:
        parts = urlsplit(url.strip())
        _ = parts.port
    except ValueError:
        return None
    return parts


def name_of(text: str) -> str:
    """A connection's name made of `text`."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:80] or "connection"
