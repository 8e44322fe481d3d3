"""Acts that take something away or touch many at once, each by its buttons."""

import re
from zipfile import ZipFile

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.numbers import ask, execution, numbers_document, numbers_start, stopped, until
from tests.servers.product import Product

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(500)]

#: About two seconds of work for each row: a batch of them outlasts every click.
SLOW = "aggregate(sequence(1, 100000), id, (a, x) -> a + aggregate(sequence(1, 300), 0L, (b, y) -> b + y))"


def answered(page: Page, words: str) -> None:
    expect(page.locator(".pw-answer", has_text=words).first).to_be_visible(timeout=30_000)


def more(page: Page, job: str, act: str) -> None:
    page.get_by_role("button", name=f"More for {job}", exact=True).click()
    page.get_by_role("menuitem", name=act, exact=True).click()


def test_chosen_jobs_start_export_and_stop_together(page: Page) -> None:
    names = ["many-one", "many-two"]
    for name in names:
        ask(page, "POST", "/api/jobs", numbers_document(name))
    page.goto("/jobs?q=many-")
    for name in names:
        page.get_by_role("checkbox", name=f"Choose {name}", exact=True).check()
    expect(page.get_by_text("2 jobs chosen")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("button", name="Export 2").click()
    answered(page, "2 jobs exported")
    assert download.value.suggested_filename == "jobs.zip"
    with ZipFile(download.value.path()) as archive:
        assert sorted(archive.namelist()) == [f"{name}.json" for name in names]
    page.get_by_role("button", name="Start 2").click()
    answered(page, "2 jobs started")
    rows = page.get_by_role("table", name="Jobs").locator("tbody tr:not([aria-hidden])")
    expect(rows.filter(has_text="RUNNING")).to_have_count(2, timeout=90_000)
    page.get_by_role("checkbox", name="Choose all shown").check()
    page.get_by_role("button", name="Stop 2").click()
    answered(page, "2 jobs stop")
    expect(rows.filter(has_text="PAUSED")).to_have_count(2, timeout=90_000)


def test_an_example_is_reset(page: Page) -> None:
    page.goto("/jobs?q=carrier")
    more(page, "carrier-delays", "Reset example…")
    page.get_by_role("dialog").get_by_role("button", name="Reset the example").click()
    answered(page, "Carrier delays is as it came")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_stopped_example_is_reset_and_its_execution_ends(page: Page) -> None:
    execution_id = str(ask(page, "POST", "/api/jobs/departures-per-hour/start").json()["execution_id"])
    until(page, "it runs", lambda: execution(page, execution_id)["status"] == "RUNNING")
    stopped(page, execution_id)
    page.goto("/jobs?q=departures")
    more(page, "departures-per-hour", "Reset example…")
    page.get_by_role("dialog").get_by_role("button", name="Reset the example").click()
    answered(page, "Departures per hour is as it came")
    assert execution(page, execution_id)["status"] == "CANCELLED"


def test_a_job_with_parameters_asks_for_their_values(page: Page) -> None:
    document = numbers_document("with-parameters")
    document["parameters"] = {"rows": {"type": "integer", "default": 40, "description": "How many"}}
    document["nodes"]["rows"]["config"]["total_rows"] = "${rows}"
    ask(page, "POST", "/api/jobs", document)
    page.goto("/jobs?q=with-parameters")
    page.get_by_role("table", name="Jobs").get_by_role("button", name="Run", exact=True).click()
    dialog = page.get_by_role("dialog", name="Run With parameters")
    expect(dialog.get_by_label("rows")).to_have_value("40")
    dialog.get_by_label("rows").fill("25")
    dialog.get_by_role("button", name="Start", exact=True).click()
    answered(page, "started")
    started = ask(page, "GET", "/api/jobs/with-parameters").json()["latest_execution"]
    assert started["parameters"] == {"rows": 25}
    until(page, "its rows are written", lambda: execution(page, started["execution_id"])["written_records"] >= 25)
    assert stopped(page, started["execution_id"])["written_records"] == 25


def test_a_batch_that_does_not_end_is_thrown_away_by_force(page: Page, product: Product) -> None:
    document = numbers_document("slow-batch")
    columns = {"columns": [{"name": "slow", "expression": SLOW}]}
    document["nodes"]["work"] = {"type": "flow.compute_columns", "type_version": 1, "name": "Work", "config": columns}
    document["edges"] = {"e1": {"from": ["rows", "out"], "to": ["work", "in"]}, "e2": {"from": ["work", "out"], "to": ["table", "in"]}}
    ask(page, "POST", "/api/jobs", document)
    execution_id = ask(page, "POST", "/api/jobs/slow-batch/start").json()["execution_id"]
    page.goto(f"/executions/{execution_id}")
    expect(page.get_by_text("RUNNING", exact=True).first).to_be_visible(timeout=90_000)
    generation = execution(page, execution_id)["generation"]
    until(page, "its batch has begun", lambda: any(product.data.glob(f"checkpoints/**/{generation}/**/offsets/0")))
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Cancel…").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel…").click()
    answered(page, "Cancel asked for: it ends at the batch boundary")
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_role("menuitem", name="Force the end…").click()
    page.get_by_role("dialog").get_by_role("button", name="Force the end…").click()
    answered(page, "It is being ended without waiting")
    expect(page.get_by_text("CANCELLED", exact=True).first).to_be_visible(timeout=60_000)
    assert execution(page, execution_id)["status"] == "CANCELLED"


