"""Python in a job is written, published, looked at and started by those only who may."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import Group, Permission, User

from jobs.models import Job, JobDraft, Project, ProjectMember, Role, TriggeredBy
from jobs.selectors.refusals import Forbidden
from jobs.services.drafts import draft_save
from jobs.services.executions import execution_start
from jobs.services.jobs import job_create, job_publish
from jobs.services.user_code import PERMISSION
from tests.services.job_rows import operator

pytestmark = pytest.mark.django_db

CODE = "def process(row):\n    return row\n"


def drawn(code: str | None = CODE, rows: int = 100) -> dict[str, Any]:
    nodes: dict[str, Any] = {
        "numbers": {"type": "source.generator", "name": "Numbers", "config": {"total_rows": rows}},
        "out": {"type": "sink.print", "name": "Out", "config": {}},
    }
    edges = {"e1": {"from": ["numbers", "out"], "to": ["out", "in"]}}
    if code is not None:
        nodes["own"] = {"type": "flow.python", "name": "Own", "config": {"code": code}}
        edges = {"e1": {"from": ["numbers", "out"], "to": ["own", "in"]}, "e2": {"from": ["own", "out"], "to": ["out", "in"]}}
    return {"schema_version": 1, "name": "own", "type": "STREAMING", "nodes": nodes, "edges": edges}


@pytest.fixture
def editor() -> User:
    project, _ = Project.objects.get_or_create(slug="default", defaults={"title": "Default"})
    user = User.objects.create_user("erin", password="correct horse battery")
    ProjectMember.objects.create(project=project, user=user, role=Role.EDITOR)
    return user


@pytest.fixture
def theirs(editor: User) -> Job:
    """A published job with Python, made by one who may."""
    return job_create(user=operator(), document=drawn())


def permitted(user: User) -> User:
    group = Group.objects.create(name="Python")
    group.permissions.add(Permission.objects.get(codename=PERMISSION.partition(".")[2], content_type__app_label="jobs"))
    user.groups.add(group)
    return User.objects.get(pk=user.pk)  # what a user may is kept with the object


def save(job: Job, user: User, document: dict[str, Any]) -> None:
    draft_save(job=job, user=user, document=document, revision=JobDraft.objects.values_list("revision", flat=True).get(job=job))


@pytest.mark.parametrize("publish", [True, False])
def test_an_editor_without_the_permission_makes_no_job_with_python(editor: User, publish: bool) -> None:
    with pytest.raises(Forbidden) as refused:
        job_create(user=editor, document=drawn(), publish=publish)
    assert (refused.value.code, refused.value.detail["node_ids"]) == ("python.forbidden", ["own"])
    assert PERMISSION in refused.value.message
    assert not Job.objects.exists()


def test_an_editor_with_the_permission_makes_publishes_and_starts_one(editor: User) -> None:
    able = permitted(editor)
    job = job_create(user=able, document=drawn())
    assert job.version == 1
    assert execution_start(job=job, user=able, triggered_by=TriggeredBy.MANUAL).status == "SCHEDULED"


def test_an_editor_without_the_permission_changes_all_but_the_code(editor: User, theirs: Job) -> None:
    save(theirs, editor, drawn(rows=7))
    assert json.loads(JobDraft.objects.get(job=theirs).document)["nodes"]["numbers"]["config"] == {"total_rows": 7}
    for code in (CODE + "\n", "import os\n" + CODE):
        with pytest.raises(Forbidden, match="writing or changing that needs the permission"):
            save(theirs, editor, drawn(code))


def test_code_that_was_deleted_by_mistake_comes_back_as_it_was_published_and_no_other(editor: User, theirs: Job) -> None:
    save(theirs, editor, drawn(None))
    with pytest.raises(Forbidden):
        save(theirs, editor, drawn(CODE + "\n"))
    save(theirs, editor, drawn())
    assert json.loads(JobDraft.objects.get(job=theirs).document)["nodes"]["own"]["config"]["code"] == CODE
    with pytest.raises(Forbidden, match="publishing it needs"):
        job_publish(job=theirs, user=editor)


def test_code_that_was_never_published_does_not_come_back(editor: User) -> None:
    job = job_create(user=operator(), document=drawn(), publish=False)
    save(job, editor, drawn(None))
    with pytest.raises(Forbidden):
        save(job, editor, drawn())


def test_who_lacks_the_permission_neither_publishes_nor_starts(editor: User, theirs: Job) -> None:
    with pytest.raises(Forbidden, match="publishing it needs"):
        job_publish(job=theirs, user=editor)
    with pytest.raises(Forbidden, match="starting it needs"):
        execution_start(job=theirs, user=editor, triggered_by=TriggeredBy.MANUAL)
    with pytest.raises(Forbidden, match="starting it needs"):
        execution_start(job=theirs, user=editor, triggered_by=TriggeredBy.MANUAL, version=1)


def test_a_schedule_starts_what_was_published(theirs: Job) -> None:
    assert execution_start(job=theirs, user=None, triggered_by=TriggeredBy.CRON).version == 1


def test_a_job_with_python_gets_a_driver_of_its_own(theirs: Job) -> None:
    execution = execution_start(job=theirs, user=operator(), triggered_by=TriggeredBy.MANUAL)
    assert (execution.isolation, execution.resolved["isolation"]) == ("dedicated", "dedicated")


def test_a_job_without_python_needs_no_permission(editor: User) -> None:
    job = job_create(user=editor, document=drawn(None))
    assert execution_start(job=job, user=editor, triggered_by=TriggeredBy.MANUAL).isolation == "shared"
