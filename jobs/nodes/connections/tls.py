"""Encrypted lines: what they trust, and what it means when one does not come about."""

from __future__ import annotations

import socket
import ssl

from jobs.nodes.base import NodeError

_PROBE_SECONDS = 3.0


def tls_context(certificate_authority: str, act: str) -> ssl.SSLContext:
    """Trusts the PEM certificates in `certificate_authority`; empty: the machine's own. NodeError beginning with `act` if they are none."""
    try:
        return ssl.create_default_context(cadata=certificate_authority or None)
    except (ssl.SSLError, ValueError, TypeError):
        message = f"{act}: the certificate authority is no PEM certificate; correct it in the connection"
        raise NodeError(message, permanent=True, kind="user") from None


def tls_fault(error: ssl.SSLError, act: str) -> NodeError:
    """Why a line could not be encrypted, beginning with `act`."""
    if isinstance(error, ssl.SSLCertVerificationError):
        message = f"{act}: the certificate is not trusted ({error.verify_message}); correct host or certificate"
    else:
        message = f"{act}: the line cannot be encrypted ({error.reason or error}); check TLS, port and certificates"
    return NodeError(message, permanent=True, kind="user")


def speaks_tls(host: str, port: int) -> bool:
    """Whether the server at `host`:`port` answers to the beginning of an encrypted line, be it with a refusal."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = (
        False,
        ssl.CERT_NONE,
    )  # nothing is told to the server: whoever it is, TLS is what it speaks
    try:
        with socket.create_connection((host, port), timeout=_PROBE_SECONDS) as line, context.wrap_socket(line, server_hostname=host):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
