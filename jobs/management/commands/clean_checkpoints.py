"""`manage.py clean_checkpoints [--dry-run]`: retention over every job, and folders that no row stands for."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.models import Job
from jobs.services.checkpoints import checkpoints_clean_up


class Command(BaseCommand):
    help = "Delete checkpoints beyond the newest of each generation, and folders that no checkpoint or job needs any more."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="tell what would be deleted, and delete nothing")
        parser.add_argument("--job", default=None, help="only of this job")

    def handle(self, *args: Any, **options: Any) -> None:
        dry_run = bool(options["dry_run"])
        try:
            found = checkpoints_clean_up(user=None, dry_run=dry_run, job_name=options["job"])
        except Job.DoesNotExist:
            raise CommandError(f'there is no job "{options["job"]}"') from None
        going = [decision for decision in found if decision.action == "delete"]
        for decision in found:
            if decision.action == "delete" or decision.checkpoint is None:
                self.stdout.write(f"{decision.action}  {decision.bytes:>12,} bytes  {decision.shown}  ({decision.reason})")
        freed = sum(decision.bytes for decision in going)
        word = "would be deleted" if dry_run else "deleted"
        self.stdout.write(f"{len(going)} {word}, {freed:,} bytes; {len(found) - len(going)} kept")
