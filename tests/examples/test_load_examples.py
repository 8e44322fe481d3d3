"""Loading the examples, and setting one back."""

import sqlite3
from contextlib import closing
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from jobs.models import AuditEntry, Connection, Execution, Job, JobDraft, Project
from jobs.nodes.connections.sqlite import sqlite_open
from jobs.selectors.refusals import Forbidden, NotFound
from jobs.services.connections import connection_open
from jobs.services.examples import EXAMPLES, example_document, example_reset, examples_load, incoming_folder
from jobs.services.executions import ExecutionConflict, execution_start
from jobs.services.flights import day_feed
from jobs.services.jobs import job_create, job_delete
from tests.dag.graphs import chain

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def copied_files(tmp_path_factory):
    return tmp_path_factory.mktemp("files")


@pytest.fixture(autouse=True)
def file_root(copied_files, settings):
    settings.FILE_ROOTS = [copied_files]
    return copied_files


@pytest.fixture
def admin():
    return User.objects.create_superuser("ada")


def load() -> str:
    written = StringIO()
    call_command("load_examples", stdout=written)
    return written.getvalue()


@pytest.mark.slow
def test_published_jobs_and_two_connections_are_made(admin):
    load()
    jobs = {job.job_name: job for job in Job.objects.all()}
    assert jobs.keys() == EXAMPLES.keys()
    assert {job.version for job in jobs.values()} == {1}
    assert {job.project.slug for job in jobs.values()} == {"default"}
    assert {job.job_type for job in jobs.values()} == {"STREAMING", "BATCH_ROLLER", "SQL_TASK"}
    assert {row.name: row.kind for row in Connection.objects.all()} == {"example-warehouse": "sqlite", "demo-api": "http_api"}


def test_an_example_keeps_where_its_nodes_are_drawn(admin):
    load()
    for draft in JobDraft.objects.all():
        assert draft.layout["positions"].keys() == example_document(draft.job.job_name)["nodes"].keys()


def test_loading_again_does_nothing(admin):
    load()
    assert load() == ""


def test_a_deleted_example_stays_deleted(admin):
    load()
    job_delete(job=Job.objects.get(job_name="carrier-delays"), user=admin)
    load()
    assert not Job.objects.filter(job_name="carrier-delays", deleted_at=None).exists()


def test_the_demo_connection_follows_a_changed_address(admin, settings):
    load()
    settings.DEMO_API_URL = "http://127.0.0.1:9999/demo/api"
    assert "demo-api" in load()
    row = Connection.objects.get(name="demo-api")
    assert row.config["base_url"] == "http://127.0.0.1:9999/demo/api"
    assert settings.DEMO_API_TOKEN in connection_open(row).secrets.values()


def test_a_connection_somebody_made_his_own_is_left_alone(admin, settings):
    load()
    Connection.objects.filter(name="demo-api").update(description="Ours")
    settings.DEMO_API_URL = "http://127.0.0.1:9999/demo/api"
    assert load() == ""


def test_without_the_demo_api_its_job_is_left_out(admin, settings):
    settings.EMBEDDED = False
    load()
    assert sorted(Job.objects.values_list("job_name", flat=True)) == sorted(EXAMPLES.keys() - {"flights-import"})


def test_without_a_superuser_the_remedy_is_told():
    with pytest.raises(CommandError, match="createsuperuser"):
        load()


def streaming_example(admin) -> Job:
    list(examples_load(user=admin))
    return Job.objects.get(job_name="departures-per-hour")


def test_a_reset_empties_the_folder_and_the_table(admin, file_root):
    job = streaming_example(admin)
    assert day_feed(incoming_folder())
    with closing(sqlite3.connect(file_root / "flights" / "warehouse.sqlite3")) as warehouse:
        warehouse.execute("CREATE TABLE departures_per_hour (flights)")
        warehouse.execute("CREATE TABLE other (flights)")
        example_reset(job=job, user=admin)
        assert list(incoming_folder().iterdir()) == []
        assert [row[0] for row in warehouse.execute("SELECT name FROM sqlite_master")] == ["other"]
        warehouse.execute("DROP TABLE other")
    assert day_feed(incoming_folder()) == "2013-01-01"
    assert (file_root / "flights" / "flights.csv").exists()


@pytest.mark.parametrize("status", ["RUNNING", "INITIALIZING", "SCHEDULED"])
def test_a_reset_is_refused_while_an_execution_runs_or_waits(admin, status):
    job = streaming_example(admin)
    running = unfinished(job, status)
    with pytest.raises(ExecutionConflict, match=f"{running.execution_id} is {status}: stop it first"):
        example_reset(job=job, user=admin)
    with pytest.raises(CommandError, match=status):
        call_command("reset_example", "departures-per-hour")


