"""A task's line to its mail server: kept open over mails, opened again where it broke, at a pace."""

from __future__ import annotations

import random
import smtplib
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from tenacity import RetryCallState, Retrying, retry_if_exception, stop_after_attempt

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.smtp_client import SmtpSettings, smtp_errors, smtp_fault, smtp_opened, smtp_puts_off, smtp_words
from jobs.nodes.http_pace import Pace
from jobs.nodes.retry_note import RetryNote

_LONGEST_PAUSE_SECONDS = 60.0
#: So much longer than a pause and an attempt takes a note of them holds.
_NOTE_SECONDS = 5.0
#: "Authentication required" (RFC 4954, 6): about nobody's mail.
_UNSIGNED = 530


class _PutOff(NodeError):
    """The server may take this mail later. `reason`: why it is refused, if it is not."""

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class MailLine:
    """A context manager around one connection."""

    def __init__(
        self,
        connection: ConnectionSettings,
        *,
        attempts: int,
        timeout_seconds: float,
        mails_per_minute: int,
        note: RetryNote,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._connection = connection
        self._sender = SmtpSettings.model_validate(connection.config).sender
        self._attempts, self._timeout, self._note, self._sleep = attempts, timeout_seconds, note, sleep
        self._act = f'sending by smtp "{connection.name}"'
        self._pace = Pace(mails_per_minute / 60, sleep=sleep)
        self._line: smtplib.SMTP | None = None

    def __enter__(self) -> MailLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._hang_up()

    def send(self, recipients: Sequence[str], message: bytes) -> str:
        """ "" once the server took it for all recipients, else why it went to none, also where it is still put off at the last attempt.

        NodeError where it is not this mail that is refused.
        """
        retrying = Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=_pause,
            retry=retry_if_exception(lambda error: isinstance(error, NodeError) and not error.permanent),
            sleep=self._sleep,
            before_sleep=self._tell,
            reraise=True,
        )
        try:
            return retrying(self._sent, recipients, message)
        except _PutOff as error:
            return error.reason
        finally:
            if retrying.statistics.get("attempt_number", 1) > 1:
                self._note.clear()

    def rest(self) -> None:
        """Until the next mail may follow, as another task would send it: each begins with a pace of its own."""
        self._pace.rest()

    def _sent(self, recipients: Sequence[str], message: bytes) -> str:
        self._pace.wait()
        try:
            with smtp_errors(self._connection, self._act):
                return self._handed_over(self._open(), recipients, message)
        except BaseException:
            self._hang_up()
            raise

    def _open(self) -> smtplib.SMTP:
        """A server hangs up on a line that was silent for some minutes, without a fault of anybody."""
        if self._line is not None and not _answers(self._line):
            self._hang_up()
        if self._line is None:
            self._line = smtp_opened(self._connection, self._act, seconds=self._timeout)
        return self._line

    def _handed_over(self, line: smtplib.SMTP, recipients: Sequence[str], message: bytes) -> str:
        code, answer = line.mail(self._sender)
        if not _is_taken(code):
            raise smtp_fault(self._connection, f"{self._act}: the sender {self._sender}", code, answer)
        for recipient in recipients:
            said = line.rcpt(recipient)
            if words := self._refusal(*said):
                return self._refused(line, f"the server refuses the address {recipient}: {words}", *said)
        answered = _data(line, message)
        if words := self._refusal(*answered):
            return self._refused(line, f"the server refuses the mail: {words}", *answered)
        return ""

    def _refused(self, line: smtplib.SMTP, reason: str, code: int, answer: bytes | str) -> str:
        """`reason`; raised where the server may take the mail later."""
        if smtp_puts_off(code, answer):
            raise _PutOff(smtp_fault(self._connection, self._act, code, answer).message, reason)
        self._take_back(line)
        return reason

    def _take_back(self, line: smtplib.SMTP) -> None:
        """What was said of a mail that is refused. Some servers hang up by themselves then."""
        try:
            line.rset()
        except OSError:
            self._hang_up()

    def _refusal(self, code: int, answer: bytes | str) -> str:
        """The server's words against this mail, "" if it took it. NodeError where it is in trouble itself, or wants another sign-in."""
        if _is_taken(code):
            return ""
        fault = smtp_fault(self._connection, self._act, code, answer)
        if code == _UNSIGNED or not (fault.permanent or smtp_puts_off(code, answer)):
            raise fault
        return smtp_words(self._connection, code, answer)

    def _hang_up(self) -> None:
        """Without a farewell, which a server that is away would be waited for."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _tell(self, state: RetryCallState) -> None:
        """Until the next attempt has had its time, the server is waited for."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, NodeError):
            pause = state.next_action.sleep if state.next_action else 0.0
            self._note.tell(error.message.partition("; ")[0], pause + 2 * self._timeout + _NOTE_SECONDS)


def _data(line: smtplib.SMTP, message: bytes) -> tuple[int, bytes | str]:
    """What the server says of the mail, before it comes or behind it."""
    try:
        return line.data(message)
    except smtplib.SMTPDataError as error:
        return error.smtp_code, error.smtp_error


def _is_taken(code: int) -> bool:
    """smtplib gives -1 for what is no answer at all."""
    return 200 <= code < 400


def _answers(line: smtplib.SMTP) -> bool:
    try:
        return line.noop()[0] == 250
    except OSError:
        return False


def _pause(state: RetryCallState) -> float:
    """Twice as long each time, with jitter, so that many tasks do not return at once."""
    ceiling = min(2.0 ** (state.attempt_number - 1), _LONGEST_PAUSE_SECONDS)
    return ceiling / 2 + random.random() * ceiling / 2
