"""Making, reading, changing, publishing and deleting jobs over REST."""

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZipFile

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from jobs.api import exports
from jobs.models import AuditEntry, Execution, ExecutionStatus, Job, JobVersion, Project, Role, Worker
from jobs.services import jobs as jobs_service
from tests.api.rows import chain, codes, execution, job, member, send
from tests.api.test_routes import routes

pytestmark = pytest.mark.django_db


def test_a_posted_document_becomes_version_1_with_defaults_written_in(browser: Client) -> None:
    answer = send(browser, "POST", "/api/jobs", chain(title="All numbers"))
    assert answer.status_code == 201, answer.content
    made = answer.json()
    assert (made["version"], made["title"], made["job_type"], made["role"]) == (1, "All numbers", "STREAMING", "EDITOR")
    assert made["document"]["settings"]["rejected_rows"] == "dead_letter"
    assert made["draft"]["dirty"] is False
    assert AuditEntry.objects.filter(action="job published", object_id="numbers", actor="erin").exists()


def test_with_publish_false_only_a_draft_is_made(browser: Client) -> None:
    answer = send(browser, "POST", "/api/jobs", {**chain(), "publish": False})
    assert answer.status_code == 201
    assert answer.json()["version"] is None
    assert not JobVersion.objects.exists()


def test_a_document_with_problems_is_not_made(browser: Client) -> None:
    broken = chain()
    broken["edges"]["e1"]["to"] = ["nowhere", "in"]
    answer = send(browser, "POST", "/api/jobs", broken)
    assert answer.status_code == 422
    assert "edge.unknown_node" in codes(answer)
    assert not Job.objects.exists()


def test_a_half_drawn_draft_is_kept_with_its_problems(browser: Client) -> None:
    half = {**chain(), "edges": {}, "publish": False}
    assert send(browser, "POST", "/api/jobs", half).status_code == 201
    draft = browser.get("/api/jobs/numbers/draft").json()
    assert "port.missing" in [problem["code"] for problem in draft["problems"]]
    assert browser.get("/api/jobs/numbers").json()["problems"] > 0


def test_versions_are_told_page_by_page_to_the_first(browser: Client, editor: User) -> None:
    of = job(editor)
    JobVersion.objects.bulk_create(JobVersion(job=of, version=number, dag_definition="{}", logic_hash="") for number in range(2, 602))
    path = "/api/jobs/numbers/versions"
    newest = browser.get(path).json()
    assert [row["version"] for row in newest["results"]] == list(range(601, 101, -1))
    rest = browser.get(newest["next"]).json()
    assert ([row["version"] for row in rest["results"]], rest["next"]) == (list(range(101, 0, -1)), None)
    assert len(browser.get(path, {"page_size": 10}).json()["results"]) == 10


def test_a_name_that_is_taken_is_a_conflict(browser: Client, editor: User) -> None:
    job(editor)
    answer = send(browser, "POST", "/api/jobs", chain())
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "job.name_taken")


def test_no_new_job_is_called_as_an_address_beside_jobs(browser: Client) -> None:
    for word in {route.split("/")[2] for route in routes() if re.fullmatch(r"api/jobs/\w+", route)}:
        for publish in (True, False):
            answer = send(browser, "POST", "/api/jobs", {**chain(word), "publish": publish})
            assert (answer.status_code, answer.json()["error"]["problems"][0]["pointer"]) == (422, "/name"), word
            assert "is a reserved word: choose another name" in answer.json()["error"]["problems"][0]["message"]


def test_a_job_made_before_its_name_was_reserved_is_used_as_ever(browser: Client, editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_service, "RESERVED_FOR_NEW_JOBS", frozenset())
    job(editor, "defaults")
    assert browser.get("/api/jobs/defaults").json()["version"] == 1
    assert send(browser, "PATCH", "/api/jobs/defaults", {"title": "Renamed"}).json()["title"] == "Renamed"
    assert send(browser, "POST", "/api/jobs/defaults/publish", {}).json()["version"] == 2
    assert send(browser, "POST", "/api/jobs/defaults", {"document": chain()}).json()["document"]["settings"]["rejected_rows"]
    assert send(browser, "DELETE", "/api/jobs/defaults").status_code == 204
    assert browser.get("/api/jobs/defaults").status_code == 404


