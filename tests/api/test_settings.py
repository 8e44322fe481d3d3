"""Settings laid over a job, its schedule, and documents that are only looked at."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from jobs import queue
from jobs.api import analysis, documents
from jobs.dag.problems import Problem
from jobs.models import Job, JobConfig, JobSchedule, Project, ProjectMember, Role
from jobs.scheduling.firing import schedules_tick
from jobs.selectors.awaited_tables import tables_awaited
from jobs.services.drafts import draft_save
from tests.api.rows import chain, codes, job, member, send

pytestmark = pytest.mark.django_db
CONFIG = "/api/jobs/numbers/config"


@pytest.fixture(autouse=True)
def _job(editor: User) -> None:
    job(editor)


def values() -> dict[str, tuple[str, str]]:
    return {row.config_key: (row.config_value, row.config_type) for row in JobConfig.objects.all()}


def test_settings_are_replaced_as_a_mapping_or_as_a_list(browser: Client) -> None:
    assert send(browser, "PUT", CONFIG, {"parallelism": 4, "backpressure.strategy": "drop"}).status_code == 200
    assert values() == {"parallelism": ("4", "INT"), "backpressure.strategy": ("DROP", "STRING")}
    send(browser, "PUT", CONFIG, {"results": [{"config_key": "checkpoint.interval", "config_value": "30000"}]})
    assert values() == {"checkpoint.interval": ("30000", "INT")}
    assert send(browser, "PUT", CONFIG, {"config_key": "checkpoint.interval", "config_value": 0}).status_code == 200
    assert values() == {"checkpoint.interval": ("0", "INT")}
    send(browser, "PUT", CONFIG, {"config_key": "team.color", "config_value": {"a": 1}})
    assert values()["team.color"] == ('{"a": 1}', "JSON")
    assert len(browser.get(CONFIG).json()["results"]) == 2
    send(browser, "DELETE", f"{CONFIG}?key=team.color")
    assert list(values()) == ["checkpoint.interval"]
    assert send(browser, "DELETE", CONFIG).json()["results"] == []


def test_two_people_at_the_settings_take_nothing_off_from_each_other(browser: Client) -> None:
    send(browser, "PUT", CONFIG, {"parallelism": 4, "team.limit": 7})
    read = {row["config_key"]: row["update_time"] for row in browser.get(CONFIG).json()["results"]}
    theirs = [
        {"config_key": "checkpoint.interval", "config_value": "30000", "seen": None},
        {"config_key": "team.limit", "config_value": None, "seen": read["team.limit"]},
    ]
    assert send(browser, "PATCH", CONFIG, {"results": theirs}).status_code == 200
    mine = {"config_key": "parallelism", "config_value": "8", "seen": read["parallelism"]}
    assert send(browser, "PATCH", CONFIG, {"results": [mine]}).status_code == 200
    kept = values()
    assert kept == {"parallelism": ("8", "INT"), "checkpoint.interval": ("30000", "INT")}
    for same in (mine, theirs[1], {**theirs[0], "config_value": "60000"}):
        other = {"config_key": "max.retry.times", "config_value": "3", "seen": None}
        refused = send(browser, "PATCH", CONFIG, {"results": [other, same]})
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "config.changed")
        assert f"somebody changed {same['config_key']} meanwhile" in refused.json()["error"]["message"]
    assert values() == kept


def test_a_schedule_that_somebody_else_set_since_it_was_read_stays(browser: Client) -> None:
    path = "/api/jobs/numbers/schedule"
    body = {"schedule_type": "CRON", "cron_expression": "0 6 * * *", "time_zone": "UTC", "enabled": True}
    made = send(browser, "PUT", path, body, if_none_match="*").json()
    assert send(browser, "PUT", path, body, if_none_match="*").json()["error"]["code"] == "schedule.changed"
    JobSchedule.objects.update(last_trigger_time=timezone.now())  # it fired
    theirs = send(browser, "PUT", path, {**body, "enabled": False}, if_match=f'"{made["revision"]}"')
    assert theirs.status_code == 200
    refused = send(browser, "PUT", path, {**body, "cron_expression": "0 7 * * *"}, if_match=f'"{made["revision"]}"')
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "schedule.changed")
    assert browser.get(path).json()["enabled"] is False
    assert send(browser, "PUT", path, body).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"parallelism": "many"},
        {"parallelism": 0},
        {"checkpoint.interval": 10},
        {"checkpoint.rows": -1},
        {"checkpoint.storage": ""},
        {"checkpoint.timeout": 999},
        {"checkpoint.max.concurrent": 2},
        {"checkpoint.tolerable.failures": -2},
        {"checkpoint.on.cancel": "BURN"},
        {"checkpoint.each.page": 2},
        {"backpressure.strategy": "PRAY"},
        {"parallelism": None},
        {"Bad Key": 1},
        {"results": [{"config_key": "parallelism", "config_value": "true", "config_type": "BOOLEAN"}]},
        {"results": [{"config_key": "x", "config_value": "{", "config_type": "JSON"}]},
        {"results": [{"config_key": "x", "config_value": 1}, {"config_key": "x", "config_value": 2}]},
        {"results": [{"config_key": "x", "config_value": "maybe", "config_type": "BOOLEAN"}]},
    ],
)
def test_a_value_of_the_wrong_type_is_a_problem_and_nothing_is_kept(browser: Client, body: dict[str, Any]) -> None:
    answer = send(browser, "PUT", CONFIG, body)
    assert answer.status_code == 422
    assert answer.json()["error"]["problems"]
    assert not JobConfig.objects.exists()


def test_a_slip_in_a_key_is_told_and_a_key_that_stands_there_is_left(browser: Client) -> None:
    """It would have had no effect, and nobody would have known."""
    answer = send(browser, "PUT", CONFIG, {"checkpoint.retentoin": 5})
    assert answer.status_code == 422
    assert "this key is written checkpoint.retention" in answer.json()["error"]["problems"][0]["message"]
    JobConfig.objects.create(job=Job.objects.get(), config_key="checkpoint.retentoin", config_value="5", config_type="INT")
    assert send(browser, "PUT", CONFIG, {"checkpoint.retentoin": 6, "team.retention": 1}).status_code == 200
    assert set(values()) == {"checkpoint.retentoin", "team.retention"}


@pytest.mark.parametrize(("query", "status"), [("config_key=team.color", 422), ("key=", 422), ("key=team.colour", 404)])
def test_a_question_that_names_no_setting_takes_nothing_off(browser: Client, query: str, status: int) -> None:
    send(browser, "PUT", CONFIG, {"parallelism": 3, "team.color": "green"})
    assert send(browser, "DELETE", f"{CONFIG}?{query}").status_code == status
    assert set(values()) == {"parallelism", "team.color"}


def test_the_known_keys_are_told(browser: Client) -> None:
    known = {key["config_key"]: key["config_type"] for key in browser.get(CONFIG).json()["known"]}
    assert known["max.retry.times"] == "INT"
    assert {key: kind for key, kind in known.items() if key.startswith("checkpoint.retention")} == {
        "checkpoint.retention": "INT",
        "checkpoint.retention.age": "INT",
        "checkpoint.retention.bytes": "INT",
    }
    assert len(known) == 20


def test_a_cron_schedule_shows_its_next_five_times_and_words(browser: Client) -> None:
    path = "/api/jobs/numbers/schedule"
    assert browser.get(path).status_code == 204
    answer = send(browser, "PUT", path, {"schedule_type": "CRON", "cron_expression": "30 6 * * *", "time_zone": "Europe/Berlin"})
    assert answer.status_code == 200, answer.content
    shown = browser.get(path).json()
    assert len(shown["next_times"]) == 5
    assert shown["next_trigger_time"] == shown["next_times"][0]
    assert "06:30" in shown["words"]
    assert send(browser, "DELETE", path).status_code == 204
    assert browser.get(path).status_code == 204


def test_jobs_without_a_next_start_are_listed_as_such(browser: Client, editor: User) -> None:
    for name in ("never", "manual"):
        job(editor, name)
    send(browser, "PUT", "/api/jobs/numbers/schedule", {"cron_expression": "30 6 * * *"})
    send(browser, "PUT", "/api/jobs/manual/schedule", {"schedule_type": "MANUAL"})
    for asked, names in (("true", ["numbers"]), ("false", ["manual", "never"])):
        found = browser.get("/api/jobs", {"scheduled": asked}).json()["results"]
        assert sorted(row["job_name"] for row in found) == names


def test_a_schedule_tells_what_became_of_its_last_times(browser: Client) -> None:
    path = "/api/jobs/numbers/schedule"
    send(browser, "PUT", path, {"cron_expression": "30 6 * * *"})
    send(browser, "POST", "/api/jobs/numbers/disable", {})
    JobSchedule.objects.update(next_trigger_time=timezone.now() - timedelta(minutes=1))
    schedules_tick()
    (fire,) = browser.get(path).json()["fires"]
    assert (fire["outcome"], fire["execution_id"]) == ("SKIPPED", "")
    assert fire["reason"] == '"numbers" is disabled: enable it first'


def test_the_times_of_an_expression_show_before_it_is_kept(browser: Client) -> None:
    told = browser.get("/api/schedule-times", {"cron_expression": "30 6 * * *", "time_zone": "Europe/Berlin"}).json()
    assert len(told["next_times"]) == 5
    assert told["problems"] == []
    assert "06:30" in told["words"]
    assert browser.get("/api/jobs/numbers/schedule").status_code == 204


@pytest.mark.parametrize("query", [{"cron_expression": "6 o'clock"}, {"cron_expression": "0 0 31 2 *"}, {"time_zone": "Mars"}, {}])
def test_an_expression_that_cannot_be_used_is_told_with_its_problem(browser: Client, query: dict[str, str]) -> None:
    told = browser.get("/api/schedule-times", query)
    assert told.status_code == 200
    assert told.json()["problems"]
    assert told.json()["next_times"] == []


def test_a_version_tells_what_it_runs_with_as_published(browser: Client) -> None:
    settings = browser.get("/api/jobs/numbers/versions/1").json()["settings"]
    assert settings["checkpoint_interval"] == 60.0
    assert settings["rejected_rows"] == "dead_letter"


@pytest.mark.parametrize("kind", ["EVENT", "DEPENDENCY"])
def test_event_and_dependency_are_not_there_yet(browser: Client, kind: str) -> None:
    answer = send(browser, "PUT", "/api/jobs/numbers/schedule", {"schedule_type": kind, "event_topic": "t", "dependencies": ["x"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "not_yet")


def test_a_cron_schedule_with_what_is_not_there_yet_is_refused_too(browser: Client) -> None:
    body = {"cron_expression": "0 6 * * *", "dependencies": ["other"]}
    assert send(browser, "PUT", "/api/jobs/numbers/schedule", body).json()["error"]["code"] == "not_yet"


@pytest.mark.parametrize(
    "body", [{"cron_expression": "every day"}, {"cron_expression": "0 6 * * *", "time_zone": "Mars"}, {"cron_expression": ""}]
)
def test_a_schedule_that_cannot_be_read_is_refused(browser: Client, body: dict[str, str]) -> None:
    assert send(browser, "PUT", "/api/jobs/numbers/schedule", body).status_code == 422


def test_structure_problems_come_with_the_schemas_of_what_is_sound(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    schemas = {"numbers": {"out": [{"name": "id", "type": "bigint", "nullable": False}]}}
    monkeypatch.setattr(analysis, "interactive_call", lambda *_, **__: {"problems": [], "schemas": schemas})
    answer = send(browser, "POST", "/api/jobs/validate", {"document": {**chain(), "edges": {}}}).json()
    assert (answer["analysed"], answer["schemas"]) == (True, schemas)
    assert "port.missing" in [problem["code"] for problem in answer["problems"]]


def test_what_cannot_be_read_as_a_document_is_not_analysed(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> dict[str, Any]:
        raise AssertionError("there is nothing to analyse")

    monkeypatch.setattr(analysis, "interactive_call", never)
    answer = send(browser, "POST", "/api/jobs/validate", {"document": {**chain(), "nodes": 7}}).json()
    assert (answer["analysed"], answer["analysis"]) == (False, "the problems above come first")


def test_validation_warns_of_a_store_of_checkpoints_that_is_not_set_up(browser: Client) -> None:
    document = {**chain(), "settings": {"checkpoint_storage": "attic"}}
    answer = send(browser, "POST", "/api/jobs/validate", {"document": document, "analyse": False}).json()
    assert [(one["code"], one["severity"]) for one in answer["problems"]] == [("checkpoint.storage", "warning")]


def test_a_document_that_spark_refuses_is_not_published(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = {"severity": "error", "code": "column.unknown", "node_id": "out", "edge_id": None, "pointer": "/x", "message": "no"}
    monkeypatch.setattr(analysis, "interactive_ready", lambda: True)
    monkeypatch.setattr(analysis, "interactive_call", lambda *_, **__: {"problems": [problem], "schemas": {}})
    assert codes(send(browser, "POST", "/api/jobs", {**chain(), "name": "refused"})) == ["column.unknown"]
    assert codes(send(browser, "POST", "/api/jobs/numbers/publish")) == ["column.unknown"]
    assert [row.version for row in Job.objects.all()] == [1]
    assert send(browser, "POST", "/api/jobs", {**chain(), "name": "drawn", "publish": False}).status_code == 201


def reading(table: str) -> dict[str, Any]:
    nodes = {
        "orders": {"type": "source.jdbc", "name": "Orders", "config": {"connection": "shop", "table": table}},
        "out": {"type": "sink.none", "name": "Out", "config": {}},
    }
    edges = {"e1": {"from": ["orders", "out"], "to": ["out", "in"]}}
    return {"name": f"reads-{table}", "type": "SQL_TASK", "nodes": nodes, "edges": edges}


def writing(table: str, **config: Any) -> dict[str, Any]:
    sink = {"type": "sink.jdbc", "name": "Table", "config": {"connection": "shop", "table": table, **config}}
    document = chain(f"makes-{table}")
    return {**document, "nodes": {**document["nodes"], "out": sink}}


def test_a_table_that_another_job_makes_need_not_be_there_to_publish(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    for document in (writing("orders"), writing("kept", create_table=False)):
        assert send(browser, "POST", "/api/jobs", document).status_code == 201
    monkeypatch.setattr(analysis, "interactive_ready", lambda: True)

    def refused(_: str, payload: Any, *__: Any, **___: Any) -> dict[str, Any]:
        table = payload["document"]["nodes"]["orders"]["config"]["table"]
        message = f'"Orders": reading from "shop": no such table: {table}; correct table, query or key column'
        problem = {"severity": "error", "code": "node.refused", "node_id": "orders", "edge_id": None, "message": message}
        return {"problems": [{**problem, "pointer": "/nodes/orders/config/table"}], "schemas": {}}

    monkeypatch.setattr(analysis, "interactive_call", refused)
    assert send(browser, "POST", "/api/jobs", reading("orders")).status_code == 201
    for other in ("kept", "nowhere"):
        assert codes(send(browser, "POST", "/api/jobs", reading(other))) == ["node.refused"]
    (problem,) = send(browser, "POST", "/api/jobs/validate", {"document": reading("orders")}).json()["problems"]
    assert (problem["severity"], problem["code"], problem["pointer"]) == ("warning", "table.awaited", "/nodes/orders/config/table")
    assert problem["message"] == '"Orders": the table orders is not there yet; the job "makes-orders" makes it when it first runs'


@pytest.mark.parametrize(
    ("table", "told", "severity"),
    [
        ("orders", 'relation "orders" does not exist', "warning"),
        ("orders", "Table 'shop.orders' doesn't exist", "warning"),
        ("Orders", "no such table: Orders", "error"),
        ("${table}", "no such table: orders", "error"),
        ("orders", 'database "shop" does not exist', "error"),
        ("orders", 'role "ann" does not exist', "error"),
        ("orders", 'column "day" does not exist', "error"),
    ],
)
def test_only_a_missing_table_is_awaited_and_only_under_its_own_name(browser: Client, table: str, told: str, severity: str) -> None:
    named = {"name": "makes", "parameters": {"table": {"type": "string", "default": "bills"}}}
    for document in (writing("orders"), {**writing("${table}"), **named}):
        assert send(browser, "POST", "/api/jobs", document).status_code == 201
    problem = Problem(code="node.refused", pointer="/nodes/orders/config/table", message=f'"Orders": {told}')
    (found,) = tables_awaited([problem], reading(table), Project.objects.get())
    assert found.severity == severity


def test_a_warning_or_a_driver_that_is_away_does_not_stop_publishing(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> dict[str, Any]:
        raise queue.InteractiveUnavailable("no interactive driver answered")

    warning = {"severity": "warning", "code": "source.unavailable", "node_id": "out", "edge_id": None, "pointer": "/x", "message": "away"}
    monkeypatch.setattr(analysis, "interactive_ready", lambda: True)
    monkeypatch.setattr(analysis, "interactive_call", lambda *_, **__: {"problems": [warning], "schemas": {}})
    assert send(browser, "POST", "/api/jobs/numbers/publish").status_code == 200
    monkeypatch.setattr(analysis, "interactive_call", away)
    assert send(browser, "POST", "/api/jobs/numbers/publish").status_code == 200


def test_sparks_analysis_joins_the_problems(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {
        "problems": [{"severity": "error", "code": "spark.column", "node_id": "out", "edge_id": None, "pointer": "/x", "message": "no"}],
        "schemas": {"numbers": {"out": [{"name": "id", "type": "bigint", "nullable": False}]}},
    }
    asked: list[Any] = []

    def analysed(*given: Any, **_: Any) -> dict[str, Any]:
        asked.append(given)
        return found

    monkeypatch.setattr(analysis, "interactive_call", analysed)
    answer = send(browser, "POST", "/api/jobs/validate", {"document": chain()}).json()
    assert (answer["analysed"], [problem["code"] for problem in answer["problems"]]) == (True, ["spark.column"])
    assert answer["schemas"]["numbers"]["out"][0]["name"] == "id"
    assert asked[0][1]["project_id"] == Job.objects.get().project_id


def test_a_document_is_answered_with_every_default_as_publishing_keeps_it(browser: Client) -> None:
    document = {**chain(), "name": "in-full"}
    filled = send(browser, "POST", "/api/jobs/defaults", {"document": document})
    assert filled.status_code == 200, filled.content
    send(browser, "POST", "/api/jobs", {**document, "publish": True})
    assert filled.json()["document"] == browser.get("/api/jobs/in-full/versions/1").json()["document"]
    refused = send(browser, "POST", "/api/jobs/defaults", {"document": {**document, "nodes": 7}})
    assert (refused.status_code, refused.json()["error"]["message"]) == (422, "the document cannot be read")


def test_a_viewers_document_is_not_analysed_with_the_projects_connections(
    home: Project, monkeypatch: pytest.MonkeyPatch, client_of: Callable[[User], Client]
) -> None:
    def asked(*_: Any, **__: Any) -> dict[str, Any]:
        raise AssertionError("the driver was asked")

    monkeypatch.setattr(analysis, "interactive_call", asked)
    viewer = client_of(member(home, "vera", Role.VIEWER))
    told = send(viewer, "POST", "/api/jobs/validate", {"document": {**chain(), "edges": {}}}).json()
    assert (told["analysed"], told["analysis"]) == (False, "this reads from the project's systems, which needs the role EDITOR")
    assert told["problems"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"document": chain()}, 503),
        ({"document": chain(title="Else", description="Only words")}, 503),
        ({"document": chain(rows=7)}, 503),
        ({"document": chain(rows=8)}, 403),
        ({"document": chain(name="others")}, 403),
        ({"document": chain(), "parameters": {"rows": 7}}, 403),
        ({"document": chain(), "project": "elsewhere"}, 403),
    ],
)
def test_a_viewer_has_a_script_only_of_what_is_kept(
    home: Project, elsewhere: Project, editor: User, client_of: Callable[[User], Client], body: dict[str, Any], status: int
) -> None:
    draft_save(job=Job.objects.get(), user=editor, document=chain(rows=7), revision=1)
    vera = member(home, "vera", Role.VIEWER)
    ProjectMember.objects.create(project=elsewhere, user=vera, role=Role.VIEWER)
    answer = send(client_of(vera), "POST", "/api/jobs/script", body)
    assert answer.status_code == status, answer.content  # 503: it would have been written, were there a driver


def test_without_a_worker_the_answer_says_that_spark_was_not_asked(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "ANALYSIS_SECONDS", 0.2)
    answer = send(browser, "POST", "/api/jobs/validate", chain()).json()
    assert (answer["analysed"], answer["problems"]) == (False, [])
    assert "worker" in answer["analysis"]


def test_a_preview_without_a_worker_says_so(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: Any, **__: Any) -> dict[str, Any]:
        raise queue.InteractiveUnavailable("no interactive driver answered")

    monkeypatch.setattr(documents, "interactive_call", away)
    answer = send(browser, "POST", "/api/jobs/preview", {"document": chain(), "node_id": "numbers"}).json()
    assert (answer["available"], answer["message"]) == (False, "no interactive driver answered")
    unknown = send(browser, "POST", "/api/jobs/preview", {"document": chain(), "node_id": "nope"})
    assert unknown.status_code == 422
    (problem,) = unknown.json()["error"]["problems"]
    assert (problem["pointer"], problem["message"]) == ("/node_id", 'there is no node "nope" in the document')


@pytest.mark.parametrize("raw", [b"", b"{", b"- 1\n- 2", b"a: !!python/object:os.system {}", b"\xff\xfe", b"&a [*a]", b"x" * 1_100_000])
def test_a_file_that_is_no_document_gives_problems(browser: Client, raw: bytes) -> None:
    answer = browser.post("/api/jobs/import", raw, content_type="application/yaml")
    assert answer.status_code == 200, answer.content[:200]
    assert answer.json()["document"] is None
    assert answer.json()["problems"]


def test_exported_folders_can_be_imported_as_new_versions(editor: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("export_jobs", str(tmp_path), "--format", "yaml")
    file = tmp_path / "numbers.yaml"
    document = yaml.safe_load(file.read_text())
    document["nodes"]["numbers"]["config"]["total_rows"] = 9
    file.write_text(yaml.safe_dump(document))
    call_command("import_jobs", str(tmp_path), "--user", "erin")
    assert Job.objects.get().version == 2
    assert "published version 2" in capsys.readouterr().out
    file.write_text("name: numbers\ntype: STREAMING\n")
    with pytest.raises(CommandError, match="1 of 1"):
        call_command("import_jobs", str(file), "--user", "erin")
    assert Job.objects.get().version == 2


def imported(file: Path, document: dict[str, Any], *arguments: str) -> None:
    file.write_text(yaml.safe_dump(document))
    call_command("import_jobs", str(file), "--user", "erin", *arguments)


def drafted(*, browser: Client, **changes: Any) -> None:
    draft = "/api/jobs/numbers/draft"
    revision = {"If-Match": str(browser.get(draft).json()["revision"])}
    assert send(browser, "PUT", draft, {"document": chain(**changes)}, **revision).status_code == 200


@pytest.mark.parametrize("changes", [{"rows": 7}, {"description": "Half said"}])
def test_an_import_leaves_changes_of_a_draft_that_are_not_published(
    browser: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any]
) -> None:
    drafted(browser=browser, **changes)
    with pytest.raises(CommandError):
        imported(tmp_path / "numbers.yaml", chain(rows=9))
    assert "changes by erin that are not published" in capsys.readouterr().err
    imported(tmp_path / "numbers.yaml", chain(rows=9), "--overwrite-drafts")
    assert "published version 2 of numbers in the project default" in capsys.readouterr().out
    imported(tmp_path / "numbers.yaml", chain(rows=10), "--draft")
    imported(tmp_path / "numbers.yaml", chain(rows=10), "--draft")  # the same again takes nothing from anybody


def placed(browser: Client, x: float) -> dict[str, Any]:
    """A drawing that was kept, with a node that no version has yet."""
    layout = {"positions": {"numbers": {"x": x, "y": 2.0}, "later": {"x": 9.0, "y": 9.0}}, "notes": [{"text": "Watch"}], "groups": []}
    assert send(browser, "PUT", "/api/jobs/numbers/layout", layout).status_code == 200
    return {"positions": {"numbers": {"x": x, "y": 2.0}}, "notes": [{"text": "Watch"}]}


@pytest.mark.parametrize("kind", ["json", "yaml"])
def test_a_job_that_is_moved_keeps_how_it_is_drawn(browser: Client, tmp_path: Path, kind: str) -> None:
    drawn, file = placed(browser, 40.5), tmp_path / f"numbers.{kind}"
    call_command("export_jobs", str(tmp_path), "--format", kind)
    assert yaml.safe_load(file.read_text())["layout"] == drawn
    assert yaml.safe_load(browser.get(f"/api/jobs/numbers/export?format={kind}").content)["layout"] == drawn
    placed(browser, 70.0)
    call_command("import_jobs", str(file), "--user", "erin")
    assert browser.get("/api/jobs/numbers/layout").json()["layout"] == {**drawn, "groups": []}
    assert send(browser, "DELETE", "/api/jobs/numbers").status_code == 204
    call_command("import_jobs", str(file), "--user", "erin")
    assert browser.get("/api/jobs/numbers/layout").json()["layout"] == {**drawn, "groups": []}


def test_a_file_that_says_what_is_published_makes_no_version(browser: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    imported(tmp_path / "numbers.yaml", chain(rows=9))
    revision = browser.get("/api/jobs/numbers/draft").json()["revision"]
    imported(tmp_path / "numbers.yaml", chain(rows=9))
    assert "numbers is as in version 2 already in the project default" in capsys.readouterr().out
    assert (Job.objects.get().version, browser.get("/api/jobs/numbers/draft").json()["revision"]) == (2, revision)
    call_command("export_jobs", str(tmp_path))
    call_command("import_jobs", str(tmp_path / "numbers.json"), "--user", "erin")
    assert Job.objects.get().version == 2
    drafted(browser=browser, rows=7)
    imported(tmp_path / "numbers.yaml", chain(rows=7))
    assert Job.objects.get().version == 3, "the draft was as the file, but not published"


def test_an_import_into_a_named_project_changes_no_job_of_another(
    elsewhere: Project, editor: User, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ProjectMember.objects.create(project=elsewhere, user=editor, role=Role.EDITOR)
    with pytest.raises(CommandError):
        imported(tmp_path / "numbers.yaml", chain(rows=9), "--project", "elsewhere")
    assert 'is in the project "default", not in "elsewhere"' in capsys.readouterr().err
    assert Job.objects.get().version == 1


def test_an_import_that_found_errors_publishes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shorthand = {"name": "short", "type": "BATCH_ROLLER", "settings": {"parallelism": 2}, "config": {"parallelism": 3}}
    shorthand |= {"source": {"type": "generator", "config": {"total_rows": 5}}, "sink": {"type": "print"}}
    with pytest.raises(CommandError):
        imported(tmp_path / "short.yaml", shorthand)
    assert "error" in capsys.readouterr().err
    assert not Job.objects.filter(job_name="short").exists()
    imported(tmp_path / "short.yaml", shorthand, "--draft")
    told = capsys.readouterr().out
    assert "made short as a draft in the project default\n  error" in told


def test_an_import_tells_the_connections_that_its_addresses_need(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sink = {"type": "jdbc", "config": {"url": "jdbc:postgresql://db.example.com/shop", "table": "t", "user": "ann", "password": "hunter2"}}
    source = {"type": "generator", "config": {"total_rows": 5}}
    imported(tmp_path / "short.yaml", {"name": "short", "type": "BATCH_ROLLER", "source": source, "sink": sink})
    told = capsys.readouterr().out
    config = '{"host": "db.example.com", "port": 5432, "database": "shop", "user": "ann"}'
    assert f'  connection "shop": kind postgresql, {config}, secrets password\n' in told
    assert "hunter2" not in told


def test_jobs_of_a_project_that_is_not_there_are_not_exported(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match='there is no project "typo"'):
        call_command("export_jobs", str(tmp_path / "out"), "--project", "typo")
    assert not (tmp_path / "out").exists()


def test_no_document_runs_in_a_project_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "numbers.yaml").write_text(yaml.safe_dump(chain()))
    with pytest.raises(CommandError, match='there is no project "typo"'):
        call_command("run_job", str(tmp_path / "numbers.yaml"), "--project", "typo")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"warehouse": "postgresql://me:hidden@host/db"}, r"warehouse: Input should be an object"),
        ({"warehouse": {"config": {}}}, r"warehouse\.kind: Field required"),
        ([], r"Input should be an object"),
    ],
)
def test_a_file_that_holds_no_connections_is_told_in_a_sentence(tmp_path: Path, given: Any, told: str) -> None:
    (tmp_path / "numbers.yaml").write_text(yaml.safe_dump(chain()))
    (tmp_path / "own.json").write_text(json.dumps(given))
    with pytest.raises(CommandError, match=rf"own\.json holds no connections: {told}$") as refused:
        call_command("run_job", str(tmp_path / "numbers.yaml"), "--connections", tmp_path / "own.json")
    assert refused.value.returncode == 2
    assert "hidden" not in str(refused.value)


def test_exported_yaml_is_read_back_with_its_texts(browser: Client) -> None:
    drafted(browser=browser, title="1e5", description="08109")
    send(browser, "POST", "/api/jobs/numbers/publish", {})
    exported = browser.get("/api/jobs/numbers/export?format=yaml").content
    answer = browser.post("/api/jobs/import", exported, content_type="application/yaml").json()
    assert (answer["document"]["title"], answer["document"]["description"]) == ("1e5", "08109")


def test_an_analysis_that_failed_is_told_and_not_a_500(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*_: Any, **__: Any) -> dict[str, Any]:
        raise queue.InteractiveFailed("the driver ran out of memory")

    monkeypatch.setattr(analysis, "interactive_call", failed)
    monkeypatch.setattr(documents, "interactive_call", failed)
    answer = send(browser, "POST", "/api/jobs/validate", {"document": chain()})
    assert (answer.status_code, answer.json()["analysis"]) == (200, "the driver ran out of memory")
    answer = send(browser, "POST", "/api/jobs/preview", {"document": chain(), "node_id": "numbers"})
    assert (answer.status_code, answer.json()["message"]) == (200, "the driver ran out of memory")
    assert codes(send(browser, "POST", "/api/jobs/validate", {"document": chain(), "project": "nope"})) == ["project.unknown"]
