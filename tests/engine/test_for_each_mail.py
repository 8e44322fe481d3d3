"""Mails for rows, in whole jobs: one for a row and a batch, however the rows go on, and none where nothing runs."""

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jobs.dag.pipeline_tests import PipelineTest
from jobs.engine.failure import ExecutionFailure
from jobs.engine.pipeline_test import pipeline_test_run
from jobs.engine.plan import Plan
from jobs.engine.preview import preview
from jobs.nodes.base import ConnectionSettings, Limits
from tests.engine.graphs import COLLECT, REGISTRY, Bench, document, files, numbers
from tests.servers.smtp import SmtpServer

pytestmark = pytest.mark.spark

MAIL: tuple[str, dict[str, Any]] = (
    "flow.for_each_mail",
    {"connection": "office", "to": "ops@example.com", "subject": "${id}", "text": "No. ${id}", "mails_per_minute": 100_000},
)


def mailing(bench: Bench, server: SmtpServer, read: Any, **given: Any) -> Plan:
    return replace(bench.plan(read, **given), connections={"office": ConnectionSettings("office", "smtp", server.config())})


def mailed(server: SmtpServer) -> list[int]:
    return sorted(int(mail.message["Subject"]) for mail in server.mails)


@pytest.mark.parametrize("kind", ["BATCH_ROLLER", "SQL_TASK"])
def test_each_row_is_mailed_once_and_goes_on_as_it_came(bench: Bench, kind: str) -> None:
    nodes = {"gen": numbers(30, 10), "mail": MAIL, "a": files("a"), "b": files("b")}
    with SmtpServer() as server:
        run, heard = bench.run(mailing(bench, server, document(nodes, "gen>mail, mail>a, mail>b", type=kind)))
        assert run.wait(120) == "completed"
        assert mailed(server) == list(range(30))
    assert (heard.rows("mail", "rows_in"), heard.rows("mail"), heard.rows("mail", "rejected")) == (30, 30, 0)
    assert sorted(row.id for row in bench.parquet("a")) == sorted(row.id for row in bench.parquet("b")) == list(range(30))


def test_refused_rows_leave_by_the_errors_port_with_what_the_server_said(bench: Bench) -> None:
    nodes = {"gen": numbers(10, 5), "mail": MAIL, "good": files("good"), "bad": files("bad")}
    with SmtpServer() as server:
        server.answer_mail = lambda message: "554 5.7.1 not this one" if int(message["Subject"]) % 5 == 0 else "250 OK"
        run, heard = bench.run(mailing(bench, server, document(nodes, "gen>mail, mail>good, mail.errors>bad")))
        assert run.wait(90) == "completed"
    bad = bench.parquet("bad")
    assert sorted(row.id for row in bad) == [0, 5]
    assert "the server refuses the mail: 554 5.7.1 not this one" in bad[0].rejected_reason
    assert (heard.rows("mail"), heard.rows("mail", "rejected")) == (8, 2)


def test_a_job_that_fails_at_rejected_rows_sends_no_further(bench: Bench) -> None:
    nodes = {"gen": numbers(100, 100), "mail": (MAIL[0], {**MAIL[1], "rows_per_mail": 2}), "out": files("out")}
    with SmtpServer() as server:
        server.answer_mail = lambda message: "554 5.7.1 not this one" if int(message["Subject"]) >= 4 else "250 OK"
        run, _ = bench.run(mailing(bench, server, document(nodes, "gen>mail, mail>out", settings={"rejected_rows": "fail"})))
        with pytest.raises(ExecutionFailure, match=r"the server refuses the mail: 554 5\.7\.1 not this one") as caught:
            run.wait(90)
        assert mailed(server) == [0, 2]
    assert caught.value.node_id == "mail"


def test_a_server_that_is_killed_and_comes_back_is_waited_for_and_the_batch_goes_on(bench: Bench) -> None:
    nodes = {"gen": numbers(20, 20), "mail": MAIL, "out": files("out")}
    with SmtpServer() as server:
        away = threading.Event()

        def answer(message: Any) -> str:
            if message["Subject"] == "5" and not away.is_set():
                away.set()
                return "421 4.3.2 going down"
            return "250 OK"

        server.answer_mail = answer
        run, _ = bench.run(mailing(bench, server, document(nodes, "gen>mail, mail>out")))
        assert away.wait(60)
        server.stop()
        threading.Timer(1.5, server.start).start()
        assert run.wait(120) == "completed"
        assert mailed(server) == list(range(20))
    assert len(bench.parquet("out")) == 20


