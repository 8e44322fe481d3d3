"""Connections over REST: secrets go in and never come out."""

import json
import socket
from io import StringIO

import pytest
from cryptography.fernet import Fernet
from django.conf import LazySettings
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from jobs.models import AuditEntry, Connection, Execution, Job, JobDraft, Project, Role
from jobs.nodes.base import Config, NodeContext, NodeError
from jobs.selectors.refusals import Invalid, NotFound
from jobs.services.connections import connection_open, connection_update, connections_open
from tests.api.rows import chain, execution, member, send
from tests.services.job_rows import version_add

pytestmark = pytest.mark.django_db
CANARY = "canary-5f1c-never-shown"


def postgres(browser: Client, name: str = "warehouse", **config: object) -> dict[str, object]:
    body = {
        "name": name,
        "kind": "postgresql",
        "config": {"host": "127.0.0.1", "port": 1, "database": "d", "user": "u", **config},
        "secrets": {"password": CANARY},
    }
    answer = send(browser, "POST", "/api/connections", body)
    assert answer.status_code == 201, answer.content
    found: dict[str, object] = answer.json()
    return found


def test_a_secret_is_kept_encrypted_and_never_shown(browser: Client, editor: User, caplog: pytest.LogCaptureFixture) -> None:
    made = postgres(browser)
    assert made["secrets"] == {"password": True}
    row = Connection.objects.get()
    assert CANARY not in row.secrets
    assert connection_open(row).secrets == {"password": CANARY}
    admin = Client()
    admin.force_login(User.objects.create_superuser("root", password="x"))
    answers = [
        browser.get("/api/connections"),
        browser.get(f"/api/connections/{row.pk}"),
        send(browser, "POST", f"/api/connections/{row.pk}/test"),
        send(browser, "PATCH", f"/api/connections/{row.pk}", {"description": "ours"}),
        send(browser, "PATCH", f"/api/connections/{row.pk}", {"secrets": {"passwort": CANARY}}),
        send(browser, "PATCH", f"/api/connections/{row.pk}", {"secrets": {"password": [CANARY]}}),
        browser.get(f"/api/search?q={CANARY[:6]}"),
        admin.get(f"/admin/jobs/connection/{row.pk}/change/"),
        admin.get("/admin/jobs/connection/"),
        admin.get(f"/admin/jobs/connection/?q={CANARY}"),
    ]
    for answer in answers[:-1]:
        assert CANARY not in answer.content.decode(), answer.request["PATH_INFO"]
    audit = json.dumps([entry.detail for entry in AuditEntry.objects.all()])
    assert CANARY not in audit
    assert CANARY not in caplog.text
    assert CANARY not in repr(connection_open(row))


def test_a_secret_stays_unless_named_goes_with_null_and_is_replaced_by_text(browser: Client) -> None:
    made = postgres(browser)
    path = f"/api/connections/{made['id']}"
    send(browser, "PATCH", path, {"description": "ours"})
    assert connection_open(Connection.objects.get()).secrets == {"password": CANARY}
    send(browser, "PATCH", path, {"secrets": {"password": "new"}})
    assert connection_open(Connection.objects.get()).secrets == {"password": "new"}
    assert send(browser, "PATCH", path, {"secrets": {"password": None}}).json()["secrets"] == {"password": False}


def test_a_change_takes_away_nothing_that_somebody_else_saved_since_it_was_read(browser: Client, editor: User) -> None:
    postgres(browser)
    read = Connection.objects.get()
    connection_update(connection=Connection.objects.get(), user=editor, changes={"secrets": {"password": "new"}, "description": "theirs"})
    connection_update(connection=read, user=editor, changes={"name": "renamed"})
    row = Connection.objects.get()
    assert (row.name, row.description, connection_open(row).secrets) == ("renamed", "theirs", {"password": "new"})