def test_a_reset_ends_a_paused_execution(admin):
    job = streaming_example(admin)
    paused = unfinished(job, "PAUSED")
    example_reset(job=job, user=admin)
    paused.refresh_from_db()
    assert (paused.status, paused.end_time is not None) == ("CANCELLED", True)
    event = paused.events.latest("seq")
    assert (event.from_status, event.to_status, event.actor, event.reason) == ("PAUSED", "CANCELLED", "ada", "the example was reset")
    assert AuditEntry.objects.get(action="example reset").detail == {"cancelled": paused.execution_id}
    assert execution_start(job=job, user=admin, triggered_by="MANUAL").generation != paused.generation


def unfinished(job: Job, status: str) -> Execution:
    return Execution.objects.create(
        job=job, job_name=job.job_name, job_type=job.job_type, version=1, generation=job.job_uid, status=status, triggered_by="MANUAL"
    )


def test_after_a_reset_the_next_start_begins_anew(admin):
    job = streaming_example(admin)
    first = execution_start(job=job, user=admin, triggered_by="MANUAL")
    Execution.objects.update(status="CANCELLED", attempt=1)
    again = execution_start(job=job, user=admin, triggered_by="MANUAL")
    assert again.generation == first.generation
    Execution.objects.update(status="CANCELLED", attempt=1)
    example_reset(job=job, user=admin)
    anew = execution_start(job=job, user=admin, triggered_by="MANUAL")
    assert anew.generation != first.generation


def test_a_refused_reset_changes_nothing(admin):
    job = streaming_example(admin)
    day_feed(incoming_folder())
    execution_start(job=job, user=admin, triggered_by="MANUAL")
    with pytest.raises(ExecutionConflict):
        example_reset(job=job, user=admin)
    job.refresh_from_db()
    assert job.reset_time is None
    assert any(incoming_folder().iterdir())


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_a_warehouse_that_others_write_to_holds_up_nobody_but_the_reset(admin, file_root, monkeypatch):
    Project.objects.get_or_create(slug="default", defaults={"title": "Default"})
    job = streaming_example(admin)
    paused = unfinished(job, "PAUSED")
    row = Connection.objects.get(name="example-warehouse")
    Connection.objects.filter(pk=row.pk).update(config=row.config | {"busy_timeout_seconds": 1})
    opened_in = []

    def opened(*given):
        opened_in.append(connection.in_atomic_block)
        return sqlite_open(*given)

    monkeypatch.setattr("jobs.services.examples.sqlite_open", opened)
    browser = Client()
    browser.force_login(admin)
    with closing(sqlite3.connect(file_root / "flights" / "warehouse.sqlite3", isolation_level=None)) as warehouse:
        warehouse.execute("CREATE TABLE departures_per_hour (flights)")
        warehouse.execute("BEGIN IMMEDIATE")
        refused = browser.post(f"/api/examples/{job.job_name}/reset", {}, content_type="application/json")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "example.in_use")
        assert "database is locked" in refused.json()["error"]["message"]
        paused.refresh_from_db()
        assert (paused.status, opened_in) == ("CANCELLED", [False])
        warehouse.execute("COMMIT")
        assert browser.post(f"/api/examples/{job.job_name}/reset", {}, content_type="application/json").status_code == 200
        assert warehouse.execute("SELECT name FROM sqlite_master").fetchall() == []


def test_an_execution_that_began_while_things_were_emptied_is_told(admin, monkeypatch):
    job = streaming_example(admin)
    monkeypatch.setattr("jobs.services.examples._leavings_remove", lambda *_: unfinished(job, "SCHEDULED"))
    with pytest.raises(ExecutionConflict, match="began while the example was reset: stop it"):
        example_reset(job=job, user=admin)
    began = Execution.objects.get()
    job.refresh_from_db()
    assert job.reset_time is not None
    assert began.create_time < job.reset_time


def test_a_job_that_is_no_example_cannot_be_reset(admin):
    with pytest.raises(NotFound):
        example_reset(job=job_create(user=admin, document=chain(), publish=False), user=admin)


def test_only_an_editor_resets(admin):
    job = streaming_example(admin)
    viewer = User.objects.create_user("val")
    job.project.members.create(user=viewer, role="VIEWER")
    with pytest.raises(Forbidden):
        example_reset(job=job, user=viewer)


def test_resetting_over_rest(admin):
    job = streaming_example(admin)
    browser = Client()
    browser.force_login(admin)
    examples = browser.get("/api/examples").json()["results"]
    assert [row["job_name"] for row in examples] == sorted(EXAMPLES)
    assert all(row["title"] and row["version"] for row in examples)
    day_feed(incoming_folder())
    answer = browser.post(f"/api/examples/{job.job_name}/reset", {}, content_type="application/json")
    assert (answer.status_code, answer.json()["job_name"]) == (200, job.job_name)
    assert not any(incoming_folder().iterdir())
    execution_start(job=job, user=admin, triggered_by="MANUAL")
    refused = browser.post(f"/api/examples/{job.job_name}/reset", {}, content_type="application/json")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "execution.unfinished")
    assert browser.post("/api/examples/nothing/reset", {}, content_type="application/json").status_code == 404


def test_resetting_by_command(admin):
    streaming_example(admin)
    written = StringIO()
    call_command("reset_example", "departures-per-hour", stdout=written)
    assert "starts over" in written.getvalue()
