"""One's own API tokens: made, listed, revoked, and what they open."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from jobs.models import ApiToken, AuditEntry
from jobs.services import access

pytestmark = pytest.mark.django_db


def made(browser: Client, name: str = "laptop", **given: Any) -> dict[str, Any]:
    answered = browser.post("/api/tokens", {"name": name, **given}, content_type="application/json")
    assert answered.status_code == 201, answered.content
    return dict(answered.json())


def bearer(token: str) -> Client:
    return Client(headers={"accept": "application/json", "authorization": f"Bearer {token}"})


def test_a_new_token_is_shown_once_and_only_its_digest_is_kept(browser: Client) -> None:
    token = made(browser)
    assert token["prefix"] == token["token"][:8]
    listed = browser.get("/api/tokens").json()["results"]
    assert [(one["name"], one["prefix"], one["scope"]) for one in listed] == [("laptop", token["prefix"], "READ")]
    assert all("token" not in one for one in listed)
    assert token["token"] not in str(ApiToken.objects.values().get())


def test_a_token_opens_what_its_user_may_see_until_it_is_revoked(browser: Client, editor: User) -> None:
    token = made(browser, scope="FULL")
    assert bearer(token["token"]).get("/api/me").json()["username"] == editor.username
    assert browser.get("/api/tokens").json()["results"][0]["last_used_time"] is not None
    assert browser.delete(f"/api/tokens/{token['id']}").status_code == 204
    assert bearer(token["token"]).get("/api/me").status_code == 401
    assert browser.get("/api/tokens").json()["results"] == []


def test_a_token_that_may_only_read_changes_nothing(browser: Client) -> None:
    reader, writer = bearer(made(browser)["token"]), bearer(made(browser, scope="FULL")["token"])
    document = {"schema_version": 1, "name": "by-token", "type": "STREAMING", "nodes": {}, "edges": {}, "publish": False}
    refused = reader.post("/api/jobs", document, content_type="application/json")
    assert refused.status_code == 403
    assert "may only read" in refused.json()["error"]["message"]
    assert reader.get("/api/jobs").json()["results"] == []
    assert writer.post("/api/jobs", document, content_type="application/json").status_code == 201


def test_a_token_can_neither_make_nor_revoke_tokens(browser: Client) -> None:
    token = made(browser, scope="FULL")
    client = bearer(token["token"])
    assert client.post("/api/tokens", {"name": "heir"}, content_type="application/json").status_code == 403
    assert client.delete(f"/api/tokens/{token['id']}").status_code == 403
    assert ApiToken.objects.filter(revoke_time=None).count() == 1


def test_nobody_sees_or_revokes_the_tokens_of_another(browser: Client, stranger: User, client_of: Callable[[User], Client]) -> None:
    token = made(browser)
    other = client_of(stranger)
    assert other.get("/api/tokens").json()["results"] == []
    assert other.delete(f"/api/tokens/{token['id']}").status_code == 404
    assert ApiToken.objects.get().revoke_time is None


@pytest.mark.parametrize("body", [{}, {"name": "  "}, {"name": "x" * 101}, {"name": "a", "scope": "ALL"}, {"name": "a", "user": 1}])
def test_a_token_without_a_name_or_with_an_unknown_scope_is_refused(browser: Client, body: dict[str, Any]) -> None:
    refused = browser.post("/api/tokens", body, content_type="application/json")
    assert refused.status_code == 400 or refused.status_code == 422
    assert refused.json()["error"]["problems"]


def test_making_and_revoking_are_in_the_audit_trail_without_the_token(browser: Client, editor: User) -> None:
    token = made(browser)
    browser.delete(f"/api/tokens/{token['id']}")
    entries = list(AuditEntry.objects.filter(object_type="api_token").order_by("id"))
    assert [(entry.actor, entry.action) for entry in entries] == [(editor.username, "token created"), (editor.username, "token revoked")]
    assert entries[0].detail == {"prefix": token["prefix"], "scope": "READ"}


def test_there_is_an_end_to_how_many_tokens_one_may_have(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "TOKENS_OF_ONE_USER", 2)
    made(browser)
    made(browser)
    refused = browser.post("/api/tokens", {"name": "third"}, content_type="application/json")
    assert refused.status_code == 409
    assert "revoke one" in refused.json()["error"]["message"]


@pytest.mark.parametrize("page", ["{pk}/delete/", ""])
def test_a_user_is_deleted_with_his_tokens_by_who_may_delete_users(browser: Client, editor: User, admin_client: Client, page: str) -> None:
    browser.delete(f"/api/tokens/{made(browser)['id']}")
    made(browser)
    chosen = {"post": "yes", "action": "delete_selected", "_selected_action": str(editor.pk)}
    answered = admin_client.post(f"/admin/auth/user/{page.format(pk=editor.pk)}", chosen)
    assert answered.status_code == 302, answered.content
    assert not User.objects.filter(pk=editor.pk).exists()
    assert not ApiToken.objects.exists()


def test_a_token_by_itself_is_revoked_and_not_deleted(browser: Client, admin_client: Client) -> None:
    token = made(browser)
    assert admin_client.post(f"/admin/jobs/apitoken/{token['id']}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"post": "yes", "action": "delete_selected", "_selected_action": str(token["id"])}
    admin_client.post("/admin/jobs/apitoken/", chosen)
    assert ApiToken.objects.exists()
    admin_client.post("/admin/jobs/apitoken/", {**chosen, "action": "revoke"})
    assert ApiToken.objects.get().revoke_time is not None
