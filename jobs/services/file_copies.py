"""Copies of files on this host's disk, for runs and for looks at a source, that nobody will read any more."""

import contextlib
import json
import logging
import shutil
import time
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path

from django.db.models import Q, QuerySet
from django.utils import timezone

from checkpoints.orphans import last_change, living_generations
from jobs.models import Execution, Job, JobVersion
from jobs.nodes.stores.mirror import mirrors_by_job
from jobs.nodes.stores.samples import samples_folder

logger = logging.getLogger(__name__)


def mirrors_forget(*, data_dir: Path, older_than: timedelta) -> list[Path]:
    """Delete the copies for nodes that are in no version a job would start, nor in one that its live folders come from; which.

    Only such as nobody touched for so long, and those of a job that was deleted so long ago. Those of jobs that are not ours stay.
    """
    found = mirrors_by_job(data_dir)
    before = timezone.now() - older_than
    jobs = Job.objects.filter(Q(deleted_at=None) | Q(deleted_at__lt=before), job_uid__in=found)
    deleted = []
    for uid, needed in _nodes_needed(jobs).items():
        unneeded = [mirror for mirror in found[uid].glob("*/") if mirror.name not in needed and _untouched(mirror, before)]
        deleted += _removed(unneeded)
        if unneeded:
            logger.info("the files copied for %s of job %s are gone with it", ", ".join(one.name for one in unneeded), uid)
    return deleted


def samples_forget(*, data_dir: Path, older_than: timedelta) -> list[Path]:
    """Delete the beginnings of files that nobody looked at for so long; which."""
    oldest = time.time() - older_than.total_seconds()
    places = list(samples_folder(data_dir).glob("*/"))
    return [gone for place in places for gone in _removed([one for one in place.glob("*/") if _unused(one, oldest)])]


def _nodes_needed(jobs: QuerySet[Job]) -> dict[str, set[str]]:
    """Job uid → nodes of its current version, and of those whose runs can be gone on with or go on."""
    living = living_generations(jobs)
    runs = Execution.objects.filter(job__in=jobs, generation__in={one for some in living.values() for one in some})
    run: dict[int, set[int]] = defaultdict(set)
    for job_id, version in runs.values_list("job", "version").distinct():
        run[job_id].add(version)
    needed: dict[str, set[str]] = {}
    for job in jobs:
        current = set() if job.deleted_at or job.version is None else {job.version}
        texts = JobVersion.objects.filter(job=job, version__in=run[job.pk] | current).values_list("dag_definition", flat=True)
        needed[str(job.job_uid)] = {node_id for text in texts for node_id in json.loads(text)["nodes"]}
    return needed


def _untouched(mirror: Path, before: datetime) -> bool:
    changed = last_change(mirror)
    return changed is not None and changed < before


def _unused(sample: Path, oldest: float) -> bool:
    """One that is used is touched; it may vanish meanwhile."""
    try:
        return sample.stat().st_mtime < oldest
    except FileNotFoundError:
        return False


def _removed(folders: list[Path]) -> list[Path]:
    """And what holds nothing else then."""
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for above in {folder.parent for folder in folders}:
        with contextlib.suppress(OSError):
            above.rmdir()
    return folders
