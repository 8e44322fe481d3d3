"""Loads the example jobs with their data and connections; safe to run again."""

from argparse import ArgumentParser
from typing import Any

from django import db
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from jobs.services.examples import examples_load


class Command(BaseCommand):
    help = "Load the example jobs, their data (flights of 2013) and their connections. Safe to run again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", default="", help="who they belong to; else the first active superuser")

    def handle(self, *args: Any, user: str = "", **options: Any) -> None:
        for line in examples_load(user=user_found(user)):
            self.stdout.write(line)


def user_found(name: str) -> User:
    """The user called `name`, or without a name the first active superuser; CommandError if there is none, or no installation."""
    users = User.objects.filter(is_active=True).order_by("pk")
    try:
        found = users.filter(username=name).first() if name else users.filter(is_superuser=True).first()
    except db.Error as error:
        words = "there is no installation here yet: name its DATA_DIR or DATABASE_URL, or make one (make run, or manage.py migrate)"
        raise CommandError(f"{words}. The database says: {str(error).splitlines()[0]}") from None
    if found is None:
        raise CommandError(f'there is no active user "{name}"' if name else "there is no superuser yet: run manage.py createsuperuser")
    return found