def test_a_change_of_what_was_read_before_somebody_else_changed_it_is_refused(browser: Client, editor: User) -> None:
    made = postgres(browser)
    path, read = f"/api/connections/{made['id']}", f'"{made["update_time"]}"'
    elsewhere = {**made["config"], "host": "other.example.com"}  # type: ignore[dict-item]
    connection_update(connection=Connection.objects.get(), user=editor, changes={"description": "theirs"})
    refused = send(browser, "PATCH", path, {"config": elsewhere, "secrets": {"password": "mine"}}, if_match=read)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "connection.changed")
    assert refused.json()["error"]["message"].startswith(f"{editor.username} changed this connection at 2")
    assert connection_open(Connection.objects.get()).secrets == {"password": CANARY}
    now = browser.get(path).json()
    taken = send(browser, "PATCH", path, {"secrets": {"password": "mine"}}, if_match=f'"{now["update_time"]}"')
    assert (taken.status_code, taken.json()["config"], taken.json()["description"]) == (200, made["config"], "theirs")


def test_a_secret_goes_to_no_address_that_somebody_else_saved_since_it_was_read(browser: Client, editor: User) -> None:
    made = postgres(browser)
    read = Connection.objects.get()
    elsewhere = {**made["config"], "host": "other.example.com"}  # type: ignore[dict-item]
    connection_update(connection=Connection.objects.get(), user=editor, changes={"config": elsewhere, "secrets": {"password": "new"}})
    with pytest.raises(Invalid, match="enter the secrets again"):
        connection_update(connection=read, user=editor, changes={"config": made["config"]})
    Connection.objects.all().delete()
    with pytest.raises(NotFound):
        connection_update(connection=read, user=editor, changes={"name": "renamed"})


def test_a_changed_address_wants_its_secrets_again(browser: Client) -> None:
    made = postgres(browser)
    config = {**made["config"], "host": "evil.example.com"}  # type: ignore[dict-item]
    answer = send(browser, "PATCH", f"/api/connections/{made['id']}", {"config": config})
    assert (answer.status_code, answer.json()["error"]["problems"][0]["pointer"]) == (422, "/secrets/password")
    assert Connection.objects.get().config["host"] == "127.0.0.1"
    again = {"config": config, "secrets": {"password": "another"}}
    assert send(browser, "PATCH", f"/api/connections/{made['id']}", again).status_code == 200


@pytest.mark.parametrize("change", [{"security": "sasl_plaintext"}, {"mechanism": "PLAIN"}, {"servers": "other:9092"}])
def test_a_kafka_password_is_not_carried_over_to_a_weaker_way_or_another_place(browser: Client, change: dict[str, str]) -> None:
    config = {"servers": "kafka:9092", "security": "sasl_tls", "mechanism": "SCRAM-SHA-512", "user": "pipeline"}
    body = {"name": "kafka", "kind": "kafka", "config": config, "secrets": {"password": CANARY}}
    made = send(browser, "POST", "/api/connections", body).json()
    answer = send(browser, "PATCH", f"/api/connections/{made['id']}", {"config": config | change})
    assert (answer.status_code, answer.json()["error"]["problems"][0]["pointer"]) == (422, "/secrets/password")
    assert connection_open(Connection.objects.get()).config["security"] == "sasl_tls"


def test_a_changed_address_of_tokens_wants_the_secret_again(browser: Client) -> None:
    config = {"base_url": "https://api.example.com", "auth": "oauth2", "token_url": "https://auth.example.com/token", "client_id": "c"}
    body = {"name": "api", "kind": "http_api", "config": config, "secrets": {"client_secret": CANARY}}
    made = send(browser, "POST", "/api/connections", body).json()
    elsewhere = {"config": {**config, "token_url": "https://evil.example.com/token"}}
    assert send(browser, "PATCH", f"/api/connections/{made['id']}", elsewhere).status_code == 422
    assert Connection.objects.get().config["token_url"] == "https://auth.example.com/token"


