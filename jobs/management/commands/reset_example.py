"""Sets an example job back to its beginning."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.management.commands.load_examples import user_found
from jobs.models import Job
from jobs.selectors.refusals import Refusal
from jobs.services.examples import EXAMPLES, example_reset


class Command(BaseCommand):
    help = "Empty what an example job read and wrote, so that it starts over; a paused execution is cancelled, a running one refuses it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("job_name", choices=EXAMPLES)
        parser.add_argument("--user", default="", help="who resets it; else the first active superuser")

    def handle(self, *args: Any, job_name: str, user: str = "", **options: Any) -> None:
        job = Job.objects.filter(job_name=job_name, deleted_at=None).first()
        if job is None:
            raise CommandError(f'there is no job "{job_name}": run manage.py load_examples')
        try:
            example_reset(job=job, user=user_found(user))
        except Refusal as refusal:
            raise CommandError(refusal.message) from None
        self.stdout.write(f"{job_name} starts over")