def test_a_title_changes_and_the_name_does_not(browser: Client, editor: User) -> None:
    job(editor)
    assert send(browser, "PATCH", "/api/jobs/numbers", {"title": "Renamed"}).json()["title"] == "Renamed"
    answer = send(browser, "PATCH", "/api/jobs/numbers", {"job_name": "other"})
    assert answer.status_code == 422
    assert answer.json()["error"]["problems"][0]["pointer"] == "/job_name"


def test_what_is_written_under_description_in_the_editor_is_the_jobs_once_published(browser: Client, editor: User) -> None:
    made = job(editor, publish=False)

    def drawn(title: str, description: str) -> None:
        draft = "/api/jobs/numbers/draft"
        revision = {"If-Match": str(browser.get(draft).json()["revision"])}
        body = {"document": chain(title=title, description=description)}
        assert send(browser, "PUT", draft, body, **revision).status_code == 200

    def told() -> list[tuple[str, str]]:
        made.refresh_from_db()
        exported = browser.get("/api/jobs/numbers/export").json()
        return [(made.title, made.description), (exported["title"], exported["description"])]

    drawn("Numbers", "Counts")
    assert told() == [("", ""), ("Numbers", "Counts")]
    send(browser, "POST", "/api/jobs/numbers/publish", {})
    assert told() == [("Numbers", "Counts")] * 2
    send(browser, "PATCH", "/api/jobs/numbers", {"title": "Renamed"})
    drawn("Numbers", "Counts on")
    assert told() == [("Renamed", "Counts")] * 2, "a draft is the job's own affair"
    send(browser, "POST", "/api/jobs/numbers/publish", {})
    assert told() == [("Renamed", "Counts on")] * 2, "the title was changed at the job since"


def test_a_job_is_deleted_softly_and_its_name_becomes_free(browser: Client, editor: User) -> None:
    done = execution(job(editor))
    assert send(browser, "DELETE", "/api/jobs/numbers").status_code == 204
    assert browser.get("/api/jobs/numbers").status_code == 404
    assert browser.get(f"/api/executions/{done.execution_id}").status_code == 200
    assert send(browser, "POST", "/api/jobs", chain()).status_code == 201


def test_a_job_with_an_unfinished_execution_is_not_deleted(browser: Client, editor: User) -> None:
    running = execution(job(editor), ExecutionStatus.RUNNING)
    answer = send(browser, "DELETE", "/api/jobs/numbers")
    assert answer.status_code == 409
    assert answer.json()["error"]["execution_id"] == running.execution_id
    assert browser.get("/api/jobs/numbers").json()["enabled"] is True


@pytest.mark.parametrize("status", ["SCHEDULED", "INITIALIZING", "RUNNING"])
def test_a_job_is_not_moved_while_an_execution_is_on_its_way(browser: Client, editor: User, elsewhere: Project, status: str) -> None:
    User.objects.update(is_superuser=True)
    running = execution(job(editor), status)
    refused = send(browser, "PATCH", "/api/jobs/numbers", {"project": "elsewhere"})
    assert (refused.status_code, refused.json()["error"]["execution_id"]) == (409, running.execution_id)
    assert refused.json()["error"]["message"] == f"execution {running.execution_id} is {status}: stop it first, then move the job"
    assert send(browser, "PATCH", "/api/jobs/numbers", {"title": "Renamed"}).status_code == 200
    Execution.objects.update(status="PAUSED")
    assert send(browser, "PATCH", "/api/jobs/numbers", {"project": "elsewhere"}).json()["project"] == "elsewhere"