def test_names_are_unique_in_a_project(browser: Client) -> None:
    postgres(browser)
    answer = send(browser, "POST", "/api/connections", {"name": "warehouse", "kind": "sqlite", "config": {"path": "x.sqlite3"}})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "connection.name_taken")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"name": "w", "kind": "telepathy", "config": {}}, "/kind"),
        ({"name": "w", "kind": "postgresql", "config": {"host": "h;drop"}}, "/config/host"),
        ({"name": "w", "kind": "postgresql", "config": {"url": "jdbc:postgresql://evil"}}, "/config/url"),
        ({"name": "", "kind": "sqlite", "config": {"path": "x"}}, "/name"),
        ({"name": "a/b", "kind": "sqlite", "config": {"path": "x"}}, "/name"),
        ({"name": "w", "kind": "sqlite", "config": {"path": "x"}, "owner": 1}, "/owner"),
    ],
)
def test_a_bad_connection_is_refused_on_its_field(browser: Client, body: dict[str, object], pointer: str) -> None:
    answer = send(browser, "POST", "/api/connections", body)
    assert answer.status_code == 422
    assert pointer in [problem["pointer"] for problem in answer.json()["error"]["problems"]]
    assert not Connection.objects.exists()


def test_a_test_says_step_by_step_what_was_found_and_keeps_it(browser: Client) -> None:
    made = postgres(browser)
    answer = send(browser, "POST", f"/api/connections/{made['id']}/test").json()
    assert answer["ok"] is False
    assert answer["steps"][-1]["ok"] is False
    shown = browser.get(f"/api/connections/{made['id']}").json()
    assert (shown["test_ok"], shown["test_message"]) == (False, answer["steps"][-1]["message"])


def test_settings_are_tried_before_they_are_kept(browser: Client) -> None:
    made = postgres(browser)
    path = f"/api/connections/{made['id']}/test"
    changed = send(browser, "POST", path, {"config": {**made["config"], "database": "other"}}).json()  # type: ignore[dict-item]
    assert (changed["ok"], [step["name"] for step in changed["steps"]]) == (False, ["name", "port"])
    fresh = {"kind": "postgresql", "config": {"host": "no-such-host.invalid", "port": 1, "database": "d", "user": "u"}}
    answer = send(browser, "POST", "/api/connections/test", {**fresh, "secrets": {"password": CANARY}})
    assert [(step["name"], step["ok"]) for step in answer.json()["steps"]] == [("name", False)]
    assert CANARY not in answer.content.decode()
    shown = browser.get(f"/api/connections/{made['id']}").json()
    assert (shown["test_ok"], shown["config"], Connection.objects.count()) == (None, made["config"], 1)
    audit = [entry.detail for entry in AuditEntry.objects.filter(action="connection tested")]
    assert [detail["kept"] for detail in audit] == [False, False]
    assert CANARY not in json.dumps(audit)


def test_a_connection_that_is_not_kept_yet_is_called_by_what_was_typed(browser: Client) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        config = {"host": "127.0.0.1", "port": server.getsockname()[1], "tls": True, "certificate_authority": "of nobody"}
        fresh = {"kind": "rabbitmq", "config": config}
        unnamed = send(browser, "POST", "/api/connections/test", fresh)
        named = send(browser, "POST", "/api/connections/test", {**fresh, "name": "plant"})
    assert 'connecting to "this connection"' in unnamed.json()["steps"][-1]["message"]
    assert 'connecting to "plant"' in named.json()["steps"][-1]["message"]
    assert send(browser, "POST", "/api/connections/test", {**fresh, "name": '"; -'}).json()["error"]["problems"][0]["pointer"] == "/name"


