"""What nodes kept for a generation goes once nothing can go on with it."""

import os
import time
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from jobs.models import Execution, ExecutionStatus, Job
from jobs.services.work_folders import work_folders, work_folders_forget
from tests.checkpoints.kept import execution_row
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


def kept(data: Path, job_uid: object, generation: object, *, age: timedelta = 2 * HOUR) -> Path:
    page = work_folders(data) / str(job_uid) / str(generation) / "api" / "pages" / "1.json"
    page.parent.mkdir(parents=True)
    page.write_text("{}")
    then = time.time() - age.total_seconds()
    for path in (page, *page.parents[:4]):
        os.utime(path, (then, then))
    return page


def ended(job: Job, status: str) -> Execution:
    return execution_row(job, status=status, end_time=timezone.now())


def test_what_nothing_goes_on_with_goes_and_all_else_stays(tmp_path: Path) -> None:
    job, deleted = job_row("imports"), job_row("deleted")
    Job.objects.filter(pk=deleted.pk).update(deleted_at=timezone.now())
    superseded, failed, young, latest = (
        ended(job, status)
        for status in (ExecutionStatus.COMPLETED, ExecutionStatus.FAILED, ExecutionStatus.COMPLETED, ExecutionStatus.COMPLETED)
    )
    of_deleted = ended(deleted, ExecutionStatus.COMPLETED)
    going = [kept(tmp_path, job.job_uid, superseded.generation), kept(tmp_path, deleted.job_uid, of_deleted.generation)]
    staying = [
        kept(tmp_path, job.job_uid, failed.generation),
        kept(tmp_path, job.job_uid, young.generation, age=HOUR / 2),
        kept(tmp_path, job.job_uid, latest.generation),
        kept(tmp_path, uuid4(), uuid4()),
    ]
    assert len(work_folders_forget(data_dir=tmp_path, older_than=HOUR)) == 2
    assert not any(path.exists() for path in going)
    assert all(path.exists() for path in staying)
    assert work_folders_forget(data_dir=tmp_path, older_than=HOUR) == []


def test_nothing_is_looked_for_where_there_is_nothing(tmp_path: Path) -> None:
    assert work_folders_forget(data_dir=tmp_path, older_than=HOUR) == []
