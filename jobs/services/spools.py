"""Buffers of messages on this host's disk that nobody will read any more."""

import logging
import shutil
from datetime import timedelta
from pathlib import Path

from django.utils import timezone

from jobs.models import Job
from jobs.nodes.spool import spools_by_job

logger = logging.getLogger(__name__)


def spools_forget(*, data_dir: Path, older_than: timedelta) -> list[str]:
    """Delete the buffers of jobs that were deleted so long ago; their uids. Those of jobs that are not ours are left alone."""
    found = spools_by_job(data_dir)
    gone = Job.objects.filter(job_uid__in=found, deleted_at__lt=timezone.now() - older_than).values_list("job_uid", flat=True)
    deleted = [str(uid) for uid in gone]
    for uid in deleted:
        shutil.rmtree(found[uid], ignore_errors=True)
        logger.info("the messages kept for job %s are gone with it", uid)
    return deleted
