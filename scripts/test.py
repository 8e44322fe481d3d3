"""`make test`: everything. Checks, the whole suite on SQLite, the part that touches the database again on PostgreSQL, the browser."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from scripts.check import checks_run
from scripts.fetch_jars import JarsUnavailable, jars_fetch
from scripts.machine import missing_packages_install
from tests.servers.postgres import postgres_missing

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "--durations=15"]


def suite(*arguments: str, through: tuple[str, ...] = ()) -> bool:
    return subprocess.run([*through, *PYTEST, *arguments], cwd=ROOT, check=False).returncode == 0


def suite_on_postgres() -> bool:
    if missing := postgres_missing():
        print(f"SKIPPED on PostgreSQL: {missing}")
        return os.environ.get("CI") != "true"
    server = (sys.executable, "-m", "tests.servers.postgres")
    return suite("--database-only", "-m", "not e2e and (server or not slow)", through=server)


def jars() -> bool:
    try:
        jars_fetch(ROOT / ".venv" / "spark-jars")
    except JarsUnavailable as error:
        print(error)
        return False
    return True


def main() -> int:
    missing_packages_install()
    parts: dict[str, Callable[[], bool]] = {
        "Spark's jars": jars,
        "checks and unit tests": checks_run,
        "the suite on SQLite": lambda: suite("-m", "not e2e and (spark or server or postgres or slow)"),
        "the suite on PostgreSQL": suite_on_postgres,
        "the browser": lambda: suite("-m", "e2e"),
    }
    failed = []
    for name, part in parts.items():
        print(f"\n══ {name} ══", flush=True)
        began = time.monotonic()
        if not part():
            failed.append(name)
        print(f"══ {name}: {'FAILED' if name in failed else 'passed'} after {time.monotonic() - began:.0f} s ══", flush=True)
    print(f"\nFAILED: {', '.join(failed)}" if failed else "\nEverything passed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
