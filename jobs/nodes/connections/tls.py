"""Encrypted lines: what they trust, and what it means when one does not come about."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime

from jobs.nodes.base import NodeError
from jobs.nodes.node_error import SignInRefused

_SECONDS = 10.0
_PROBE_SECONDS = 3.0
#: What OpenSSL says of an answer that is no TLS.
_NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "HTTP_REQUEST", "UNEXPECTED_EOF_WHILE_READING"})
#: How a server refuses a line without a client certificate: the sign-in shows the one of the connection.
_CERTIFICATE_WANTED = frozenset({"TLSV13_ALERT_CERTIFICATE_REQUIRED", "SSLV3_ALERT_BAD_CERTIFICATE", "SSLV3_ALERT_HANDSHAKE_FAILURE"})


def tls_context(certificate_authority: str, act: str) -> ssl.SSLContext:
    """Trusts the PEM certificates in `certificate_authority`; empty: the machine's own. NodeError beginning with `act` if they are none."""
    try:
        return ssl.create_default_context(cadata=certificate_authority or None)
    except (ssl.SSLError, ValueError, TypeError):
        message = f"{act}: the certificate authority is no PEM certificate; correct it in the connection"
        raise NodeError(message, permanent=True, kind="user") from None


def tls_fault(error: ssl.SSLError, act: str) -> NodeError:
    """Why a line could not be encrypted, beginning with `act`. A stream that worked waits for a certificate that is to be trusted."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = error.verify_message
        message = f"{act}: the certificate is not trusted ({why}); correct the host, or the authority that it is checked against"
        return SignInRefused(message, permanent=True, kind="user")  # one that ran out is made anew there
    if error.reason in _NOT_TLS:
        message = f"{act}: the port does not speak TLS; take the port for TLS, or go without TLS"
    else:
        message = f"{act}: the line cannot be encrypted ({error.reason or error}); check TLS, port and certificates"
    return NodeError(message, permanent=True, kind="user")


def untrusted(error: BaseException | None) -> ssl.SSLCertVerificationError | None:
    """What of a certificate was behind an error."""
    while error is not None and not isinstance(error, ssl.SSLCertVerificationError):
        error = error.__cause__ or error.__context__
    return error


def tls_step(host: str, port: int, context: ssl.SSLContext | None) -> str:
    """A step of a connection's test: how a line to `host`:`port` is encrypted, None: not at all. NodeError where it cannot be."""
    if context is None:
        return "not used, as chosen: what is sent can be read on the way"
    try:
        with socket.create_connection((host, port), timeout=_SECONDS) as line:
            return tls_told(line, host, context)
    except OSError as error:
        raise NodeError(
            f"encrypting the line: {host}:{port} hangs up ({error.strerror or error}); take the port for TLS, or go without TLS"
        ) from None


def tls_told(line: socket.socket, host: str, context: ssl.SSLContext) -> str:
    """Encrypts `line`, and says how, and how long the certificate that was checked is valid. NodeError where it cannot be."""
    try:
        with context.wrap_socket(line, server_hostname=host) as encrypted:
            if certificate := encrypted.getpeercert():
                until = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC).date()
                return f"encrypted by {encrypted.version()}; the certificate is trusted, and valid until {until}"
            return f"encrypted by {encrypted.version()}; the certificate is not checked, as chosen"
    except ssl.SSLError as error:
        if error.reason in _CERTIFICATE_WANTED:
            return "encrypted; the server asks for a client certificate"
        raise tls_fault(error, "encrypting the line") from None


def unchecked_context() -> ssl.SSLContext:
    """Encrypts for whoever answers; without the machine's certificates, of which reading takes longer than many a line."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def speaks_tls(host: str, port: int) -> bool:
    """Whether the server at `host`:`port` answers to the beginning of an encrypted line, be it with a refusal."""
    context = unchecked_context()  # nothing is told to the server: whoever it is, TLS is what it speaks
    try:
        with socket.create_connection((host, port), timeout=_PROBE_SECONDS) as line, context.wrap_socket(line, server_hostname=host):
            return True
    except ssl.SSLError as error:
        return "ALERT" in (error.reason or "")
    except OSError:
        return False