def test_a_trial_is_refused_where_a_change_would_be_and_sends_no_kept_secret_elsewhere(browser: Client) -> None:
    made = postgres(browser)
    path = f"/api/connections/{made['id']}/test"
    elsewhere = send(browser, "POST", path, {"config": {**made["config"], "host": "127.0.0.2"}})  # type: ignore[dict-item]
    assert elsewhere.status_code == 422
    assert [problem["pointer"] for problem in elsewhere.json()["error"]["problems"]] == ["/secrets/password"]
    bad = send(browser, "POST", "/api/connections/test", {"kind": "postgresql", "config": {"host": "h;drop"}})
    assert "/config/host" in [problem["pointer"] for problem in bad.json()["error"]["problems"]]
    assert send(browser, "POST", "/api/connections/test", {"kind": "telepathy"}).status_code == 422


def test_who_may_only_look_tries_nothing(browser: Client, home: Project) -> None:
    made = postgres(browser)
    viewer = Client(headers={"accept": "application/json"})
    viewer.force_login(member(home, "vera", Role.VIEWER))
    for path, body in ((f"/api/connections/{made['id']}/test", {"config": made["config"]}), ("/api/connections/test", {"kind": "sqlite"})):
        assert send(viewer, "POST", path, body).status_code == 403


def test_a_connection_that_a_job_uses_says_by_whom_and_is_not_deleted(browser: Client) -> None:
    made = postgres(browser)
    document = chain()
    document["nodes"]["out"] = {"type": "sink.jdbc", "name": "Out", "config": {"connection": "warehouse", "table": "t", "mode": "append"}}
    assert send(browser, "POST", "/api/jobs", {**document, "publish": False}).status_code == 201
    path = f"/api/connections/{made['id']}"
    assert browser.get(path).json()["used_by"] == ["numbers"]
    assert send(browser, "DELETE", path).status_code == 409
    assert send(browser, "PATCH", path, {"name": "other"}).status_code == 409
    send(browser, "DELETE", "/api/jobs/numbers")
    assert send(browser, "DELETE", path).status_code == 204


def test_a_document_is_read_once_for_what_it_uses_until_it_changes(browser: Client, editor: User) -> None:
    made = postgres(browser)
    path, document = f"/api/connections/{made['id']}", chain()
    document["nodes"]["out"] = {"type": "sink.jdbc", "name": "Out", "config": {"connection": "warehouse", "table": "t", "mode": "append"}}
    assert send(browser, "POST", "/api/jobs", {**document, "publish": False}).status_code == 201
    assert browser.get(path).json()["used_by"] == ["numbers"]
    for address in (path, "/api/connections"):
        with CaptureQueriesContext(connection) as captured:
            browser.get(address)
        assert not any('"document"' in query["sql"] or '"dag_definition"' in query["sql"] for query in captured)
    draft = browser.get("/api/jobs/numbers/draft")
    assert send(browser, "PUT", "/api/jobs/numbers/draft", {"document": chain()}, **{"If-Match": draft["ETag"]}).status_code == 200
    assert browser.get(path).json()["used_by"] == []


def test_a_connection_that_a_paused_older_version_uses_is_kept_with_its_name(browser: Client, editor: User) -> None:
    made = postgres(browser)
    path, document = f"/api/connections/{made['id']}", chain()
    document["nodes"]["out"] = {"type": "sink.jdbc", "name": "Out", "config": {"connection": "warehouse", "table": "t", "mode": "append"}}
    send(browser, "POST", "/api/jobs", {**document, "publish": False})
    version_add(Job.objects.get(), document)
    paused = execution(Job.objects.get(), "PAUSED")
    version_add(Job.objects.get(), chain())
    JobDraft.objects.update(document=json.dumps(chain()), revision=2)
    assert browser.get(path).json()["used_by"] == ["numbers"]
    assert send(browser, "PATCH", path, {"name": "other"}).status_code == 409
    refused = send(browser, "DELETE", path).json()["error"]
    assert refused["message"] == '"warehouse" is used by numbers: change these jobs, and end what still runs of older versions, first'
    Execution.objects.filter(pk=paused.pk).update(status="CANCELLED")
    assert send(browser, "DELETE", path).status_code == 204


