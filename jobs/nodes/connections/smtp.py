"""Mail servers that e-mails are handed to."""

from __future__ import annotations

import smtplib
from collections.abc import Mapping
from typing import ClassVar

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, ConnectionKind, check_steps
from jobs.nodes.connections.reach import name_resolve, port_reach
from jobs.nodes.connections.smtp_client import SmtpSettings, smtp_errors, smtp_fault, smtp_greeted, smtp_sign_in


class SmtpConnection(ConnectionKind):
    kind = "smtp"
    title = "E-mail (SMTP)"
    icon = "mail"
    Config = SmtpSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password"}
    secrets_when: ClassVar[Mapping[str, str]] = {"password": "sign_in=password"}

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, TLS (or the greeting, without it), sign-in, sender. No mail is sent."""
        typed = SmtpSettings.model_validate(settings.config)
        check = _Check(settings, typed)
        try:
            return check_steps(
                ("name", lambda: name_resolve(typed.host)),
                ("port", lambda: port_reach(typed.host, typed.port)),
                ("greeting" if typed.security == "none" else "TLS", check.greeted),
                ("sign-in", check.signed_in),
                ("sender", check.sender_taken),
            )
        finally:
            check.close()


class _Check:
    """One line for all the steps behind the port."""

    def __init__(self, settings: ConnectionSettings, typed: SmtpSettings) -> None:
        self._settings, self._typed = settings, typed
        self._line: smtplib.SMTP | None = None

    def greeted(self) -> str:
        self._line = smtp_greeted(self._settings, "greeting")
        if self._typed.security == "none":
            return "the server greets; the line is not encrypted"
        return f"{self._line.sock.version()}, the certificate is valid for {self._typed.host}"  # type: ignore[union-attr]

    def signed_in(self) -> str:
        assert self._line is not None
        smtp_sign_in(self._line, self._settings, "signing in")
        return f"the server takes {self._typed.user}" if self._typed.sign_in == "password" else "nobody signs in"

    def sender_taken(self) -> str:
        assert self._line is not None
        with smtp_errors(self._settings, "naming the sender"):
            code, answer = self._line.mail(self._typed.sender)
            if code >= 400:
                raise smtp_fault(self._settings, f"naming the sender {self._typed.sender}", code, answer)
            self._line.rset()
        return f"the server takes mails from {self._typed.sender}"

    def close(self) -> None:
        if self._line is not None:
            self._line.close()
