"""A disk that is not mounted is not taken for an empty one, whatever begins meanwhile."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from checkpoints.models import Checkpoint, CheckpointRoot
from checkpoints.roots import MARKER
from jobs.engine.failure import ExecutionFailure
from jobs.engine.plan import Settings
from jobs.models import Execution, QueryProgress, Role
from tests.checkpoints.kept import execution_row, kept, live_of
from tests.checkpoints.test_checkpoint_api import ended, member, send
from tests.checkpoints.test_damage import begun
from tests.services.job_rows import job_row

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("root")]


@pytest.fixture
def execution() -> Execution:
    """One that has a checkpoint of three batches."""
    execution = execution_row(job_row())
    kept(execution, 3)
    QueryProgress.objects.create(execution=execution, query="out", batch_id=2, base={}, latest={})
    return execution


def unmounted(root: Path) -> Callable[[], None]:
    """An empty folder where the disk was; mounts it again."""
    root.rename(root.with_name("disk"))
    root.mkdir()

    def mount() -> None:
        root.rename(root.with_name("below"))
        root.with_name("disk").rename(root)

    return mount


def refused(execution: Execution) -> str:
    with pytest.raises(ExecutionFailure) as told:
        begun(execution)
    assert (told.value.kind, told.value.permanent) == ("external", False)
    return str(told.value)


def test_the_first_job_of_an_installation_marks_its_root(root: Path) -> None:
    first, second = execution_row(job_row("first")), execution_row(job_row("second"))
    for execution in (first, second):
        begun(execution)
    assert [path.name for path in root.iterdir()] == [MARKER]
    assert CheckpointRoot.objects.get().path == str(root)


def test_nothing_begins_on_a_disk_that_is_not_mounted_and_the_others_wait(execution: Execution, root: Path) -> None:
    client = member("edda", Role.EDITOR)
    begun(execution)  # an installation of before: its root is marked now
    mount = unmounted(root)
    assert "is its disk mounted?" in refused(execution_row(job_row("other")))
    (root / "5d0f6c3e-0000-4000-8000-000000000001").mkdir()  # something was put there all the same
    assert "is its disk mounted?" in refused(execution)
    target = job_row("target")
    row = Checkpoint.objects.get()
    for path, body in ((f"/api/checkpoints/{row.pk}/archive", None), ("/api/jobs/target/checkpoints/import", {"checkpoint": row.pk})):
        error = send(client, "GET" if body is None else "POST", path, body, expected=409)["error"]
        assert "is its disk mounted?" in error["message"]
    send(client, "POST", "/api/checkpoints/cleanup", {"dry_run": False})
    assert not (root / str(target.job_uid)).exists()
    assert Checkpoint.objects.get().failure_reason == ""
    mount()
    begun(execution)
    ended(execution)
    assert send(client, "GET", f"/api/checkpoints/{row.pk}/precheck")["ok"]


def test_a_root_that_was_never_marked_is_missed_as_well(execution: Execution, root: Path) -> None:
    unmounted(root)
    other = execution_row(job_row("other"))
    assert MARKER in refused(other)
    (root / MARKER).touch()  # a person says that it is a new disk
    begun(other)


def test_where_the_mark_alone_is_gone_what_runs_goes_on(execution: Execution, root: Path) -> None:
    begun(execution)
    (root / MARKER).unlink()
    begun(execution)
    assert live_of(execution).is_dir()


def test_a_job_whose_checkpoints_go_elsewhere_needs_no_disk_of_before(execution: Execution, root: Path) -> None:
    begun(execution)
    unmounted(root)
    begun(execution_row(job_row("elsewhere"), resolved=asdict(Settings(checkpoint_storage="file"))))


@pytest.mark.parametrize("change", [{"STORAGE_HOST": "another"}, {"CHECKPOINT_ROOT": "another"}], ids=["host", "folder"])
def test_another_disk_is_another_root(execution: Execution, root: Path, monkeypatch: pytest.MonkeyPatch, change: dict[str, Any]) -> None:
    begun(execution)
    unmounted(root)
    Execution.objects.filter(pk=execution.pk).update(storage_host=settings.STORAGE_HOST)
    for name, value in change.items():
        monkeypatch.setattr(settings, name, root.with_name(value) if name == "CHECKPOINT_ROOT" else value)
    begun(execution_row(job_row("other")))
    assert CheckpointRoot.objects.count() == 2
