"""`make test`: everything. Checks, the whole suite on SQLite, the part that touches the database again on PostgreSQL, the browser.

Four parts run at a time, for each waits for servers, drivers and pages more than half of its time; every one has its own servers and
folders.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
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
_AT_A_TIME = 4
_ONE_BY_ONE = _NODES, _ENGINE, _CHECKPOINTS = "tests/nodes", "tests/engine", "tests/checkpoints"
LONG = "not e2e and not faults and (spark or server or postgres or slow or disk)"

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


def suite_without_servers(*where: str) -> bool:
    return suite("-m", f"not processes and not server and {LONG}", *where)


def suite_with_servers(files: Iterable[Path]) -> bool:
    """One part, in which each server starts once."""
    elsewhere = [str(file) for file in files if not file.is_relative_to(ROOT / _NODES)]
    return suite("-m", f"not processes and server and {LONG}", _NODES, *elsewhere)


def suite_in_processes(files: Iterable[Path]) -> bool:
    chosen = f"processes and {LONG}"
    return suite("-m", chosen if postgres_missing() else f"{chosen} and not postgres_alone", *map(str, files))


def files_marked(mark: str) -> list[Path]:
    """Reading them all to choose a few takes half a minute."""
    return [file for file in sorted((ROOT / "tests").rglob("test_*.py")) if f"mark.{mark}" in file.read_text()]


def of_drivers(files: Iterable[Path], *, wanted: bool = True) -> list[Path]:
    return [file for file in files if file.is_relative_to(ROOT / "tests" / "driver") == wanted]


def sparks_jars_fetch() -> None:
    jars_fetch(ROOT / ".venv" / "spark-jars")
    archive_make(ROOT / ".venv" / "spark-jars")


def sparks_jars() -> bool:
    return fetched(sparks_jars_fetch)


def servers_jars() -> bool:
    """All at once: they wait for the network."""
    with ThreadPoolExecutor() as pool:
        return all(list(pool.map(fetched, (h2_jars_fetch, hbase_jars_fetch, kafka_jars_fetch, rocketmq_jars_fetch, s3_jars_fetch))))


def packages() -> bool:
    """Whatever it cannot install: tests that need it say so."""
    missing_packages_install()
    return True


def fetched(fetch: Callable[[], object]) -> bool:
    try:
        fetch()
    except JarsUnavailable as error:
        print(error)
        return False
    return True


#: What the parts need; the network takes most of its time, and the servers' jars take the longest.
MADE: Mapping[str, Part] = {"packages of this machine": packages, "Spark's jars": sparks_jars, "the servers' jars": servers_jars}
_WITHOUT_SERVERS = ("packages of this machine", "Spark's jars")
#: They begin in this order, each once one before it has ended: the longest first, so that the last ones end at about the same time.
PARTS: Mapping[str, tuple[Part, Iterable[str]]] = {
    "the suite on SQLite, engine without servers": (lambda: suite_without_servers(_ENGINE), _WITHOUT_SERVERS),
    "the suite on SQLite, servers": (lambda: suite_with_servers(files_marked("server")), MADE),
    "the suite on SQLite, other processes": (lambda: suite_in_processes(of_drivers(files_marked("processes"), wanted=False)), MADE),
    "the suite on SQLite, drivers": (lambda: suite_in_processes(of_drivers(files_marked("processes"))), MADE),
    "the suite on SQLite, nodes without servers": (lambda: suite_without_servers(_NODES), _WITHOUT_SERVERS),
    "the suite on PostgreSQL": (suite_on_postgres, MADE),
    "the browser": (lambda: suite("-m", "e2e and not faults", *map(str, files_marked("e2e"))), MADE),
    "the suite on SQLite, checkpoints without servers": (lambda: suite_without_servers(_CHECKPOINTS), _WITHOUT_SERVERS),
    "the suite on SQLite, all else without servers": (
        lambda: suite_without_servers(*map("--ignore={}".format, _ONE_BY_ONE)),
        _WITHOUT_SERVERS,
    ),
}


def timed(name: str, part: Part) -> bool:
    print(f"══ {name} begins ══", flush=True)
    began = time.monotonic()
    passed = part()
    print(f"══ {name}: {'passed' if passed else 'FAILED'} after {time.monotonic() - began:.0f} s ══\n", flush=True)
    return passed


def main() -> int:
    java_home_first()
    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        made = {name: pool.submit(timed, name, make) for name, make in MADE.items()}
        ended = made | {"checks and unit tests": pool.submit(timed, "checks and unit tests", lambda: checks_run(gently=True))}
        for name, (part, needs) in PARTS.items():
            ended[name] = pool.submit(timed, name, behind([made[need] for need in needs], part))
    failed = [name for name, part in ended.items() if not part.result()]
    print(f"FAILED: {', '.join(failed)}" if failed else "Everything passed", flush=True)
    return 1 if failed else 0


def behind(made: Iterable[Future[bool]], part: Part) -> Part:
    """`part`, which needs what is made meanwhile."""
    return lambda: all(one.result() for one in made) and part()


if __name__ == "__main__":
    raise SystemExit(main())
