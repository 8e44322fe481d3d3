"""Prints a new API token, once."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from jobs.management.commands.load_examples import user_found
from jobs.services.access import token_create


class Command(BaseCommand):
    help = "Make an API token for a user and print it. It is shown this once: only its digest is kept."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user")
        parser.add_argument("--name", default="", help="what it is for")

    def handle(self, *args: Any, user: str, name: str = "", **options: Any) -> None:
        self.stdout.write(token_create(user=user_found(user), name=name))
