"""Feeds the streaming example: one day of flights every few seconds."""

import signal
import threading
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from jobs.services.examples import incoming_folder
from jobs.services.flights import day_feed


class Command(BaseCommand):
    help = "Drop one day of flights every few seconds into the folder that the streaming example watches, the year long."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--interval", type=float, default=3.0, help="seconds between two days (default: 3)")
        parser.add_argument("--days", type=int, default=0, help="stop after so many days; else go on, also after a reset")

    def handle(self, *args: Any, interval: float = 3.0, days: int = 0, **options: Any) -> None:
        if interval < 0 or days < 0:
            raise CommandError("--interval and --days cannot be negative")
        stopped = threading.Event()
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: stopped.set())
            signal.signal(signal.SIGINT, lambda *_: stopped.set())
        folder = incoming_folder()
        left = days or None
        while not stopped.is_set() and left != 0:
            left = self._feed(folder, left)
            stopped.wait(0 if left == 0 else interval)

    def _feed(self, folder: Path, left: int | None) -> int | None:
        """How many days are left to feed. The position is the folder itself: emptying it starts over, a restart goes on."""
        try:
            day = day_feed(folder)
        except FileNotFoundError:  # a reset moved the folder away in between
            return left
        if day is None:
            return None if left is None else 0
        self.stdout.write(f"flights of {day}")
        return None if left is None else left - 1