def test_a_connection_that_an_unfinished_executions_parameter_names_is_used(browser: Client, editor: User) -> None:
    made = postgres(browser)
    document = chain()
    document["parameters"] = {"system": {"type": "string", "default": "other"}}
    document["nodes"]["out"] = {"type": "sink.jdbc", "name": "Out", "config": {"connection": "${system}", "table": "t"}}
    send(browser, "POST", "/api/jobs", {**document, "publish": False})
    version_add(Job.objects.get(), document)
    assert browser.get(f"/api/connections/{made['id']}").json()["used_by"] == []
    execution(Job.objects.get(), "RUNNING", parameters={"system": "warehouse"})
    assert browser.get(f"/api/connections/{made['id']}").json()["used_by"] == ["numbers"]


def test_a_connection_that_is_a_parameters_default_is_used(browser: Client) -> None:
    made = postgres(browser)
    document = chain()
    document["parameters"] = {"system": {"type": "string", "default": "ware"}, "other": {"type": "integer"}}
    document["nodes"]["out"] = {"type": "sink.jdbc", "name": "Out", "config": {"connection": "${system}house", "table": "t"}}
    assert send(browser, "POST", "/api/jobs", {**document, "publish": False}).status_code == 201
    assert browser.get(f"/api/connections/{made['id']}").json()["used_by"] == ["numbers"]
    assert send(browser, "DELETE", f"/api/connections/{made['id']}").status_code == 409


def test_a_job_is_not_moved_to_a_project_that_lacks_its_connections(browser: Client) -> None:
    User.objects.update(is_superuser=True)
    elsewhere = Project.objects.create(slug="elsewhere", title="Elsewhere")
    made = postgres(browser)
    document = chain()
    document["nodes"]["out"] = {"type": "sink.jdbc", "name": "Out", "config": {"connection": "warehouse", "table": "t", "mode": "append"}}
    send(browser, "POST", "/api/jobs", {**document, "publish": False})
    refused = send(browser, "PATCH", "/api/jobs/numbers", {"project": "elsewhere"})
    assert refused.status_code == 409
    words = '"numbers" uses "warehouse", which the project "elsewhere" does not have: add it there first'
    assert refused.json()["error"]["message"] == words
    Connection.objects.create(project=elsewhere, name="warehouse", kind="postgresql", config=made["config"])
    assert send(browser, "PATCH", "/api/jobs/numbers", {"project": "elsewhere"}).status_code == 200


def test_secrets_under_a_lost_key_have_to_be_entered_again(browser: Client, settings: object) -> None:
    made = postgres(browser)
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]  # type: ignore[attr-defined]
    answer = send(browser, "POST", f"/api/connections/{made['id']}/test").json()
    assert (answer["ok"], answer["steps"][0]["name"]) == (False, "secrets")
    opened = connections_open(Project.objects.get(slug="default").pk)
    context = NodeContext(node_id="n", node_name="N", config=Config(), connections=opened)
    with pytest.raises(NodeError, match="cannot be opened with this installation's keys: enter them again"):
        context.connection(str(made["name"]))


def test_a_key_can_be_taken_away_once_the_secrets_are_under_another(browser: Client, settings: LazySettings) -> None:
    old, new = settings.ENCRYPTION_KEYS, Fernet.generate_key().decode()
    made = postgres(browser)
    postgres(browser, "billing")
    send(browser, "POST", f"/api/connections/{made['id']}/test")
    kept = Connection.objects.order_by("pk").values("pk", "update_time", "updated_by", "test_time", "test_ok", "secret_names")
    before = list(kept)
    settings.ENCRYPTION_KEYS = [new, *old]
    said = StringIO()
    call_command("rotate_keys", stdout=said)
    assert said.getvalue() == "connections whose secrets are under the first key now: 2\n"
    assert AuditEntry.objects.get(action="secrets encrypted anew").detail == {"connections": 2, "unreadable": []}
    settings.ENCRYPTION_KEYS = [new]
    assert [connection_open(row).secrets for row in Connection.objects.all()] == [{"password": CANARY}] * 2
    assert list(kept) == before


