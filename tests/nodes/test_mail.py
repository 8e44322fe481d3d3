"""`flow.for_each_mail` and connections of kind `smtp` against a real server: what arrives, what is refused, and what a test of one says."""

import re
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from jobs.nodes.base import REJECTED, ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep
from jobs.nodes.connections.mail_address import mail_address
from jobs.nodes.connections.smtp import SmtpConnection
from jobs.nodes.flows.for_each_mail import ForEachMail, ForEachMailConfig
from jobs.nodes.flows.mail_line import MailLine
from jobs.nodes.flows.mail_messages import MailRow, MailRows, Mails, Unsendable
from jobs.nodes.retry_note import RetryNote
from jobs.nodes.worker_errors import node_error_in
from scripts.ports import free_port
from tests.nodes.conftest import Build
from tests.servers.certificate import self_signed
from tests.servers.smtp import PASSWORD, USER, SmtpServer
from tests.servers.waiting import wait_until

MAIL = {"connection": "office", "to": "${email}", "subject": "No. ${id}", "text": "${name} is late", "mails_per_minute": 100_000}
SCHEMA = "id int, email string, name string"
Mailed = Callable[..., list[Any]]


def office(server: SmtpServer, password: str = PASSWORD, **change: Any) -> ConnectionSettings:
    return ConnectionSettings("office", "smtp", server.config(**change), {"password": password})


def checked(settings: ConnectionSettings) -> list[CheckStep]:
    return SmtpConnection().check(settings, Limits())


def names(steps: list[CheckStep]) -> list[tuple[str, bool]]:
    return [(step.name, step.ok) for step in steps]


@pytest.fixture
def mailed(spark: SparkSession, build: Build) -> Mailed:
    """`mailed(server, rows, **config)`: the rows as they go on, with the reasons of those rejected."""

    def sent(server: SmtpServer, rows: list[tuple[Any, ...]], *, settings: ConnectionSettings | None = None, **config: Any) -> list[Any]:
        return list(_applied(spark, build, settings or office(server), rows, config).collect())

    return sent


def _applied(spark: SparkSession, build: Build, settings: ConnectionSettings, rows: list[tuple[Any, ...]], config: Any) -> DataFrame:
    built = build("flow.for_each_mail", {**MAIL, **config}, connections={"office": settings}, is_run=True)
    frame: DataFrame = built.node.apply({"in": [spark.createDataFrame(rows, SCHEMA).coalesce(1)]}, built.context)
    return frame


def reasons(rows: list[Any]) -> list[str | None]:
    return [row[REJECTED] for row in rows]


@pytest.mark.parametrize("security", ["starttls", "tls", "none"])
@pytest.mark.parametrize("sign_in", [True, False], ids=["signed in", "anybody"])
def test_a_connection_is_tested_step_by_step(security: Any, sign_in: bool) -> None:
    with SmtpServer(security, sign_in) as server:
        steps = checked(office(server))
        assert server.mails == []
    second = "greeting" if security == "none" else "TLS"
    assert names(steps) == [(name, True) for name in ("name", "port", second, "sign-in", "sender")]
    assert steps[2].message.endswith("the certificate is valid for 127.0.0.1" if security != "none" else "the line is not encrypted")
    assert steps[3].message == ("the server takes pipeline" if sign_in else "nobody signs in")


def test_a_test_says_at_which_step_and_why_it_fails() -> None:
    with SmtpServer("starttls", sign_in=True) as server:
        unknown = checked(office(server, host="no-such-host.invalid"))
        silent = checked(office(server, port=free_port()))
        untrusted = checked(office(server, certificate_authority=self_signed()[0]))
        no_certificate = checked(office(server, certificate_authority="of nobody"))
        wrong = checked(office(server, password="wrong-4712"))
        unsigned = checked(office(server, sign_in="none"))
        server.answer_sender = lambda address: "550 5.7.1 not yours"
        sender = checked(office(server))
    assert names(unknown) == [("name", False)]
    assert names(silent)[-1] == ("port", False)
    assert names(untrusted)[-1] == ("TLS", False)
    assert "the certificate is not trusted (self" in untrusted[-1].message
    assert no_certificate[-1].message == "greeting: the certificate authority is no PEM certificate; correct it in the connection"
    assert names(wrong)[-1] == ("sign-in", False)
    assert re.fullmatch(
        r"signing in: the server refuses the sign-in \(535 .*\); correct user or password of the connection", wrong[-1].message
    )
    assert names(unsigned)[-1] == ("sender", False)
    assert "the server refuses the sign-in (530 5.7.0 Authentication required)" in unsigned[-1].message
    assert sender[-1].message == (
        "naming the sender pipeline@example.com: the server refuses (550 5.7.1 not yours); correct the connection"
    )