def test_a_job_is_deleted(page: Page) -> None:
    ask(page, "POST", "/api/jobs", numbers_document("to-be-deleted"))
    page.goto("/jobs?q=to-be-deleted")
    more(page, "to-be-deleted", "Delete…")
    page.get_by_role("dialog").get_by_role("button", name="Delete the job").click()
    answered(page, "to-be-deleted deleted")
    expect(page.get_by_text("No job fits these filters")).to_be_visible()


def test_a_key_of_several_lines_keeps_them_and_is_not_shown(page: Page) -> None:
    page.goto("/connections?new=1")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Kafka").click()
    dialog.get_by_text("tls", exact=True).click()
    key = dialog.get_by_label("The client certificate's PEM key")
    key.fill("-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n")
    assert key.input_value().count("\n") == 3
    assert key.evaluate("element => getComputedStyle(element).webkitTextSecurity") == "disc"


def test_a_connection_is_made_corrected_and_deleted(page: Page) -> None:
    page.goto("/connections?new=1")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="HTTP API").click()
    dialog.get_by_label("Name").fill("short-lived")
    dialog.get_by_label("Base URL").fill("api.example.com")
    expect(dialog.locator("input[type=password]")).to_have_count(0)
    dialog.get_by_role("combobox", name="Auth").or_(dialog.get_by_role("textbox", name="Auth")).first.click()
    page.get_by_role("option", name="bearer").click()
    expect(dialog.locator("input[type=password]")).to_have_count(1)
    dialog.get_by_label("Token").fill("canary-0815")
    dialog.get_by_label("Base URL").fill("https://api.example.com")
    dialog.get_by_role("button", name="Keep the connection").click()
    panel = page.get_by_role("complementary", name="short-lived")
    expect(panel).to_be_visible()
    assert "canary-0815" not in page.content()
    panel.get_by_role("button", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the connection").click()
    answered(page, "short-lived deleted")
    expect(page.get_by_role("table", name="Connections").get_by_text("short-lived")).to_have_count(0)


def test_a_checkpoint_is_deleted(page: Page) -> None:
    execution_id = numbers_start(page, "checkpointed")
    until(page, "rows are written", lambda: execution(page, execution_id)["written_records"] > 0)
    page.goto(f"/executions/{execution_id}?tab=checkpoints")
    page.get_by_role("button", name="Checkpoint now").click()
    answered(page, "Checkpoint asked for")
    until(page, "it is complete", lambda: "COMPLETED" in _states(page, execution_id))
    stopped(page, execution_id)
    before = _states(page, execution_id)
    page.get_by_role("tabpanel").get_by_role("table", name="Checkpoints").locator("tbody tr:not([aria-hidden])").last.click()
    detail = page.get_by_role("complementary", name=re.compile(r"Checkpoint \d+"))
    detail.get_by_role("button", name="What to do with this checkpoint").click()
    page.get_by_role("menuitem", name="Delete…").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete the checkpoint").click()
    answered(page, "deleted")
    assert _states(page, execution_id) == [*before[:-1], "EXPIRED"]


def _states(page: Page, execution_id: str) -> list[str]:
    found = ask(page, "GET", f"/api/executions/{execution_id}/checkpoints").json()["results"]
    return [one["status"] for one in found]


def test_a_token_is_made_and_revoked(page: Page) -> None:
    page.goto("/")
    page.get_by_role("button", name=re.compile("Menu of")).click()
    page.get_by_role("menuitem", name="API tokens…").click()
    dialog = page.get_by_role("dialog", name="API tokens")
    dialog.get_by_label("What it is for").fill("nightly export")
    dialog.get_by_role("button", name="Make a token").click()
    token = dialog.get_by_label("The new token").input_value()
    bearer = {"Authorization": f"Bearer {token}"}
    with_token = page.context.browser.new_context().request  # type: ignore[union-attr]
    address = page.url.split("/?")[0].rstrip("/")
    assert with_token.get(f"{address}/api/me", headers=bearer).json()["username"] == "admin"
    dialog.get_by_role("button", name="Revoke nightly export").click()
    dialog.get_by_role("button", name="Revoke", exact=True).click()
    answered(page, "opens nothing any more")
    assert with_token.get(f"{address}/api/me", headers=bearer).status == 401
