"""What a job promises of its rows: in its draft and on its executions."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.api.rows import chain, execution, job, send

pytestmark = pytest.mark.django_db


def test_a_draft_and_an_execution_say_what_their_nodes_give(browser: Client, editor: User) -> None:
    made = job(editor)
    told = browser.get("/api/jobs/numbers/draft").json()["delivery"]
    assert told == {
        "guarantee": "at least once",
        "nodes": [
            {"node_id": "numbers", "name": "Numbers", "type": "source.generator", "guarantee": "exactly once"},
            {"node_id": "out", "name": "Out", "type": "sink.print", "guarantee": "at least once"},
        ],
    }
    run = execution(made)
    assert browser.get(f"/api/executions/{run.execution_id}").json()["delivery"] == told
    assert [row["delivery"] for row in browser.get("/api/executions").json()["results"]] == [None]


def test_it_follows_the_drawing(browser: Client, editor: User) -> None:
    job(editor)
    drawn = chain()
    drawn["nodes"]["out"] = {"type": "sink.none", "name": "Out", "config": {}}
    saved = send(browser, "PUT", "/api/jobs/numbers/draft", {"document": drawn}, **{"If-Match": '"1"'}).json()
    assert saved["delivery"]["guarantee"] == "exactly once"
    empty = send(browser, "PUT", "/api/jobs/numbers/draft", {"document": {**drawn, "nodes": {}, "edges": {}}}, **{"If-Match": '"2"'}).json()
    assert empty["delivery"] is None


def test_mails_are_told_of_beside_tables(browser: Client, editor: User) -> None:
    """The rows of a batch that is begun again are written once; its mails go out again."""
    job(editor)
    drawn = chain()
    drawn["nodes"] |= {
        "mail": {"type": "flow.for_each_mail", "name": "Mail", "config": {}},
        "out": {"type": "sink.none", "name": "Out", "config": {}},
    }
    told = send(browser, "PUT", "/api/jobs/numbers/draft", {"document": drawn}, **{"If-Match": '"1"'}).json()["delivery"]
    assert told["guarantee"] == "at least once"
    assert [(node["node_id"], node["guarantee"]) for node in told["nodes"]] == [
        ("numbers", "exactly once"),
        ("mail", "at least once"),
        ("out", "exactly once"),
    ]