def test_a_job_whose_server_stays_away_fails_at_the_node_as_external(bench: Bench) -> None:
    nodes = {"gen": numbers(3, 3), "mail": (MAIL[0], {**MAIL[1], "attempts": 1}), "out": files("out")}
    with SmtpServer() as server:
        server.answer_recipient = lambda address: "451 4.3.0 local error"
        run, _ = bench.run(mailing(bench, server, document(nodes, "gen>mail, mail>out")))
        with pytest.raises(ExecutionFailure, match=r"the server refuses for now \(451 4\.3\.0 local error\)") as caught:
            run.wait(90)
    assert (caught.value.node_id, caught.value.kind) == ("mail", "external")


def test_a_recipient_whose_mail_is_put_off_rejects_its_row_and_the_others_get_theirs(bench: Bench) -> None:
    nodes = {"gen": numbers(4, 4), "mail": (MAIL[0], {**MAIL[1], "to": "no${id}@example.com", "attempts": 1}), "out": files("out")}
    with SmtpServer() as server:
        server.answer_recipient = lambda address: "452 4.2.2 mailbox full" if "no2" in address else "250 OK"
        run, heard = bench.run(mailing(bench, server, document(nodes, "gen>mail, mail>out")))
        assert run.wait(90) == "completed"
        assert mailed(server) == [0, 1, 3]
    assert (heard.rows("mail"), heard.rows("mail", "rejected")) == (3, 1)


def test_a_batch_that_is_begun_again_has_the_ids_it_had(bench: Bench) -> None:
    """The sink fails behind the mails of the second batch."""
    read = document({"gen": numbers(6, 3), "mail": MAIL, "out": ("sink.fail", {})}, "gen>mail, mail>out")
    ids: list[list[tuple[str, str]]] = []
    for attempt in (1, 2):
        with SmtpServer() as server:
            plan = mailing(bench, server, read, generation="9f", attempt=attempt)
            run, _ = bench.run(plan if attempt == 1 else replace(plan, fresh=False))
            with pytest.raises(ExecutionFailure):
                run.wait(90)
            ids.append([(mail.message["Subject"], mail.message["Message-ID"]) for mail in server.mails])
    first, again = ids
    assert [subject for subject, _ in first] == ["0", "1", "2", "3", "4", "5"]
    assert again == first[3:]
    assert len({name for _, name in first}) == 6


def test_a_preview_and_a_test_of_the_job_send_nothing(bench: Bench, tmp_path: Path) -> None:
    test = {"name": "passes", "given": {"gen": [{"id": 1}]}, "expect": {"out": [{"id": 1}]}, "only_columns": True}
    with SmtpServer() as server:
        connections = {"office": ConnectionSettings("office", "smtp", server.config())}
        read = document({"gen": numbers(10), "mail": MAIL, "out": COLLECT}, "gen>mail, mail>out")
        seen = preview(bench.spark, read, "out", rows=5, connections=connections, limits=Limits(), registry=REGISTRY)
        assert seen["not_acted"] == ["mail"]
        tested = document({"gen": numbers(10), "mail": MAIL, "out": ("sink.print", {})}, "gen>mail, mail>out")
        tested = tested.model_copy(update={"tests": (PipelineTest.model_validate(test),)})
        assert pipeline_test_run(bench.spark, tested, 0, folder=tmp_path / "tests").status == "passed"
        assert (server.mails, server.lines) == ([], 0)


def test_a_password_that_is_changed_at_the_server_ends_the_attempt_as_a_refused_sign_in(bench: Bench) -> None:
    """So a stream that worked is tried again until the connection has the new one."""
    nodes = {"gen": numbers(3, 3), "mail": MAIL, "out": files("out")}
    with SmtpServer(sign_in=True) as server:
        plan = mailing(bench, server, document(nodes, "gen>mail, mail>out"))
        office = ConnectionSettings("office", "smtp", server.config(), {"password": "old-4713"})
        run, _ = bench.run(replace(plan, connections={"office": office}))
        with pytest.raises(ExecutionFailure, match="the server refuses the sign-in") as caught:
            run.wait(90)
        assert server.mails == []
    assert (caught.value.node_id, caught.value.outage) == ("mail", "sign-in")
