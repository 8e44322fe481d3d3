"""What holds in this installation for jobs that say nothing else."""

from django.conf import settings

from jobs.engine.plan import Settings


def settings_default() -> Settings:
    """The engine's defaults with those that the installation's environment sets."""
    return Settings(
        checkpoint_interval=settings.CHECKPOINT_INTERVAL_SECONDS,
        checkpoint_rows=settings.CHECKPOINT_ROWS,
        checkpoint_timeout=settings.CHECKPOINT_TIMEOUT_SECONDS,
        checkpoint_min_pause=settings.CHECKPOINT_MIN_PAUSE_SECONDS,
        checkpoint_tolerable_failures=settings.CHECKPOINT_TOLERABLE_FAILURES,
        checkpoint_storage=settings.CHECKPOINT_STORAGE,
        checkpoint_on_cancel=settings.CHECKPOINTS_ON_CANCEL,
        checkpoint_on_completion=settings.CHECKPOINTS_ON_COMPLETION,
    )


#: Of an archive besides its files: what stands before and behind each, and around all of them.
_AROUND_FILE, _AROUND_ALL = 4096, 16 << 20


def largest_upload() -> int:
    """So many bytes the largest archive has that is taken, and the form it is sent in."""
    return int(settings.CHECKPOINT_ARCHIVE_BYTES + settings.CHECKPOINT_ARCHIVE_FILES * _AROUND_FILE + _AROUND_ALL)