def test_publishing_makes_the_next_version_and_versions_never_change(browser: Client, editor: User) -> None:
    job(editor)
    draft = browser.get("/api/jobs/numbers/draft").json()
    changed = chain(rows=7)
    saved = send(browser, "PUT", "/api/jobs/numbers/draft", {"document": changed}, if_match=f'"{draft["revision"]}"')
    assert saved.json()["dirty"] is True
    answer = send(browser, "POST", "/api/jobs/numbers/publish", {"comment": "seven"})
    assert (answer.status_code, answer.json()["version"]) == (200, 2)
    listed = browser.get("/api/jobs/numbers/versions").json()["results"]
    assert [(version["version"], version["comment"]) for version in listed] == [(2, "seven"), (1, "")]
    assert browser.get("/api/jobs/numbers/versions/1").json()["document"]["nodes"]["numbers"]["config"]["total_rows"] == 100
    assert browser.get("/api/jobs/numbers/versions/3").status_code == 404


def test_publishing_a_revision_that_somebody_has_saved_over_gets_409_with_who(
    browser: Client, editor: User, home: Project, client_of: Callable[[User], Client]
) -> None:
    job(editor)
    other = client_of(member(home, "otto", Role.EDITOR))
    assert send(other, "PUT", "/api/jobs/numbers/draft", {"document": chain(rows=9)}, if_match='"1"').status_code == 200
    answer = send(browser, "POST", "/api/jobs/numbers/publish", {"comment": "mine"}, if_match='"1"')
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "draft.conflict")
    assert answer.json()["error"]["conflict"]["updated_by"] == "otto"
    assert not JobVersion.objects.filter(version=2).exists()
    assert send(browser, "POST", "/api/jobs/numbers/publish", {}, if_match='"2"').json()["version"] == 2


def test_publishing_a_draft_with_problems_answers_them(browser: Client) -> None:
    send(browser, "POST", "/api/jobs", {**chain(), "edges": {}, "publish": False})
    answer = send(browser, "POST", "/api/jobs/numbers/publish", {})
    assert answer.status_code == 422
    assert answer.json()["error"]["code"] == "document.problems"
    assert "port.missing" in codes(answer)


def test_many_jobs_are_exported_as_one_archive_of_what_one_may_see(
    browser: Client, editor: User, stranger: User, client_of: Callable[[User], Client]
) -> None:
    names = [f"job-{index}" for index in range(12)]
    for name in names:
        job(editor, name)
    answer = send(browser, "POST", "/api/job-exports", {"names": [*names, names[0]]})
    assert (answer.status_code, answer["Content-Disposition"]) == (200, 'attachment; filename="jobs.zip"')
    with ZipFile(BytesIO(answer.content)) as archive:
        assert archive.namelist() == [f"{name}.json" for name in names]
        assert archive.read("job-3.json") == browser.get("/api/jobs/job-3/export").content
    assert send(client_of(stranger), "POST", "/api/job-exports", {"names": names}).status_code == 404
    assert send(browser, "POST", "/api/job-exports", {"names": []}).status_code == 422


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_an_export_can_be_imported_again(browser: Client, editor: User, kind: str) -> None:
    job(editor)
    exported = browser.get(f"/api/jobs/numbers/export?format={kind}")
    assert exported.status_code == 200
    assert f"numbers.{kind}" in exported["Content-Disposition"]
    imported = browser.post("/api/jobs/import", exported.content, content_type="application/octet-stream").json()
    assert imported["problems"] == []
    assert imported["document"]["nodes"]["numbers"]["config"]["total_rows"] == 100


def test_without_a_driver_no_script_is_written_and_other_formats_do_not_exist(browser: Client, editor: User) -> None:
    job(editor)
    refused = browser.get("/api/jobs/numbers/export?format=pyspark")
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "unavailable")
    assert "no interactive driver runs" in refused.json()["error"]["message"]
    assert browser.get("/api/jobs/numbers/export?format=exe").status_code == 422


