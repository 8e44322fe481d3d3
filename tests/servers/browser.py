"""The browser that tests drive: Debian's Chromium or what is on the PATH, else the one Playwright downloaded."""

import os
import shutil
from pathlib import Path

NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def browser_program() -> str | None:
    """Path of a Chromium; None where there is none. Ubuntu's package is only a pointer to a snap: that does not count."""
    given = os.environ.get("CHROMIUM")
    if given:
        return given
    for name in NAMES:
        found = shutil.which(name)
        if found and not _is_snap_pointer(Path(found)):
            return found
    downloaded = sorted(Path.home().glob(".cache/ms-playwright/chromium-*/chrome-linux*/chrome"))
    return str(downloaded[-1]) if downloaded else None


def _is_snap_pointer(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(4096)
    return head.startswith(b"#!") and b"snap" in head
