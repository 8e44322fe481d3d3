"""Senders that post messages to this product, and how each proves itself."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import ClassVar, Literal

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind
from jobs.nodes.form import hints

_HEADER = r"^[A-Za-z0-9-]+$"
_HEADER_WORDS = "a header's name: letters, digits and hyphens"


class WebhookProof(base.Config):
    """What both ends of a webhook have to agree on, besides the secret."""

    proof: Literal["signature", "token"] = Field(
        "signature",
        description="A signature is made of each message with the secret (HMAC, SHA-256, hexadecimal); a token is the secret itself.",
        examples=["signature"],
    )
    proof_header: str = Field(
        "X-Hub-Signature-256",
        max_length=100,
        pattern=_HEADER,
        description="The header that carries the signature or token; sha256= or Bearer may stand before it.",
        examples=["X-Hub-Signature-256"],
        json_schema_extra=hints(allowed=_HEADER_WORDS),
    )
    id_header: str = Field(
        "Idempotency-Key",
        max_length=100,
        pattern=_HEADER,
        description="The header by which a message that is sent again is told from a new one, for a week.",
        examples=["X-GitHub-Delivery"],
        json_schema_extra=hints(advanced=True, allowed=_HEADER_WORDS),
    )


class WebhookSettings(WebhookProof):
    pass


class WebhookConnection(ConnectionKind):
    kind = "webhook"
    title = "Webhook sender"
    icon = "webhook"
    Config = WebhookSettings
    secrets: ClassVar[Mapping[str, str]] = {"secret": "Secret that the sender knows too"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Nothing is reached: the sender comes to us."""
        there = bool(settings.secrets.get("secret"))
        return [CheckStep("secret", there, "a secret is kept" if there else "enter the secret: without it no message is taken")]


def is_proven(settings: ConnectionSettings, header: str, body: bytes) -> bool:
    """Whether what stands in the sender's header proves `body`; never without a secret."""
    secret = settings.secrets.get("secret", "").encode()
    if not secret or not header:
        return False
    given = header.removeprefix("sha256=").removeprefix("Bearer ").strip().encode()
    typed = WebhookSettings.model_validate(settings.config)
    return hmac.compare_digest(given, proof_of(typed, secret, body).encode("utf-8", "surrogateescape"))


def proof_of(typed: WebhookProof, secret: bytes, body: bytes) -> str:
    """What proves `body`: its HMAC-SHA-256 in hexadecimal, or the secret itself."""
    return secret.decode("utf-8", "surrogateescape") if typed.proof == "token" else hmac.new(secret, body, sha256).hexdigest()
