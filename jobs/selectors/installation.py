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
        checkpoint_on_cancel=settings.CHECKPOINTS_ON_CANCEL,
        checkpoint_on_completion=settings.CHECKPOINTS_ON_COMPLETION,
    )