def test_what_no_key_opens_is_named_and_left_while_the_others_go_under_the_first(browser: Client, settings: LazySettings) -> None:
    postgres(browser, "lost")
    lost = Connection.objects.get().secrets
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    postgres(browser)
    with pytest.raises(CommandError, match=r"of 1 no key opens the secrets, which are left as they are: default/lost$"):
        call_command("rotate_keys", stdout=StringIO())
    assert Connection.objects.get(name="lost").secrets == lost
    assert connection_open(Connection.objects.get(name="warehouse")).secrets == {"password": CANARY}


def test_the_kinds_say_their_fields_and_secrets(browser: Client) -> None:
    kinds = {kind["kind"]: kind for kind in browser.get("/api/connection-kinds").json()["results"]}
    assert kinds["postgresql"]["secrets"] == {"password": "Password"}
    assert kinds["postgresql"]["secrets_when"] == {}
    assert kinds["http_api"]["secrets_when"] == {
        "password": "auth=basic",
        "token": "auth=bearer",
        "api_key": "auth=api_key",
        "client_secret": "auth=oauth2",
    }
    assert "host" in kinds["postgresql"]["schema"]["properties"]
    assert (kinds["kafka"]["secrets_of_lines"], kinds["http_api"]["secrets_of_lines"]) == (["client_key"], [])


def test_node_types_come_with_ports_schema_and_help(browser: Client) -> None:
    types = {found["type"]: found for found in browser.get("/api/node-types").json()["results"]}
    assert types["source.file"]["ports"][0]["name"] == "out"
    assert types["flow.filter_rows"]["schema"]["properties"]
    assert all(found["help"] for found in types.values())


@pytest.mark.parametrize(
    ("kind", "config", "pointer", "message"),
    [
        (
            "postgresql",
            {"host": "http://db.example.com", "database": "d", "user": "u"},
            "/config/host",
            "host must be a server's name or address, without http:// and without the port, such as db.example.com",
        ),
        (
            "http_api",
            {"base_url": "api.example.com"},
            "/config/base_url",
            (
                "base URL must be an address that begins with http:// or https:// and has no user, space, ? or #, "
                "such as https://api.example.com/v1"
            ),
        ),
    ],
)
def test_a_wrong_address_is_answered_in_words(browser: Client, kind: str, config: dict[str, str], pointer: str, message: str) -> None:
    body = {"name": "wrong", "kind": kind, "config": config}
    refused = browser.post("/api/connections", body, content_type="application/json").json()["error"]
    assert [(problem["pointer"], problem["message"]) for problem in refused["problems"]] == [(pointer, message)]


def test_a_name_that_is_not_allowed_is_answered_in_words(browser: Client) -> None:
    expected = "name must be letters, digits, spaces, dots, hyphens and underscores, a letter or digit first"
    body = {"name": "my pg!", "kind": "sqlite", "config": {}}
    refused = browser.post("/api/connections", body, content_type="application/json").json()["error"]
    assert [problem["message"] for problem in refused["problems"]] == [expected]
    refused = browser.patch("/api/connections/1", {"name": "my pg!"}, content_type="application/json").json()["error"]
    assert [problem["message"] for problem in refused["problems"]] == [expected]


def test_abbreviations_in_labels_are_written_in_capitals(browser: Client) -> None:
    kinds = browser.get("/api/connection-kinds").json()["results"]
    titles = {name: field["title"] for kind in kinds for name, field in kind["schema"]["properties"].items()}
    assert (titles["tls"], titles["base_url"], titles["api_key_header"]) == ("TLS", "Base URL", "API key header")
    assert titles["search_path"] == "Search path"
