"""Tables as the migrations make them, kept between runs of the tests: SQLite begins with a copy."""

import hashlib
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import django
from django.apps import apps


def migrated_file(folder: Path) -> Path:
    """Where in `folder` the tables stand that the migrations of today make; without them, where they go."""
    digest = hashlib.sha256(django.__version__.encode())
    for config in apps.get_app_configs():
        for path in sorted(Path(config.path, "migrations").glob("*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return folder / f"{digest.hexdigest()[:32]}.sqlite3"


def migrated_keep(database: Path, kept: Path) -> None:
    """Keep the tables of `database`, and no older ones. Several runs may do so at a time."""
    unready = kept.with_suffix(f".{os.getpid()}")
    with closing(sqlite3.connect(database)) as line:
        line.execute("VACUUM INTO ?", (str(unready),))
    unready.rename(kept)
    for older in set(kept.parent.glob("*.sqlite3")) - {kept}:
        older.unlink(missing_ok=True)
