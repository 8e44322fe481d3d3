"""How an execution's rows kept the rules of its job, over REST."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.engine.events import BatchWritten, NodeCounts
from jobs.models import Execution, ExecutionStatus, QueryProgress
from jobs.reporting.counts import Counts
from tests.api.rows import chain, execution, job, send

pytestmark = pytest.mark.django_db

RULES = [
    {"name": "known ${what}", "condition": "id is not null"},
    {"name": "small", "condition": "id < 5", "action": "warn"},
    {"name": "sane", "condition": "true", "action": "fail"},
]


def ruled_run(editor: User, browser: Client) -> Execution:
    """Of a job whose node `ask` has RULES, published."""
    made = job(editor)
    drawn = chain(parameters={"what": {"type": "string", "default": "id"}})
    drawn["nodes"]["ask"] = {"type": "flow.expectations", "name": "Ask", "config": {"rules": RULES}}
    drawn["edges"] = {"e1": {"from": ["numbers", "out"], "to": ["ask", "in"]}, "e2": {"from": ["ask", "out"], "to": ["out", "in"]}}
    saved = send(browser, "PUT", "/api/jobs/numbers/draft", {"document": drawn}, **{"If-Match": '"1"'})
    assert saved.status_code == 200, saved.content
    made.refresh_from_db()
    published = send(browser, "POST", "/api/jobs/numbers/publish", {}, **{"If-Match": '"2"'})
    assert published.status_code in (200, 201), published.content
    made.refresh_from_db()
    return execution(made, ExecutionStatus.RUNNING)


def counted(run: Execution, *batches: dict[str, int]) -> None:
    counts = Counts([])
    for number, broken in enumerate(batches):
        rejected = broken["known id"]
        nodes = {"ask": NodeCounts(100, 100 - rejected, rejected, tallies=broken)}
        kept = counts.batch(BatchWritten("out", number, rows_in=100, rows_out=100 - rejected, rejected=rejected, nodes=nodes))
    QueryProgress.objects.create(execution=run, query=kept.query, batch_id=kept.batch_id, base=kept.base, latest=kept.latest)


def test_every_rule_is_told_with_the_rows_that_broke_it(browser: Client, editor: User) -> None:
    run = ruled_run(editor, browser)
    path = f"/api/executions/{run.execution_id}/expectations"
    before = browser.get(path).json()["results"]
    assert [(row["rule"], row["action"], row["checked"], row["broken"], row["share"]) for row in before] == [
        ("known id", "drop", 0, 0, None),
        ("small", "warn", 0, 0, None),
        ("sane", "fail", 0, 0, None),
    ]
    assert browser.get(path).json()["scores"] == [{"node_id": "ask", "node_name": "Ask", "checked": 0, "score": None}]
    counted(run, {"known id": 10, "small": 0, "sane": 0}, {"known id": 0, "small": 50, "sane": 0})
    after = browser.get(path).json()["results"]
    assert [(row["node_id"], row["node_name"], row["rule"], row["checked"], row["broken"], row["share"]) for row in after] == [
        ("ask", "Ask", "known id", 200, 10, 0.05),
        ("ask", "Ask", "small", 200, 50, 0.25),
        ("ask", "Ask", "sane", 200, 0, 0.0),
    ]
    assert browser.get(path).json()["scores"] == [{"node_id": "ask", "node_name": "Ask", "checked": 200, "score": 0.9}]


def test_the_rule_that_ended_the_run_is_told(browser: Client, editor: User) -> None:
    run = ruled_run(editor, browser)
    said = 'a row breaks the rule "sane": {"id":3}; mend the data, or let the rule warn or drop'
    Execution.objects.filter(pk=run.pk).update(status=ExecutionStatus.FAILED, error_node_id="ask", error_message=said)
    rows = browser.get(f"/api/executions/{run.execution_id}/expectations").json()["results"]
    assert [row["rule"] for row in rows if row["ended"]] == ["sane"]


def test_a_job_without_rules_has_none(browser: Client, editor: User) -> None:
    run = execution(job(editor))
    assert browser.get(f"/api/executions/{run.execution_id}/expectations").json() == {"results": [], "scores": []}