def test_an_export_as_a_script_takes_values_of_parameters(
    browser: Client, editor: User, home: Project, client_of: Callable[[User], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    job(editor)
    asked: list[dict[str, Any]] = []

    def written(kind: str, payload: dict[str, Any], **_: Any) -> dict[str, Any]:
        asked.append(payload["parameters"])
        return {"problems": [], "text": "# a script"}

    monkeypatch.setattr(exports, "driver_answer", written)
    script = "/api/jobs/numbers/export?format=pyspark"
    assert browser.get(f"{script}&param=carrier=AA&param=where=a%3Db").content == b"# a script"
    assert asked == [{"carrier": "AA", "where": "a=b"}]
    refused = browser.get(f"{script}&param=carrier").json()["error"]["problems"]
    assert [(one["pointer"], one["message"]) for one in refused] == [("/param", 'write a parameter as name=value, not as "carrier"')]
    viewer = client_of(member(home, "vera", Role.VIEWER))
    assert (viewer.get(script).status_code, viewer.get(f"{script}&param=carrier=AA").status_code) == (200, 403)


def test_a_script_waits_for_the_driver_that_a_living_worker_starts(browser: Client, editor: User, monkeypatch: pytest.MonkeyPatch) -> None:
    job(editor)
    now = timezone.now()
    Worker.objects.create(name="worker@host", host="host", pid=1, start_time=now, heartbeat_time=now)
    monkeypatch.setattr(exports, "SCRIPT_SECONDS", 0.1)
    refused = browser.get("/api/jobs/numbers/export?format=pyspark")
    assert "no interactive driver answered within 0.1 s" in refused.json()["error"]["message"]


def test_start_answers_202_and_a_second_start_names_the_first(browser: Client, editor: User) -> None:
    job(editor)
    started = send(browser, "POST", "/api/jobs/numbers/start", {})
    assert started.status_code == 202
    again = send(browser, "POST", "/api/jobs/numbers/start", {})
    assert again.status_code == 409
    assert started.json()["execution_id"] in again.json()["error"]["message"]


def test_a_draft_only_job_does_not_start(browser: Client) -> None:
    send(browser, "POST", "/api/jobs", {**chain(), "publish": False})
    assert send(browser, "POST", "/api/jobs/numbers/start", {}).status_code == 409


@pytest.mark.parametrize(
    ("role", "method", "path", "body", "allowed"),
    [
        (Role.VIEWER, "GET", "/api/jobs/numbers", None, True),
        (Role.VIEWER, "POST", "/api/jobs/numbers/start", {}, False),
        (Role.VIEWER, "PUT", "/api/jobs/numbers/config", {"parallelism": 2}, False),
        (Role.OPERATOR, "POST", "/api/jobs/numbers/start", {}, True),
        (Role.OPERATOR, "POST", "/api/jobs/numbers/disable", {}, True),
        (Role.OPERATOR, "PUT", "/api/jobs/numbers/config", {"parallelism": 2}, True),
        (Role.OPERATOR, "PATCH", "/api/jobs/numbers", {"title": "no"}, False),
        (Role.OPERATOR, "POST", "/api/jobs/numbers/publish", {}, False),
        (Role.OPERATOR, "POST", "/api/connections", {"name": "x", "kind": "sqlite", "config": {"path": "x.db"}}, False),
        (Role.EDITOR, "PATCH", "/api/jobs/numbers", {"title": "yes"}, True),
        (Role.EDITOR, "PATCH", "/api/jobs/numbers", {"project": "elsewhere"}, False),
    ],
)
def test_each_role_may_do_what_it_may(
    editor: User, home: Project, elsewhere: Project, role: Role, method: str, path: str, body: object, allowed: bool
) -> None:
    job(editor)
    client = Client()
    client.force_login(member(home, "rita", role))
    answer = send(client, method, path, body)
    assert (answer.status_code < 300) is allowed, answer.content
    if not allowed:
        assert answer.status_code == 403
        assert f"you are {role}: ask an administrator of the installation" in answer.json()["error"]["message"]
