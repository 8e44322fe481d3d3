"""HTTP APIs that answer JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind
from jobs.nodes.connections.server_fields import certificate_field
from jobs.nodes.form import hints

HEADER_NAME = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"
#: They decide where a request goes or how long it is, not what it asks for.
RESERVED_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "connection", "proxy-authorization"})


class Header(base.Config):
    name: str = Field(min_length=1, max_length=100, pattern=HEADER_NAME, description="Name of the header.", examples=["Accept-Language"])
    value: str = Field(max_length=2000, pattern=r"^[^\x00-\x1f\x7f]*$", description="Its value, not secret.", examples=["en"])


class HttpApiSettings(base.Config):
    base_url: str = Field(
        max_length=2000,
        pattern=r"^https?://[^/\s@?#\\]+(/[^\s?#\\]*)?$",
        description="Where the API begins, without a question mark; sign-in data does not belong here.",
        examples=["https://api.example.com/v1"],
        json_schema_extra=hints(allowed="an address that begins with http:// or https:// and has no user, space, ? or #"),
    )
    auth: Literal["none", "basic", "bearer", "api_key", "oauth2"] = Field(
        "none",
        description="How to sign in: not at all, by user and password, a token, a key, or OAuth2 client credentials.",
        examples=["bearer"],
    )
    user: str = Field("", max_length=200, description="The user.", examples=["reader"], json_schema_extra=hints(when="auth=basic"))
    api_key_header: str = Field(
        "X-API-Key",
        pattern=HEADER_NAME,
        description="The header that carries the key.",
        examples=["X-API-Key"],
        json_schema_extra=hints(when="auth=api_key", allowed="a header's name: letters, digits and hyphens"),
    )
    api_key_in: Literal["header", "query"] = Field(
        "header",
        description="Where the key stands; in the address it is seen by whatever logs addresses on the way.",
        examples=["header"],
        json_schema_extra=hints(when="auth=api_key"),
    )
    api_key_parameter: str = Field(
        "api_key",
        max_length=100,
        pattern=r"^[^\s&=?#]+$",
        description="The parameter that carries the key.",
        examples=["api_key"],
        json_schema_extra=hints(when="api_key_in=query", allowed="a parameter's name without spaces, &, =, ? and #"),
    )
    token_url: str = Field(
        "",
        max_length=2000,
        pattern=r"^(https?://[^/\s@?#\\]+(/[^\s#\\]*)?)?$",
        description="Where tokens are given out.",
        examples=["https://auth.example.com/oauth/token"],
        json_schema_extra=hints(when="auth=oauth2", allowed="an address that begins with http:// or https:// and has no user, space or #"),
    )
    client_id: str = Field(
        "",
        max_length=500,
        description="The name under which this client is known there.",
        examples=["pipelines"],
        json_schema_extra=hints(when="auth=oauth2"),
    )
    scope: str = Field(
        "",
        max_length=1000,
        description="What the token is to allow, with spaces between; empty asks for the usual.",
        examples=["orders.read"],
        json_schema_extra=hints(when="auth=oauth2"),
    )
    audience: str = Field(
        "",
        max_length=1000,
        description="Which API the token is for, where the server asks for it.",
        examples=["https://api.example.com"],
        json_schema_extra=hints(advanced=True, when="auth=oauth2"),
    )
    client_auth: Literal["header", "body"] = Field(
        "header",
        description="Whether client id and secret are sent as basic sign-in or in the form.",
        examples=["header"],
        json_schema_extra=hints(advanced=True, when="auth=oauth2"),
    )
    test_path: str = Field(
        "",
        max_length=2000,
        pattern=r"^[^\s?#\\]*$",
        description="What to ask for when this connection is tested; empty asks for the base address, where any page or none may be.",
        examples=["status"],
        json_schema_extra=hints(advanced=True),
    )
    certificate_authority: str = certificate_field(empty="empty takes the usual ones. Also for the address that gives out tokens")
    headers: tuple[Header, ...] = Field(
        (),
        description="Further headers of every request.",
        examples=[[{"name": "Accept-Language", "value": "en"}]],
        json_schema_extra=hints("mapping", advanced=True),
    )

    @model_validator(mode="after")
    def _headers_are_harmless(self) -> HttpApiSettings:
        names = [header.name.lower() for header in self.headers] + [self.api_key_header.lower()]
        reserved = sorted(RESERVED_HEADERS & set(names))
        if reserved:
            raise ValueError(f"the header {reserved[0]} is set by the request itself: remove it")
        return self

    @model_validator(mode="after")
    def _tokens_can_be_asked_for(self) -> HttpApiSettings:
        if self.auth == "oauth2" and not (self.token_url and self.client_id):
            raise ValueError("OAuth2 needs the address that gives out tokens and a client id")
        return self


class HttpApiConnection(ConnectionKind):
    kind = "http_api"
    title = "HTTP API"
    icon = "api"
    Config = HttpApiSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password", "token": "Token", "api_key": "Key", "client_secret": "Client secret"}
    secrets_when: ClassVar[Mapping[str, str]] = {
        "password": "auth=basic",
        "token": "auth=bearer",
        "api_key": "auth=api_key",
        "client_secret": "auth=oauth2",
    }

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, TLS (of https), sign-in, path; stops at the first that fails."""
        from jobs.nodes.connections.http_api_check import api_check

        return api_check(settings, limits)
