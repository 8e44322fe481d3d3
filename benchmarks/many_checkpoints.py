"""100,000 checkpoints: how fast their pages answer, and how long a clean-up of 10,000 takes and holds up a running job.

`python -m benchmarks.many_checkpoints`; on SQLite, or where DATABASE_URL leads (an empty database). Pages are asked in this process:
their time is that of the view and of the database, without a server's.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import django

from benchmarks.installation import percentile
from scripts.ports import free_port
from tests.servers.redis import RedisServer

if TYPE_CHECKING:
    from django.test import Client

    from checkpoints.models import Checkpoint
    from jobs.models import Execution, Project

JOBS, EACH, UNWANTED = 100, 1000, 100
TRIES = 40
PAGES = (
    "/api/checkpoints",
    "/api/checkpoints?status=COMPLETED",
    "/api/checkpoints?kept=true",
    "/api/checkpoints?job=job-7",
    "/api/checkpoints?q=job-7",
    "/api/checkpoints/usage",
    "/api/checkpoints/retention",
    "/api/checkpoints/orphans",
    "/admin/checkpoints/checkpoint/",
)


def seed(project: Project) -> list[Execution]:
    """A job has one execution with 1,000 checkpoints: the oldest deleted, then pinned ones without a file, then 110 of which ten stay."""
    from checkpoints.models import Checkpoint
    from jobs.models import Execution, Job

    Checkpoint._meta.get_field("create_time").auto_now_add = False
    Job.objects.bulk_create(
        [Job(project=project, job_name=f"job-{number}", title=f"Job {number}", job_type="STREAMING", version=1) for number in range(JOBS)]
    )
    facts = {"job_type": "STREAMING", "version": 1, "status": "RUNNING", "triggered_by": "MANUAL", "attempt": 1}
    runs = [Execution(job=job, job_name=job.job_name, generation=uuid.uuid4(), **facts) for job in Job.objects.filter(project=project)]
    Execution.objects.bulk_create(runs)
    for run in runs:
        Checkpoint.objects.bulk_create([row(run, number) for number in range(1, EACH + 1)])
        files(run)
    return runs


def row(run: Execution, number: int) -> Checkpoint:
    """One a minute."""
    from django.utils import timezone

    from checkpoints.models import Checkpoint

    with_files = number > EACH - UNWANTED - 10
    history = number <= EACH // 2
    return Checkpoint(
        execution=run,
        generation=run.generation,
        checkpoint_id=number,
        checkpoint_type="STREAMING",
        status="EXPIRED" if history else "COMPLETED",
        pinned=not (history or with_files),
        origin="INTERVAL",
        create_time=timezone.now() - timedelta(minutes=EACH - number),
        state_data={"sources": {"numbers": {"0": {"topic": {str(part): number * 1000 for part in range(12)}}}}},
        storage_path=str(folder(run, number)),
        storage_size_bytes=4000,
        exclusive_bytes=4000 if with_files else 0,
        phases={"cut": 4, "verify": 2},
        queries={"out": {"batch_id": number, "sinks": ["out"]}},
    )


def folder(run: Execution, number: int) -> Path:
    from django.conf import settings

    from checkpoints.storage import checkpoint_folder

    return checkpoint_folder(Path(settings.CHECKPOINT_ROOT).resolve(), str(run.job.job_uid), run.execution_id, number)


def files(run: Execution) -> None:
    """The files of the newest, laid out as a stateless query's, linked among each other, and the folders of pinned ones."""
    for number in range(EACH // 2 + 1, EACH - UNWANTED - 9):
        folder(run, number).mkdir(parents=True)
    first = folder(run, EACH - UNWANTED - 9)
    for log in ("offsets", "commits"):
        (first / "out" / log).mkdir(parents=True)
        for batch in range(3):
            (first / "out" / log / str(batch)).write_text("v1\n{}\n" * 20)
    for name in ("manifest.json", "out/metadata", "out/manifest.json"):
        (first / name).write_text("{}")
    for number in range(EACH - UNWANTED - 8, EACH + 1):
        shutil.copytree(first, folder(run, number), copy_function=os.link)


def asked(client: Client, path: str) -> list[float]:
    """The first counts too: what is found out once for many questions is found out in it."""
    taken = []
    for _ in range(TRIES):
        begun = time.perf_counter()
        answer = client.get(path)
        taken.append(time.perf_counter() - begun)
        if answer.status_code != 200:
            raise RuntimeError(f"{path}: {answer.status_code}")
    return taken


class Heartbeats:
    """What a running job does meanwhile: it writes its row ten times a second, and the longest that took is kept."""

    def __init__(self, run: Execution) -> None:
        self.longest = 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._beat, args=(run.pk,))

    def __enter__(self) -> Heartbeats:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._ended.set()
        self._thread.join()

    def _beat(self, execution: int) -> None:
        from django.db import connection
        from django.db.models.functions import Now

        from jobs.models import Execution

        while not self._ended.wait(0.1):
            begun = time.perf_counter()
            Execution.objects.filter(pk=execution).update(confirmed_time=Now())
            self.longest = max(self.longest, time.perf_counter() - begun)
        connection.close()


def pages(client: Client) -> None:
    for path in PAGES:
        figures = asked(client, path)
        p50, p95 = percentile(figures, 0.5) * 1000, percentile(figures, 0.95) * 1000
        print(f"{path}: p50 {p50:.0f} ms, p95 {p95:.0f} ms (aim below 100), the first {figures[0] * 1000:.0f} ms")


def clean(run: Execution) -> None:
    from checkpoints.cleaning import checkpoints_clean
    from checkpoints.retention import Scope

    for dry_run, words in ((True, "would delete"), (False, "deleted")):
        with Heartbeats(run) as beats:
            begun = time.perf_counter()
            found = checkpoints_clean(scope=Scope(), dry_run=dry_run, deleted_by="benchmark")
            taken = time.perf_counter() - begun
        gone = sum(decision.action == "delete" for decision in found)
        print(f"clean-up {words} {gone:,} of {len(found):,} in {taken:.1f} s (aim below 60)")
        print(f"a running job waited {beats.longest * 1000:.0f} ms at most")


def main(data: str) -> None:
    port = free_port()
    os.environ.update(DATA_DIR=data, DJANGO_SETTINGS_MODULE="pipeline_web.settings", REDIS_URL=f"redis://127.0.0.1:{port}/0")
    django.setup()
    with RedisServer(port, Path(data) / "redis"):
        measure()


def measure() -> None:
    from django.contrib.auth.models import User
    from django.core.management import call_command
    from django.db import connection
    from django.test import Client

    from jobs.models import Project

    call_command("migrate", verbosity=0)
    runs = seed(Project.objects.get(slug="default"))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    client = Client(HTTP_HOST="localhost")
    client.force_login(User.objects.create_superuser("benchmark", password=None))
    pages(client)
    clean(runs[0])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="pipeline-checkpoints-") as made:
        main(made)
