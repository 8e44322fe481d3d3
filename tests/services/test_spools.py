"""What was kept for a job goes with it, after a while."""

import shutil
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from django.utils import timezone

from jobs.models import Job
from jobs.nodes.backpressure import Backpressure
from jobs.nodes.spool import Message, Spool, spool_path
from jobs.services.spools import spools_forget
from tests.services.job_rows import job_row

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def spooled(data: Path, job_uid: str) -> Path:
    path = spool_path(data, job_uid, "in")
    Spool(path).take([Message(value=b"one")], Backpressure())
    return path


def test_buffers_of_a_job_deleted_long_ago_go_and_all_others_stay(tmp_path: Path) -> None:
    alive, late, old = (job_row(name) for name in ("alive", "late", "old"))
    for job, ago in ((late, DAY / 2), (old, DAY * 2)):
        Job.objects.filter(pk=job.pk).update(deleted_at=timezone.now() - ago)
    paths = {name: spooled(tmp_path, str(job.job_uid)) for name, job in (("alive", alive), ("late", late), ("old", old))}
    foreign = spooled(tmp_path, str(uuid4()))
    (tmp_path / "spool" / "notes").mkdir()
    assert spools_forget(data_dir=tmp_path, older_than=DAY) == [str(old.job_uid)]
    assert not paths["old"].parent.exists()
    assert all(path.exists() for path in (paths["alive"], paths["late"], foreign))
    assert spools_forget(data_dir=tmp_path, older_than=DAY) == []
    shutil.rmtree(tmp_path / "spool")
    assert spools_forget(data_dir=tmp_path, older_than=DAY) == []
