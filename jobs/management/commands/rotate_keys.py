"""`manage.py rotate_keys`: every connection's secrets under the first key, so that the others can be taken away."""

from typing import Any

from django import db
from django.core.management.base import BaseCommand, CommandError

from jobs.services.key_rotation import secrets_rotate


class Command(BaseCommand):
    help = "Encrypt the secrets of every connection with the first of ENCRYPTION_KEYS, so that none needs the others any more."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            done, unreadable = secrets_rotate()
        except db.Error as error:
            raise CommandError(f"the connections cannot be read or written: {str(error).splitlines()[0]}") from None
        self.stdout.write(f"connections whose secrets are under the first key now: {done}")
        if unreadable:
            names = ", ".join(unreadable)
            raise CommandError(f"of {len(unreadable)} no key opens the secrets, which are left as they are: {names}")
