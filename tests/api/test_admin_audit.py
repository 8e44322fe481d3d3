"""What is changed in Django's administration is in the audit trail."""

from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.test import Client

from jobs.models import AuditEntry, Project

pytestmark = pytest.mark.django_db
PASSWORD = "staple gun of tomorrow"


def kept(action: str) -> AuditEntry:
    entry = AuditEntry.objects.get(action=action)
    assert entry.actor == "admin"
    assert PASSWORD not in str(entry.detail)
    return entry


def sent(client: Client, path: str, form: dict[str, Any]) -> None:
    answer = client.post(path, form)
    assert answer.status_code == 302, answer.content.decode()


def test_projects_members_and_their_roles_are_audited(admin_client: Client, editor: User, elsewhere: Project) -> None:
    path = f"/admin/jobs/project/{elsewhere.pk}/change/"
    member = {"members-0-project": elsewhere.pk, "members-0-user": editor.pk, "members-0-role": "ADMIN"}
    count = {"members-TOTAL_FORMS": 1, "members-INITIAL_FORMS": 0}
    sent(admin_client, path, {"title": "Elsewhere", "shares_files": "on", **count, **member})
    entry = kept("project changed")
    assert (entry.project, entry.object_id) == (elsewhere, "elsewhere")
    assert (entry.detail["shares_files"], entry.detail["members"]) == (True, {"erin": "ADMIN"})
    sent(admin_client, "/admin/jobs/project/add/", {"slug": "new", "title": "New", "members-TOTAL_FORMS": 0, "members-INITIAL_FORMS": 0})
    assert kept("project made").object_id == "new"


def test_users_their_rights_and_groups_are_audited(admin_client: Client) -> None:
    form = {"username": "bob", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    sent(admin_client, "/admin/auth/user/add/", form)
    bob = User.objects.get(username="bob")
    assert (kept("user made").object_id, kept("user made").detail["username"]) == (str(bob.pk), "bob")
    permission = Permission.objects.get(codename="run_python")
    rights = {"is_active": "on", "is_staff": "on", "user_permissions": [permission.pk]}
    times = {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00"}
    sent(admin_client, f"/admin/auth/user/{bob.pk}/change/", {"username": "bob", **rights, **times})
    entry = kept("user changed")
    assert (entry.detail["staff"], entry.detail["superuser"], entry.detail["permissions"]) == (True, False, ["run_python"])
    sent(admin_client, "/admin/auth/group/add/", {"name": "authors", "permissions": [permission.pk]})
    assert kept("group made").detail["permissions"] == ["run_python"]
    chosen = {"action": "delete_selected", "_selected_action": [Group.objects.get().pk], "post": "yes"}
    sent(admin_client, "/admin/auth/group/", chosen)
    assert kept("group deleted").detail["name"] == "authors"
    sent(admin_client, f"/admin/auth/user/{bob.pk}/delete/", {"post": "yes"})
    assert kept("user deleted").detail["username"] == "bob"


def test_a_password_that_is_set_there_is_audited_and_not_kept(admin_client: Client, editor: User) -> None:
    form = {"usable_password": "true", "password1": PASSWORD, "password2": PASSWORD}
    sent(admin_client, f"/admin/auth/user/{editor.pk}/password/", form)
    assert "assword" in str(kept("user changed").detail["changes"])
