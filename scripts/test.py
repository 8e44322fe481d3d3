"""`make test`: everything. Checks, the whole suite on SQLite, the part that touches the database again on PostgreSQL, the browser.

Suites that mostly wait for their processes run beside others that mostly compute; each has its own servers and folders.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.check import checks_run
from scripts.class_archive import archive_make
from scripts.fetch_jars import JarsUnavailable, jars_fetch
from scripts.java_home import java_home_first
from scripts.machine import missing_packages_install
from tests.servers.h2 import h2_jars_fetch
from tests.servers.hbase import hbase_jars_fetch
from tests.servers.kafka import kafka_jars_fetch
from tests.servers.postgres import postgres_missing
from tests.servers.rocketmq import rocketmq_jars_fetch
from tests.servers.s3 import s3_jars_fetch

ROOT = Path(__file__).resolve().parent.parent
PYTEST = [sys.executable, "-m", "pytest", "--durations=40"]
LONG = "not e2e and not faults and (spark or server or postgres or slow)"

Part = Callable[[], bool]


def suite(*arguments: str, through: tuple[str, ...] = ()) -> bool:
    """What it prints is shown as a whole when it ends, for another may run beside it."""
    done = subprocess.run(
        [*through, *PYTEST, *arguments],
        cwd=ROOT,
        check=False,
        text=True,
        errors="replace",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    print(done.stdout, flush=True)
    return done.returncode == 0


def suite_on_postgres() -> bool:
    if missing := postgres_missing():
        print(f"SKIPPED on PostgreSQL: {missing}")
        return os.environ.get("CI") != "true"
    server = (sys.executable, "-m", "tests.servers.postgres")
    return suite("--database-only", "-m", "not e2e and not faults and not one_database and (server or not slow)", through=server)


def suite_in_processes() -> bool:
    chosen = f"processes and {LONG}"
    return suite("-m", chosen if postgres_missing() else f"{chosen} and not postgres_alone")


def sparks_jars_fetch() -> None:
    jars_fetch(ROOT / ".venv" / "spark-jars")
    archive_make(ROOT / ".venv" / "spark-jars")


def jars() -> bool:
    """All at once: they wait for the network."""
    servers = (h2_jars_fetch, hbase_jars_fetch, kafka_jars_fetch, rocketmq_jars_fetch, s3_jars_fetch)
    with ThreadPoolExecutor() as pool:
        return all(list(pool.map(fetched, (sparks_jars_fetch, *servers))))


def fetched(fetch: Callable[[], object]) -> bool:
    try:
        fetch()
    except JarsUnavailable as error:
        print(error)
        return False
    return True


#: The lanes of a group run at the same time, the parts of a lane one after the other.
Lane = Mapping[str, Part]
GROUPS: tuple[tuple[Lane, ...], ...] = (
    ({"the jars of Spark and of the servers": jars}, {"checks and unit tests": checks_run}),
    (
        {"the suite on SQLite, in processes": suite_in_processes, "the suite on PostgreSQL": suite_on_postgres},
        {"the suite on SQLite, in one session": lambda: suite("-m", f"not processes and {LONG}")},
    ),
    ({"the browser": lambda: suite("-m", "e2e")},),
)


def timed(name: str, part: Part) -> bool:
    print(f"══ {name} begins ══", flush=True)
    began = time.monotonic()
    passed = part()
    print(f"══ {name}: {'passed' if passed else 'FAILED'} after {time.monotonic() - began:.0f} s ══\n", flush=True)
    return passed


def lane_run(lane: Lane) -> list[str]:
    """The names of the parts that failed."""
    return [name for name, part in lane.items() if not timed(name, part)]


def main() -> int:
    java_home_first()
    missing_packages_install()
    failed: list[str] = []
    for group in GROUPS:
        with ThreadPoolExecutor(len(group)) as pool:
            failed += [name for names in pool.map(lane_run, group) for name in names]
    print(f"FAILED: {', '.join(failed)}" if failed else "Everything passed", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
