"""Copies of files go once nothing can read them any more."""

import os
import time
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from jobs.models import ExecutionStatus, Job
from jobs.nodes.stores.mirror import Mirror, mirror_path
from jobs.nodes.stores.samples import sample_appear, sample_is_there, samples_folder
from jobs.services.file_copies import mirrors_forget, samples_forget
from tests.checkpoints.kept import execution_row
from tests.services.job_rows import document_with, job_row, version_add

DAY = timedelta(days=1)


def aged(root: Path, age: timedelta) -> None:
    then = time.time() - age.total_seconds()
    for path in (root, *root.rglob("*")):
        os.utime(path, (then, then))


def copied(data: Path, job_uid: object, node_id: str, *, age: timedelta = 2 * DAY) -> Path:
    mirror = Mirror(mirror_path(data, str(job_uid), node_id))
    mirror.make()
    (mirror.folder / "a.csv").write_text("id\n1\n")
    aged(mirror.root, age)
    return mirror.root


def source_renamed(job: Job, node_id: str) -> None:
    raw = document_with(name=job.job_name)
    raw["nodes"][node_id] = raw["nodes"].pop("numbers")
    raw["edges"]["e1"]["from"] = [node_id, "out"]
    version_add(job, raw)


@pytest.mark.django_db
def test_copies_of_a_job_deleted_long_ago_go_and_all_others_stay(tmp_path: Path) -> None:
    alive, late, old, going_on = (job_row(name) for name in ("alive", "late", "old", "going-on"))
    for job, ago in ((late, DAY / 2), (old, DAY * 2), (going_on, DAY * 2)):
        Job.objects.filter(pk=job.pk).update(deleted_at=timezone.now() - ago)
    execution_row(going_on)
    execution_row(old, status=ExecutionStatus.COMPLETED, end_time=timezone.now())
    mirrors = {job.job_name: copied(tmp_path, job.job_uid, "numbers") for job in (alive, late, old, going_on)}
    foreign = [copied(tmp_path, uuid4(), "numbers"), copied(tmp_path, "no job", "numbers")]
    assert mirrors_forget(data_dir=tmp_path, older_than=DAY) == [mirrors["old"]]
    assert not mirrors["old"].parent.exists()
    assert all((mirror / "files" / "a.csv").exists() for mirror in (mirrors["alive"], mirrors["late"], mirrors["going-on"], *foreign))
    assert mirrors_forget(data_dir=tmp_path, older_than=DAY) == []


@pytest.mark.django_db
def test_copies_for_a_node_go_once_no_run_that_could_go_on_has_it(tmp_path: Path) -> None:
    job, young = job_row("imports"), job_row("young")
    running = execution_row(job)
    for one in (job, young):
        source_renamed(one, "others")
    before, now = copied(tmp_path, job.job_uid, "numbers"), copied(tmp_path, job.job_uid, "others")
    touched = copied(tmp_path, young.job_uid, "numbers", age=DAY / 2)
    assert mirrors_forget(data_dir=tmp_path, older_than=DAY) == []
    type(running).objects.filter(pk=running.pk).update(status=ExecutionStatus.FAILED, end_time=timezone.now())
    assert mirrors_forget(data_dir=tmp_path, older_than=DAY) == []  # it can be resumed
    for status in (ExecutionStatus.COMPLETED, ExecutionStatus.FAILED):
        later = execution_row(job, status=status, end_time=timezone.now())
        type(later).objects.filter(pk=later.pk).update(version=2)
    assert mirrors_forget(data_dir=tmp_path, older_than=DAY) == [before]
    assert not before.exists()
    assert (now / "files" / "a.csv").exists()
    assert touched.exists()


def test_samples_go_that_nobody_looked_at_for_days(tmp_path: Path) -> None:
    place, other = samples_folder(tmp_path) / "place", samples_folder(tmp_path) / "other"
    for sample in (place / "used", place / "unused", place / ".a draft", other / "unused"):
        draft = tmp_path / "draft"
        draft.mkdir()
        (draft / "a.csv").write_text("id\n1\n")
        sample.parent.mkdir(parents=True, exist_ok=True)
        sample_appear(draft, sample)
    aged(samples_folder(tmp_path), 8 * DAY)
    assert sample_is_there(place / "used")
    gone = {place / "unused", place / ".a draft", other / "unused"}
    assert set(samples_forget(data_dir=tmp_path, older_than=7 * DAY)) == gone
    assert not any(sample.exists() for sample in (*gone, other))
    assert (place / "used" / "a.csv").exists()
    assert not sample_is_there(place / "unused")
    assert samples_forget(data_dir=tmp_path, older_than=7 * DAY) == []


@pytest.mark.django_db
def test_nothing_is_looked_for_where_there_is_nothing(tmp_path: Path) -> None:
    assert mirrors_forget(data_dir=tmp_path, older_than=DAY) == []
    assert samples_forget(data_dir=tmp_path, older_than=DAY) == []


def test_no_file_goes_but_a_copy_of_its_own_mirror(tmp_path: Path) -> None:
    """The log of a checkpoint that was brought here may name any file."""
    mirror = Mirror(copied(tmp_path, uuid4(), "files"))
    other = copied(tmp_path, uuid4(), "files") / "files" / "a.csv"
    key = tmp_path / "key"
    key.write_text("secret")
    named = [
        str(key),
        str(other),
        f"{mirror.folder}/../../../../key",
        str(mirror.folder),
        f"{mirror.folder}/a.csv",
        f"{mirror.folder}/b.csv",
    ]
    mirror.remove(named)
    assert (key.exists(), other.exists(), (mirror.folder / "a.csv").exists()) == (True, True, False)
