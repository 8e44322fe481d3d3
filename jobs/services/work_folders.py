"""What nodes keep on this host's disk for a generation, once nothing can go on with it."""

import logging
import shutil
from datetime import timedelta
from pathlib import Path
from uuid import UUID

from django.utils import timezone

from checkpoints.orphans import last_change, living_generations
from jobs.models import Job

logger = logging.getLogger(__name__)


def work_folders(data_dir: Path) -> Path:
    """Below it lies `<job_uid>/<generation>/<node_id>/`."""
    return data_dir / "work"


def work_folders_forget(*, data_dir: Path, older_than: timedelta) -> list[Path]:
    """Delete the folders of generations that nothing goes on with, untouched for so long; which. Those of jobs that are not ours stay.

    A restore begins a generation of its own, so what is kept is what retries, resumes and continued runs need.
    """
    found = _folders(work_folders(data_dir))
    living = living_generations(Job.objects.filter(job_uid__in={folder.parent.name for folder in found}))
    deleted = []
    for folder in found:
        living_here, changed = living.get(folder.parent.name), last_change(folder)
        if living_here is None or folder.name in living_here or changed is None or changed > timezone.now() - older_than:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        deleted.append(folder)
        logger.info("what nodes kept for generation %s of job %s is gone with it", folder.name, folder.parent.name)
    return deleted


def _folders(root: Path) -> list[Path]:
    return [folder for folder in root.glob("*/*/") if _is_uuid(folder.parent.name) and _is_uuid(folder.name)]


def _is_uuid(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False