def test_a_test_says_that_the_line_is_encrypted_otherwise() -> None:
    with SmtpServer("none") as plain, SmtpServer("tls") as encrypted:
        no_starttls = checked(office(plain, security="starttls"))
        no_tls = checked(office(plain, security="tls"))
        no_user = checked(office(plain, sign_in="password", user=USER))
        opened = time.monotonic()
        with pytest.raises(NodeError, match=r"no answer in time; a port for TLS gives none to STARTTLS|does not answer"):
            from jobs.nodes.connections.smtp_client import smtp_opened

            smtp_opened(office(encrypted, security="starttls"), "asking", seconds=0.5)
        assert time.monotonic() - opened < 5
    assert no_starttls[-1].message == "greeting: the server offers no STARTTLS at this port; choose another security or port"
    assert "the line cannot be encrypted (WRONG_VERSION_NUMBER); check security, port" in no_tls[-1].message
    assert no_user[-1].message.startswith("signing in: the server takes no sign-in on this line")


def test_the_password_is_in_no_sentence() -> None:
    """Some servers answer a wrong sign-in with what they were told."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        for _ in range(2):  # the step of the port, and the line
            line, _ = listener.accept()
            with line, line.makefile("rwb") as talk:
                talk.write(b"220 here\r\n")
                try:
                    talk.flush()
                    for said in talk:
                        offers = b"250-here\r\n250 AUTH PLAIN\r\n" if said.startswith(b"ehlo") else b"535 5.7.8 wrong: " + said
                        talk.write(offers)
                        talk.flush()
                except OSError:
                    continue

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    config = {"host": "127.0.0.1", "port": listener.getsockname()[1], "security": "none", "user": "jo", "sender": "a@example.com"}
    last = checked(ConnectionSettings("office", "smtp", config, {"password": PASSWORD}))[-1]
    listener.close()
    assert (last.name, last.ok) == ("sign-in", False)
    assert "535 5.7.8 wrong: AUTH PLAIN …" in last.message
    assert PASSWORD not in last.message


def test_letters_that_a_sign_in_cannot_hold_are_told() -> None:
    with SmtpServer("none", sign_in=True) as server:
        last = checked(office(server, password="pässword"))[-1]
    assert last.message == "signing in: user and password can hold no letters beyond ASCII; take another password"


@pytest.mark.parametrize("text", ["jo@example.com", " jo.o+x@mail.example.com ", "o'neil@example.co", "jo@exämple.de"])
def test_an_address(text: str) -> None:
    assert mail_address(text).isascii()
    assert "xn--" in mail_address(text) or mail_address(text) == text.strip()


@pytest.mark.parametrize(
    "text",
    ["", "jo", "jo@", "@x", "a@b, c@d", "a b@c", "Jo <a@b.c>", "a@b\n.c", "a@b\r\nDATA", "jö@example.com", "a..b@c", "a" * 260 + "@b"],
)
def test_what_is_no_address(text: str) -> None:
    with pytest.raises(ValueError, match="is no e-mail address"):
        mail_address(text)


def row(number: int = 0, **columns: str) -> MailRow:
    return MailRow(number, str(number), columns)


def mails(**config: Any) -> Mails:
    given = {**MAIL, "to": "a@example.com", "subject": "s", "text": "t", **config}
    return Mails(ForEachMailConfig.model_validate(given), "pipeline@example.com", "job/node/generation/7")


@pytest.mark.parametrize("told", ["x\nBcc: all@example.com", "x\r\nBcc: all@example.com", "x\rBcc: y", "x\u2028y", "x\x00y", "x\x0by"])
def test_a_value_cannot_add_a_header(told: str) -> None:
    import json

    given = mails(subject="${name}")
    with pytest.raises(Unsendable, match="the subject holds a line break or another control character"):
        given.message(MailRows(("a@example.com",), [row(name=json.dumps(told))]))


@pytest.mark.parametrize("told", ["a@example.com, b@example.com", "a@example.com\\nBcc: b@example.com", "a@example.com>\\r\\nDATA", "Jo"])
def test_a_value_cannot_add_a_recipient(told: str) -> None:
    (mail,) = mails(to="${email}").gathered([row(email=f'"{told}"')])
    assert "is no e-mail address" in mail.reason


def test_a_place_that_is_never_closed_is_warned_of() -> None:
    config = ForEachMailConfig(connection="mail", to="${email}", subject="Order ${n is late", text="${n}")
    context: Any = SimpleNamespace(config=config)
    assert [(caution.field, caution.message.split(" is written")[0]) for caution in ForEachMail().cautions(context, [])] == [
        ("subject", "${n is late")
    ]


def test_a_recipient_that_is_empty_is_left_out_and_one_named_twice_gets_one_mail() -> None:
    given = mails(to="${a}, ${b},c@example.com")
    (mail,) = given.gathered([row(a="null", b='"c@example.com"')])
    assert mail.recipients == ("c@example.com",)
    (nobody,) = mails(to="${a}").gathered([row(a='" "')])
    assert nobody.reason == "nobody is named to send the mail to"


def test_rows_for_the_same_recipients_share_mails_in_the_order_of_their_first_rows() -> None:
    to = ["x@a.de", "y@a.de", "x@a.de", "no", "x@a.de", "y@a.de"]
    gathered = list(mails(to="${to}", rows_per_mail=2).gathered([row(number, to=f'"{one}"') for number, one in enumerate(to)]))
    assert [[one.number for one in mail.rows] for mail in gathered] == [[0, 2], [1, 5], [3], [4]]
    assert [bool(mail.reason) for mail in gathered] == [False, False, True, False]


def test_a_message_id_is_of_generation_batch_and_place() -> None:
    def told(given: Mails, *rows: MailRow) -> str:
        found = re.search(rb"Message-ID: <([0-9a-f]{40})@example.com>\r\n", given.message(MailRows(("a@example.com",), list(rows))))
        assert found
        return found[1].decode()

    assert told(mails(), row(3)) == told(mails(), row(3))
    other = Mails(mails().config, "pipeline@example.com", "job/node/generation/8")
    assert len({told(mails(), row(3)), told(mails(), row(4)), told(mails(), row(3), row(4)), told(other, row(3))}) == 4


@pytest.mark.spark
def test_mails_arrive_with_their_subject_and_text_and_the_rows_go_on_as_they_came(mailed: Mailed) -> None:
    long = "Grüße, 你好 " * 200
    with SmtpServer("starttls", sign_in=True) as server:
        rows = mailed(
            server,
            [(1, "jo@example.com", long), (2, None, ".\n..dots\r\n😀"), (3, "mo@example.com", None)],
            to="${email}, ops@example.com",
            subject="Nr. ${id} für $${id} 你好",
        )
        assert server.lines == 2, "one line, once before it is encrypted and once behind"
    assert reasons(rows) == [None, None, None]
    assert [(one.id, one.email, one.name) for one in rows][1] == (2, None, ".\n..dots\r\n😀")
    first, second, third = server.mails
    assert (first.sender, first.recipients) == ("pipeline@example.com", ["jo@example.com", "ops@example.com"])
    assert second.recipients == ["ops@example.com"]
    assert first.message["Subject"] == "Nr. 1 für ${id} 你好"
    assert (first.message["From"], first.message["To"]) == ("pipeline@example.com", "jo@example.com, ops@example.com")
    assert first.message["Date"].datetime.utcoffset() is not None
    assert (first.text, second.text, third.text) == (f"{long} is late", ".\n..dots\n😀 is late", " is late")


@pytest.mark.spark
def test_one_mail_tells_of_several_rows(mailed: Mailed) -> None:
    rows: list[tuple[Any, ...]] = [(number, "a@a.de" if number % 3 else "b@a.de", f"n{number}") for number in range(7)]
    with SmtpServer() as server:
        assert reasons(mailed(server, rows, rows_per_mail=3, text="${name}")) == [None] * 7
    assert [(mail.recipients, mail.message["Subject"], mail.text) for mail in server.mails] == [
        (["b@a.de"], "No. 0", "n0\n\nn3\n\nn6"),
        (["a@a.de"], "No. 1", "n1\n\nn2\n\nn4"),
        (["a@a.de"], "No. 5", "n5"),
    ]


@pytest.mark.spark
def test_rows_whose_mail_is_refused_are_rejected_with_the_servers_words(mailed: Mailed) -> None:
    with SmtpServer() as server:
        server.answer_recipient = lambda address: "550 5.1.1 who is that" if address == "no@a.de" else "250 OK"
        server.answer_mail = lambda message: "552 5.3.4 too much" if "big" in message["Subject"] else "250 OK"
        addresses = ["jo@a.de", "no@a.de", "mo@a.de", "a@a.de\nBcc: b@a.de", "jo@a.de"]
        told = ["a", "b", "big", "c", "d"]
        rows = [(number, one, name) for number, (one, name) in enumerate(zip(addresses, told, strict=True))]
        found = reasons(mailed(server, rows, subject="${name}"))
        assert server.lines == 1, "a refusal leaves the line open"
    assert found == [
        None,
        "the server refuses the address no@a.de: 550 5.1.1 who is that",
        "the server refuses the mail: 552 5.3.4 too much",
        r"'a@a.de\nBcc: b@a.de' is no e-mail address; write one such as jo@example.com",
        None,
    ]
    assert [mail.message["Subject"] for mail in server.mails] == ["a", "d"]


@pytest.mark.spark
def test_a_mail_that_one_of_its_recipients_is_refused_for_goes_to_none(mailed: Mailed) -> None:
    with SmtpServer() as server:
        server.answer_recipient = lambda address: "550 no" if address == "no@a.de" else "250 OK"
        rows = mailed(server, [(1, "jo@a.de", "x"), (2, "mo@a.de", "x")], to="${email}, no@a.de", rows_per_mail=2)
    assert [bool(reason) for reason in reasons(rows)] == [True, True]
    assert server.mails == []


@pytest.mark.spark
def test_a_wrong_sign_in_is_no_rows_fault_and_names_the_connection(mailed: Mailed) -> None:
    with SmtpServer(sign_in=True) as server:
        with pytest.raises(Exception, match="node error") as caught:
            mailed(server, [(1, "jo@a.de", "x")], settings=office(server, password="wrong-4712"))
    carried = node_error_in(str(caught.value))
    assert carried is not None
    assert carried.error.message.startswith('sending by smtp "office": the server refuses the sign-in (535')
    assert (carried.error.permanent, carried.error.outage) == (True, "sign-in")
    assert "wrong-4712" not in str(caught.value)


def line(server: SmtpServer, folder: Path, **given: Any) -> MailLine:
    options: dict[str, Any] = {"attempts": 5, "timeout_seconds": 5, "mails_per_minute": 100_000, "note": RetryNote.of(folder), **given}
    return MailLine(office(server), **options)


def test_a_server_that_is_away_is_waited_for_and_the_wait_is_told(tmp_path: Path) -> None:
    with SmtpServer("starttls", sign_in=True) as server, line(server, tmp_path) as one:
        assert one.send(["a@a.de"], b"Subject: 1\r\n\r\none") == ""
        server.stop()
        sending = threading.Thread(target=lambda: one.send(["a@a.de"], b"Subject: 2\r\n\r\ntwo"))
        sending.start()
        note = RetryNote.of(tmp_path)
        wait_until(lambda: "the mail server does not answer" in note.words(), seconds=10, what="a note")
        server.start()
        sending.join(30)
        assert [mail.message["Subject"] for mail in server.mails] == ["1", "2"]
        assert note.words() == ""


def test_a_mail_that_the_server_puts_off_is_tried_again_and_then_refused(tmp_path: Path) -> None:
    waited: list[float] = []
    tried: list[str] = []
    with SmtpServer() as server, line(server, tmp_path, attempts=3, sleep=waited.append) as one:
        server.answer_recipient = lambda address: tried.append(address) or "451 4.7.1 grey list"  # type: ignore[func-returns-value]
        assert one.send(["a@a.de"], b"x") == "the server refuses the address a@a.de: 451 4.7.1 grey list"
        assert len(tried) == 3
        assert len([seconds for seconds in waited if seconds > 0.1]) == 2
        server.answer_recipient = lambda address: "250 OK"
        assert one.send(["b@a.de"], b"Subject: 2\r\n\r\ntwo") == ""


@pytest.mark.parametrize("answer", ["450 mailbox busy", "452 4.2.2 mailbox full"])
def test_a_mail_that_is_put_off_once_the_server_has_it_is_refused_too(tmp_path: Path, answer: str) -> None:
    with SmtpServer() as server, line(server, tmp_path, attempts=1) as one:
        server.answer_mail = lambda message: answer
        assert one.send(["a@a.de"], b"x") == f"the server refuses the mail: {answer}"


@pytest.mark.parametrize(("answer", "outage"), [("421 4.3.2 going down", "away"), ("452 4.3.1 no room for mails", "")])
def test_a_server_that_is_in_trouble_fails_as_external_whatever_mail_it_is(tmp_path: Path, answer: str, outage: str) -> None:
    with SmtpServer() as server, line(server, tmp_path, attempts=1) as one:
        server.answer_recipient = lambda address: answer
        with pytest.raises(NodeError, match=r'sending by smtp "office": the server refuses for now') as caught:
            one.send(["a@a.de"], b"x")
    assert (caught.value.permanent, caught.value.kind, caught.value.outage) == (False, "external", outage)


def test_a_line_on_which_the_server_hung_up_is_opened_anew_without_a_word(tmp_path: Path) -> None:
    with SmtpServer() as server, line(server, tmp_path, attempts=1) as one:
        assert one.send(["a@a.de"], b"x") == ""
        server.stop()
        server.start()
        assert one.send(["a@a.de"], b"x") == ""
        assert (len(server.mails), server.lines) == (2, 2)


def test_mails_keep_their_pace_and_the_next_task_keeps_it_too(tmp_path: Path) -> None:
    waited: list[float] = []
    with SmtpServer() as server, line(server, tmp_path, mails_per_minute=6, sleep=waited.append) as one:
        one.rest()
        assert waited == []
        one.send(["a@a.de"], b"x")
        one.send(["a@a.de"], b"x")
        one.rest()
    assert [round(seconds) for seconds in waited] == [10, 20]


def test_who_is_waited_for(build: Build) -> None:
    away = ConnectionSettings("office", "smtp", {"host": "127.0.0.1", "port": free_port(), "sender": "a@example.com"})
    built = build("flow.for_each_mail", MAIL, connections={"office": away}, is_run=True)
    assert built.node.needs_to_begin(built.context) == built.node.waits_for(built.context) == "smtp office"
    looked_at = build("flow.for_each_mail", MAIL, connections={"office": away})
    assert looked_at.node.needs_to_begin(looked_at.context) == ""
    with SmtpServer() as server:
        there = build("flow.for_each_mail", MAIL, connections={"office": office(server)}, is_run=True)
        assert there.node.waits_for(there.context) == ""
        RetryNote.of(there.context.work_dir).tell("grey list", 60)
        assert there.node.waits_for(there.context) == "smtp office (grey list)"
        assert there.node.needs_to_begin(there.context) == ""
