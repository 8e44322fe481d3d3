"""Prints a fresh one-time sign-in link."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand
from django.urls import reverse

from jobs.management.commands.load_examples import user_found
from jobs.services.access import sign_in_link_create


class Command(BaseCommand):
    help = "Print a link that signs one user in, once, within ten minutes."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", nargs="?", default="", help="whom it signs in; else the first active superuser")

    def handle(self, *args: Any, user: str = "", **options: Any) -> None:
        token = sign_in_link_create(user=user_found(user))
        self.stdout.write(settings.PUBLIC_URL.rstrip("/") + reverse("sign-in-link", args=[token]))
