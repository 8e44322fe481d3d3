"""Fields that the forms of servers behind a host and a port have in common."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from jobs.nodes.form import hints

TlsMode = Literal["disable", "prefer", "require", "verify-ca", "verify-full"]


def host_field(example: str) -> Any:
    return Field(
        pattern=r"^[A-Za-z0-9]([A-Za-z0-9._:-]{0,252}[A-Za-z0-9])?$",
        description="Name or address of the server.",
        examples=[example, "127.0.0.1"],
        json_schema_extra=hints(allowed="a server's name or address, without http:// and without the port"),
    )


def tls_mode_field() -> Any:
    return Field(
        "prefer",
        description="Whether the line is encrypted, and how much of the server's certificate is checked.",
        examples=["verify-full"],
    )


def tls_switch_field() -> Any:
    return Field(False, description="Encrypt the line, and check the server's certificate.", examples=[True])


def certificate_field(*, when: str = "", unfolds: str = "", empty: str = "empty takes the usual ones") -> Any:
    """Shown with the choice of TLS that asks for it; without `when` it is folded away until `unfolds` holds."""
    return Field(
        "",
        max_length=100_000,
        description=f"The PEM certificates that the server's is checked against; {empty}.",
        examples=["-----BEGIN CERTIFICATE-----"],
        json_schema_extra=hints("textarea", advanced=not when, when=when, unfolds=unfolds),
    )
