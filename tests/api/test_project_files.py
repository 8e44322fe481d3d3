"""Each project's files stand in a folder of its own; those that share the installation's folders are told so by an administrator."""

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.checks import run_checks
from django.test import Client

from jobs.driver.planning import execution_plan
from jobs.models import Project
from jobs.nodes.base import NodeError
from jobs.nodes.file_roots import allowed_path
from tests.api.rows import execution, job, send

pytestmark = pytest.mark.django_db


@pytest.fixture
def shared(settings: Any, tmp_path: Path) -> Path:
    settings.FILE_ROOTS, settings.PROJECT_FILES = [tmp_path / "shared"], tmp_path / "projects"
    (tmp_path / "shared").mkdir()
    (tmp_path / "projects" / "elsewhere").mkdir(parents=True)
    return tmp_path / "shared"


@pytest.fixture
def other(stranger: User, client_of: Callable[[User], Client]) -> Client:
    """Signed in as an admin of `elsewhere`."""
    return client_of(stranger)


def tried(browser: Client, project: str, path: object) -> dict[str, str]:
    """What each step of a connection's test found."""
    body = {"project": project, "kind": "sqlite", "config": {"path": str(path)}, "secrets": {}}
    answer = send(browser, "POST", "/api/connections/test", body)
    assert answer.status_code == 200, answer.content
    return {step["name"]: step["message"] for step in answer.json()["steps"]}


def test_a_database_of_another_project_is_refused(browser: Client, other: Client, shared: Path) -> None:
    sqlite3.connect(shared / "warehouse.sqlite3").close()
    assert tried(browser, "default", shared / "warehouse.sqlite3")["path"] == f"{shared / 'warehouse.sqlite3'} is allowed here"
    for path in (shared / "warehouse.sqlite3", "../../shared/warehouse.sqlite3", "../default/warehouse.sqlite3"):
        assert "it leads outside the allowed folders" in tried(other, "elsewhere", path)["path"]


def test_relative_paths_begin_in_the_projects_own_folder(other: Client, elsewhere: Project, shared: Path) -> None:
    own = shared.parent / "projects" / "elsewhere"
    assert tried(other, "elsewhere", "mine.sqlite3")["path"] == f"{own / 'mine.sqlite3'} is allowed here"
    elsewhere.shares_files = True
    elsewhere.save()
    assert tried(other, "elsewhere", "ours.sqlite3")["path"] == f"{shared / 'ours.sqlite3'} is allowed here"
    assert tried(other, "elsewhere", own / "mine.sqlite3")["path"] == f"{own / 'mine.sqlite3'} is allowed here"


def test_an_execution_reaches_the_folders_of_its_project(stranger: User, editor: User, elsewhere: Project, shared: Path) -> None:
    theirs = execution_plan(execution(job(stranger, "theirs", project=elsewhere))).limits
    assert theirs.file_roots == (shared.parent / "projects" / "elsewhere",)
    with pytest.raises(NodeError, match="leads outside the allowed folders"):
        allowed_path(str(shared), theirs)
    ours = execution_plan(execution(job(editor, "ours"))).limits
    assert ours.file_roots == (shared, shared.parent / "projects" / "default")


def test_the_name_of_a_projects_folder_stays(client: Client, elsewhere: Project, admin_client: Client) -> None:
    form = {"title": "Renamed", "shares_files": "on", "slug": "default2", "members-TOTAL_FORMS": 0, "members-INITIAL_FORMS": 0}
    assert admin_client.post(f"/admin/jobs/project/{elsewhere.pk}/change/", form).status_code == 302
    elsewhere.refresh_from_db()
    assert (elsewhere.slug, elsewhere.title, elsewhere.shares_files) == ("elsewhere", "Renamed", True)


@pytest.mark.parametrize(("own", "lie_in_each_other"), [("projects", False), ("files/projects", True), (".", True)])
def test_folders_that_do_not_part_projects_are_told(settings: Any, tmp_path: Path, own: str, lie_in_each_other: bool) -> None:
    settings.FILE_ROOTS, settings.PROJECT_FILES = [tmp_path / "files"], tmp_path / own
    assert any(message.id == "jobs.W001" for message in run_checks()) == lie_in_each_other
