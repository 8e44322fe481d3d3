"""Addresses that this product posts messages to, and how it proves that they are its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

from pydantic import Field, model_validator

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind
from jobs.nodes.connections.http_api import RESERVED_HEADERS
from jobs.nodes.connections.server_fields import certificate_field
from jobs.nodes.connections.webhook import WebhookProof, proof_of
from jobs.nodes.form import hints
from jobs.nodes.http_messages import HttpRequest, Refused

#: The address itself is refused, whatever is sent to it.
_NO_SUCH_ADDRESS = frozenset({404, 405, 410})


class WebhookAddress(base.Config):
    url: str = Field(
        max_length=2000,
        pattern=r"^https?://[^/\s@?#\\]+(/[^\s?#\\]*)?$",
        description="Where messages are posted to, without a question mark; a webhook source of another installation shows its own.",
        examples=["https://pipelines.example.com/hooks/0b6f1c1e-5f0e-4c3b-9a53-0c7f2d7f4a11/orders"],
        json_schema_extra=hints(allowed="an address that begins with http:// or https:// and has no user, space, ? or #"),
    )


class WebhookReceiverSettings(WebhookProof, WebhookAddress):
    certificate_authority: str = certificate_field()

    @model_validator(mode="after")
    def _headers_are_harmless(self) -> WebhookReceiverSettings:
        names = {self.proof_header.lower(), self.id_header.lower()}
        if reserved := sorted((RESERVED_HEADERS | {"content-type"}) & names):
            raise ValueError(f"the header {reserved[0]} is set by the request itself: name another")
        if len(names) < 2:
            raise ValueError("proof and id stand in one header: name two")
        return self


class WebhookReceiverConnection(ConnectionKind):
    kind = "webhook_receiver"
    title = "Webhook receiver"
    icon = "webhook"
    Config = WebhookReceiverSettings
    secrets: ClassVar[Mapping[str, str]] = {"secret": "Secret that the receiver knows too"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Secret, name, port, TLS (of https). Nothing is posted: the receiver would take it for a message."""
        from jobs.nodes.connections.http_api_check import address_check

        if not settings.secrets.get("secret"):
            return [CheckStep("secret", False, "enter the secret: without it no message can be proven")]
        return [CheckStep("secret", True, "a secret is kept"), *address_check(as_http_api(settings), limits)]


@dataclass(frozen=True)
class Proving:
    """The receiver as a sink's tasks know it."""

    name: str
    typed: WebhookReceiverSettings
    secret: str = field(repr=False)

    def proving(self, request: HttpRequest) -> HttpRequest:
        """With the header that proves the body."""
        prefix = "sha256=" if self.typed.proof == "signature" else ""
        proof = proof_of(self.typed, self.secret.encode(), request.content or b"")
        return replace(request, headers={**request.headers, self.typed.proof_header: f"{prefix}{proof}"})

    def check(self, refused: Refused) -> None:
        """NodeError where nobody takes messages at this address."""
        if refused.status in _NO_SUCH_ADDRESS:
            raise NodeError(
                f'posting to "{self.name}": nobody takes messages at {self.typed.url} ({refused.words}); '
                "correct the address of the connection, or publish the job that receives them"
            )


def as_http_api(settings: ConnectionSettings) -> ConnectionSettings:
    """The same place as an API without a sign-in; the secret goes along so that no text shows it."""
    config = {"base_url": settings.config.get("url", ""), "certificate_authority": settings.config.get("certificate_authority", "")}
    return ConnectionSettings(settings.name, "http_api", config, settings.secrets, settings.problem)


def proving_of(settings: ConnectionSettings) -> Proving:
    """NodeError where no secret is kept."""
    secret = settings.secrets.get("secret", "")
    if not secret:
        raise NodeError(f'posting to "{settings.name}": the connection has no secret; enter it', permanent=True, kind="user")
    return Proving(settings.name, WebhookReceiverSettings.model_validate(settings.config), secret)
