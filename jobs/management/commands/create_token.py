"""Prints a new API token, once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.management.commands.load_examples import user_found
from jobs.models import TokenScope
from jobs.selectors.refusals import Conflict
from jobs.services.access import token_create


class Command(BaseCommand):
    help = "Make an API token for a user and print it. It is shown this once: only its digest is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--name", default="", help="what it is for")
        parser.add_argument("--read-only", action="store_true", help="it may look at everything its user may see, and change nothing")

    def handle(self, *args: Any, user: str, name: str = "", read_only: bool = False, **options: Any) -> None:
        scope = TokenScope.READ if read_only else TokenScope.FULL
        try:
            self.stdout.write(token_create(user=user_found(user), name=name, scope=scope)[1])
        except Conflict as refusal:
            raise CommandError(refusal.message) from None
