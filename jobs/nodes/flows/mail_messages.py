"""From rows to the mails that tell of them."""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from jobs.nodes.connections.mail_address import mail_address
from jobs.nodes.flows.for_each_mail import ForEachMailConfig, to_parts
from jobs.nodes.places import text_filled, text_of

#: Seven bits go through every server.
_POLICY = SMTP.clone(cte_type="7bit")
_LONGEST_SUBJECT = 2000
#: Line breaks of every script, what steers a terminal, and halves of characters: no header holds them.
_UNFIT_FOR_HEADERS = frozenset({"Cc", "Cs", "Zl", "Zp"})


class Unsendable(Exception):
    """No mail can be made of these rows, and why."""


@dataclass(frozen=True)
class MailRow:
    """`number`: within what is looked at together; `place`: unique in its batch; `columns`: JSON texts of those that templates name."""

    number: int
    place: str
    columns: Mapping[str, str]


@dataclass
class MailRows:
    """The rows of one mail, in their order; `reason` where none can be made of them."""

    recipients: tuple[str, ...]
    rows: list[MailRow] = field(default_factory=list)
    reason: str = ""


@dataclass(frozen=True)
class Mails:
    """Makes the mails of one batch. `identity` is of job, node, generation and batch."""

    config: ForEachMailConfig
    sender: str
    identity: str

    def gathered(self, rows: Sequence[MailRow]) -> Iterator[MailRows]:
        """Rows with the same recipients together, `rows_per_mail` at most; in the order of their first rows."""
        mails: list[MailRows] = []
        filling: dict[tuple[str, ...], MailRows] = {}
        for row in rows:
            try:
                recipients = self._recipients(row)
            except Unsendable as unsendable:
                mails.append(MailRows((), [row], str(unsendable)))
                continue
            mail = filling.get(recipients)
            if mail is None or len(mail.rows) >= self.config.rows_per_mail:
                mail = filling[recipients] = MailRows(recipients)
                mails.append(mail)
            mail.rows.append(row)
        yield from mails

    def message(self, mail: MailRows) -> bytes:
        """The whole mail as it goes over the line. Unsendable where a column's value stands in the way."""
        first = mail.rows[0]
        made = EmailMessage(policy=_POLICY)
        made["From"] = self.sender
        made["To"] = ", ".join(mail.recipients)
        made["Subject"] = self._subject(first)
        made["Date"] = format_datetime(datetime.now(UTC))
        made["Message-ID"] = f"<{self._id(first, len(mail.rows))}@{self.sender.rpartition('@')[2]}>"
        made["Auto-Submitted"] = "auto-generated"  # no out-of-office note answers it
        made.set_content("\n\n".join(text_filled(self.config.text, _text_in(row)) for row in mail.rows))
        return made.as_bytes()

    def _recipients(self, row: MailRow) -> tuple[str, ...]:
        """Each part by itself is one address: a column's value cannot add another. Those that are left empty are left out."""
        filled = (text_filled(part, _text_in(row)).strip() for part in to_parts(self.config.to))
        try:
            found = tuple(dict.fromkeys(mail_address(text) for text in filled if text))
        except ValueError as error:
            raise Unsendable(str(error)) from None
        if not found:
            raise Unsendable("nobody is named to send the mail to")
        return found

    def _subject(self, row: MailRow) -> str:
        subject = text_filled(self.config.subject, _text_in(row)).replace("\t", " ")
        if any(unicodedata.category(letter) in _UNFIT_FOR_HEADERS for letter in subject):
            raise Unsendable("the subject holds a line break or another control character")
        if len(subject) > _LONGEST_SUBJECT:
            raise Unsendable(f"the subject has {len(subject):,} characters; {_LONGEST_SUBJECT:,} is the most")
        return subject

    def _id(self, first: MailRow, rows: int) -> str:
        """A hash: the parts together are longer than a line, and a node's id may hold what an id of a mail may not."""
        return hashlib.sha256(f"{self.identity}/{first.place}+{rows}".encode()).hexdigest()[:40]


def _text_in(row: MailRow) -> Callable[[str], str]:
    return lambda name: text_of(row.columns[name])
