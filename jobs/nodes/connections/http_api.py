"""HTTP APIs that answer JSON."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import CheckStep, ConnectionKind, ConnectionSettings, Limits, NodeError
from jobs.nodes.form import hints

_HEADER_NAME = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
#: They decide where a request goes or how long it is, not what it asks for.
_RESERVED_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "proxy-authorization"})


class Header(base.Config):
    name: str = Field(min_length=1, max_length=100, pattern=_HEADER_NAME, description="Name of the header.", examples=["Accept-Language"])
    value: str = Field(max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$", description="Its value, not secret.", examples=["en"])


class HttpApiSettings(base.Config):
    base_url: str = Field(
        max_length=2000,
        pattern=r"^https?://[^/\s@?#\\]+(/[^\s?#\\]*)?$",
        description="Where the API begins, without a question mark; sign-in data does not belong here.",
        examples=["https://api.example.com/v1"],
        json_schema_extra=hints(allowed="an address that begins with http:// or https:// and has no user, space, ? or #"),
    )
    auth: Literal["none", "basic", "bearer", "api_key"] = Field(
        "none", description="How to sign in: not at all, by user and password, by a token, or by a key in a header.", examples=["bearer"]
    )
    user: str = Field("", max_length=200, description="The user.", examples=["reader"], json_schema_extra=hints(when="auth=basic"))
    api_key_header: str = Field(
        "X-API-Key",
        pattern=_HEADER_NAME,
        description="The header that carries the key.",
        examples=["X-API-Key"],
        json_schema_extra=hints(when="auth=api_key", allowed="a header's name: letters, digits and hyphens"),
    )
    headers: tuple[Header, ...] = Field(
        (),
        description="Further headers of every request.",
        examples=[[{"name": "Accept-Language", "value": "en"}]],
        json_schema_extra=hints("mapping", advanced=True),
    )

    @model_validator(mode="after")
    def _headers_are_harmless(self) -> HttpApiSettings:
        names = [header.name.lower() for header in self.headers] + [self.api_key_header.lower()]
        reserved = sorted(_RESERVED_HEADERS & set(names))
        if reserved:
            raise ValueError(f"the header {reserved[0]} is set by the request itself: remove it")
        return self


class HttpApiConnection(ConnectionKind):
    kind = "http_api"
    title = "HTTP API"
    icon = "api"
    Config = HttpApiSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password", "token": "Token", "api_key": "Key"}
    secrets_when: ClassVar[Mapping[str, str]] = {"password": "auth=basic", "token": "auth=bearer", "api_key": "auth=api_key"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Address, then an answer to a request of the base address. Any answer but a refused sign-in or a server error is good."""
        from jobs.nodes.http_client import HttpApi
        from jobs.nodes.http_guard import checked_addresses

        typed = HttpApiSettings.model_validate(settings.config)
        address = urlsplit(typed.base_url)
        started = time.monotonic()
        try:
            port = address.port or (443 if address.scheme == "https" else 80)
            found = checked_addresses(address.hostname or "", port, limits)
        except (NodeError, ValueError) as error:
            return [CheckStep("address", False, str(error), _milliseconds(started))]
        steps = [CheckStep("address", True, f"{address.hostname} is {', '.join(found)}", _milliseconds(started))]
        started = time.monotonic()
        try:
            with HttpApi(settings, limits, attempts=1, timeout_seconds=10) as api:
                status = api.probe()
            steps.append(CheckStep("answer", True, f"the server answered {status}", _milliseconds(started)))
        except NodeError as error:
            steps.append(CheckStep("answer", False, error.message, _milliseconds(started)))
        return steps


def _milliseconds(started: float) -> int:
    return round((time.monotonic() - started) * 1000)
