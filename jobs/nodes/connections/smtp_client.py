"""How a mail server is reached and signed in to, and what its answers mean."""

from __future__ import annotations

import smtplib
import ssl
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from jobs.nodes import base
from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.mail_address import mail_address
from jobs.nodes.connections.reach import is_silent
from jobs.nodes.connections.server_fields import certificate_field, host_field
from jobs.nodes.connections.tls import tls_context, tls_fault
from jobs.nodes.form import hints
from jobs.nodes.node_error import SignInRefused, SystemAway

SECONDS = 10.0
_LONGEST_ANSWER = 300
#: The server wants another sign-in, whatever was asked of it (RFC 4954, 6).
_SIGN_IN_CODES = frozenset({530, 534, 535, 538})
#: The server is going down or takes no sign-in for now (RFC 5321, 3.8; RFC 4954, 4.7.12): whatever mail it is.
_AWAY_CODES = frozenset({421, 454})


class SmtpSettings(base.Config):
    host: str = host_field("smtp.example.com")
    port: int = Field(587, ge=1, le=65535, description="The port: usually 587 with STARTTLS, 465 with TLS, 25 with none.", examples=[587])
    security: Literal["starttls", "tls", "none"] = Field(
        "starttls",
        description="Whether the line is encrypted: once the server has greeted, from the first byte on, or not at all.",
        examples=["starttls"],
    )
    certificate_authority: str = certificate_field(when="security=starttls|tls")
    sign_in: Literal["none", "password"] = Field("password", description="Whether a user signs in with a password.", examples=["password"])
    user: str = Field(
        "", max_length=255, description="Who signs in.", examples=["pipeline"], json_schema_extra=hints(when="sign_in=password")
    )
    sender: Annotated[str, AfterValidator(mail_address)] = Field(
        max_length=254, description="The address that mails come from.", examples=["pipeline@example.com"]
    )


def smtp_opened(connection: ConnectionSettings, act: str, *, seconds: float = SECONDS) -> smtplib.SMTP:
    """A line that is signed in. NodeError beginning with `act`; permanent where the connection has to be corrected."""
    line = smtp_greeted(connection, act, seconds=seconds)
    try:
        smtp_sign_in(line, connection, act)
    except NodeError:
        line.close()
        raise
    return line


def smtp_greeted(connection: ConnectionSettings, act: str, *, seconds: float = SECONDS) -> smtplib.SMTP:
    """A line that is encrypted as the connection asks, with nobody signed in. NodeError beginning with `act`."""
    typed = SmtpSettings.model_validate(connection.config)
    context = tls_context(typed.certificate_authority, act) if typed.security != "none" else None
    with smtp_errors(connection, act):
        if typed.security == "tls":
            return smtplib.SMTP_SSL(typed.host, typed.port, timeout=seconds, context=context)
        line = smtplib.SMTP(typed.host, typed.port, timeout=seconds)
        if context is None:
            return line
        try:
            line.starttls(context=context)
        except BaseException:
            line.close()
            raise
        return line


def smtp_sign_in(line: smtplib.SMTP, connection: ConnectionSettings, act: str) -> None:
    """NodeError beginning with `act` where the server does not let the user in."""
    typed = SmtpSettings.model_validate(connection.config)
    with smtp_errors(connection, act):
        line.ehlo_or_helo_if_needed()
        if typed.sign_in == "password":
            _sign_in(line, typed.user, connection.secrets.get("password", ""), act)


def _sign_in(line: smtplib.SMTP, user: str, password: str, act: str) -> None:
    if not (user.isascii() and password.isascii()):
        raise smtp_refused(f"{act}: user and password can hold no letters beyond ASCII; take another password")
    try:
        line.login(user, password)
    except smtplib.SMTPNotSupportedError:
        raise smtp_refused(f"{act}: the server takes no sign-in on this line; choose another security or port, or no sign-in") from None


@contextmanager
def smtp_errors(connection: ConnectionSettings, act: str) -> Iterator[None]:
    """What smtplib raises inside becomes a NodeError beginning with `act`."""
    try:
        yield
    except smtplib.SMTPResponseException as error:
        raise smtp_fault(connection, act, error.smtp_code, error.smtp_error) from None
    except smtplib.SMTPNotSupportedError:
        raise smtp_refused(f"{act}: the server offers no STARTTLS at this port; choose another security or port") from None
    except smtplib.SMTPServerDisconnected as error:
        raise smtp_away(act, str(error)) from None
    except smtplib.SMTPException:  # it offers no way to sign in that is known here
        raise smtp_refused(f"{act}: the server wants another way to sign in; PLAIN, LOGIN and CRAM-MD5 are known here") from None
    except (ssl.SSLEOFError, ssl.SSLZeroReturnError):
        raise smtp_away(act, "the line broke off while it was encrypted") from None
    except ssl.SSLCertVerificationError as error:
        raise tls_fault(error, act) from None
    except ssl.SSLError as error:
        raise smtp_refused(
            f"{act}: the line cannot be encrypted ({error.reason or error}); check security, port and certificates"
        ) from None
    except TimeoutError:
        raise smtp_away(act, "no answer in time; a port for TLS gives none to STARTTLS") from None
    except OSError as error:
        raise smtp_away(act, error.strerror or str(error)) from None


def smtp_fault(connection: ConnectionSettings, act: str, code: int, answer: bytes | str) -> NodeError:
    """What an answer from 400 on means that is about no single mail. Those from 500 on no later attempt changes."""
    words = smtp_words(connection, code, answer)
    if code < 500:
        told = SystemAway if code in _AWAY_CODES else NodeError
        return told(f"{act}: the server refuses for now ({words}); try later")
    if code in _SIGN_IN_CODES:
        sentence = f"{act}: the server refuses the sign-in ({words}); correct user or password of the connection"
        return SignInRefused(sentence, permanent=True, kind="user")
    return smtp_refused(f"{act}: the server refuses ({words}); correct the connection")


def smtp_puts_off(code: int, answer: bytes | str) -> bool:
    """Whether an answer to a recipient or a mail puts off that one alone: a grey list or a full mailbox, not a server in trouble
    (RFC 3463, 3.4).
    """
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return 400 <= code < 500 and code not in _AWAY_CODES and not text.lstrip().startswith("4.3.")


def smtp_words(connection: ConnectionSettings, code: int, answer: bytes | str) -> str:
    """Code and text of an answer, on one line; a server that repeats what signed in is not quoted with it."""
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    password = connection.secrets.get("password", "")
    user = str(connection.config.get("user", ""))
    for told in (f"\0{user}\0{password}", password) if password else ():
        text = text.replace(b64encode(told.encode()).decode(), "…").replace(told, "…")
    return " ".join(f"{code} {text}".split())[:_LONGEST_ANSWER]


def smtp_refused(message: str) -> NodeError:
    return NodeError(message, permanent=True, kind="user")


def smtp_away(act: str, why: str) -> SystemAway:
    return SystemAway(f"{act}: the mail server does not answer ({why}); check that it runs and can be reached")


def smtp_silent(connection: ConnectionSettings) -> str:
    """The server's name, as in "waiting for smtp office", when it takes no connection; else ""."""
    typed = SmtpSettings.model_validate(connection.config)
    return f"smtp {connection.name}" if is_silent(typed.host, typed.port) else ""
