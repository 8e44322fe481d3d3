"""`make run`: the whole product on this machine, in one terminal, until Ctrl-C."""

import asyncio
import fcntl
import json
import os
import secrets
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from pipeline_web.addresses import EVERY_INTERFACE, own_address
from scripts.fetch_jars import JarsUnavailable, jars_fetch
from scripts.frontend import FrontendBroken, frontend_build
from scripts.java_classes import java_classes_make
from scripts.java_home import java_home_first
from scripts.ports import free_port
from scripts.services import redis_binary
from scripts.supervisor import Service, Supervisor

ROOT = Path(__file__).resolve().parent.parent
#: One of them is in a data folder that was used before, if only by a command.
OURS = ("run.lock", "keys", "pipeline_web.sqlite3")
#: What a person, or a disk, may have put into one that was not.
BROUGHT = {"files", "project-files", "checkpoints", "lost+found"}


class CannotStart(Exception):
    """One line for the person at the terminal: what is in the way, and the remedy."""


@dataclass(frozen=True)
class Redis:
    port: int
    password: str
    config: Path

    @property
    def log(self) -> Path:
        return self.config.with_name("redis.log")

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"


def main() -> int:
    java_home_first()
    host, port = os.environ.get("HOST") or "127.0.0.1", os.environ.get("PORT") or "8000"
    data = Path(os.environ.get("DATA_DIR") or ROOT / "data").expanduser().resolve()
    # Until the supervisor listens itself, a request to stop ends the preparations as Ctrl-C does.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        port_check(host, port)
        with data_lock(data) as lock:
            redis = redis_configure(data / "redis")
            environment = variables(host, port, data, redis)
            with running(data, environment):
                prepare(environment)
                kept = services(host, port, data, redis)
                return asyncio.run(Supervisor(kept, cwd=ROOT, environment=environment, handed_on=[lock.fileno()]).run())
    except (CannotStart, FrontendBroken, JarsUnavailable) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def port_check(host: str, port: str) -> None:
    if not port.isdigit() or not 0 < int(port) < 65536:
        raise CannotStart(f"PORT={port} is not a port number (1–65535): PORT=8001 make run")
    try:
        with socket.create_server((host, int(port)), family=socket.AF_INET6 if ":" in host else socket.AF_INET):
            pass
    except PermissionError:
        raise CannotStart(f"Port {port} is reserved for the system: choose one from 1024 on, PORT=8001 make run") from None
    except socket.gaierror:
        raise CannotStart(f"HOST={host} is not an address of this machine: HOST=127.0.0.1 make run") from None
    except OSError as error:
        raise CannotStart(f"Port {port} on {host} is taken ({error.strerror}): PORT={int(port) % 65535 + 1} make run") from None


def data_lock(data: Path) -> IO[str]:
    """Held while the product runs: two runs on one data folder would share a database and fight over its drivers.

    A service that is handed its descriptor holds it too, so that what a killed start left behind keeps others out.
    """
    try:
        data.mkdir(parents=True, exist_ok=True, mode=0o700)
        if is_others(data):
            raise CannotStart(f"DATA_DIR={data} is used for something else: DATA_DIR={data / 'pipelines'} make run")
        close_to_others(data)
        lock = (data / "run.lock").open("w")
    except OSError as error:
        raise CannotStart(f"DATA_DIR={data} cannot be written ({error.strerror}): DATA_DIR=/another/folder make run") from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.close()
        raise CannotStart(f"Another start already uses {data}: stop it, or DATA_DIR=/another/folder make run") from None
    return lock


def is_others(data: Path) -> bool:
    """Whether a folder is in use for something else, such as /tmp or /srv: closing it to others would take it away from them."""
    if data.stat().st_mode & stat.S_ISVTX:
        return True
    return not any((data / name).exists() for name in OURS) and any(entry.name not in BROUGHT for entry in data.iterdir())


def close_to_others(data: Path) -> None:
    """Nobody else gets into a data folder, whoever made it: that protects everything in it, whatever its own modes are."""
    if not data.stat().st_mode & 0o077:
        return
    with suppress(OSError):  # it belongs to another account, or its disk knows no modes
        data.chmod(0o700)
    if data.stat().st_mode & 0o077:
        say(f"Other accounts can get into {data}, and this one cannot change that: chmod 700 {data}")
    else:
        say(f"{data} was open to other accounts, and is closed to them now")


def redis_configure(folder: Path) -> Redis:
    """A configuration for a Redis on loopback; its password stands in a file of mode 600 and not among a process's arguments."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    port = free_port()
    redis = Redis(port=port, password=secrets.token_hex(16), config=folder / "redis.conf")
    redis.config.touch(mode=0o600)
    lines = [
        f"port {port}",
        "bind 127.0.0.1",
        f'dir "{folder}"',
        f'logfile "{redis.log.name}"',
        "save 60 1",
        # What it holds are hints: with a full disk it goes on without keeping them.
        "stop-writes-on-bgsave-error no",
        f"requirepass {redis.password}",
    ]
    redis.config.write_text("\n".join([*lines, "appendonly no", "loglevel warning", ""]))
    return redis


def variables(host: str, port: str, data: Path, redis: Redis) -> dict[str, str]:
    """The environment of every service: what the person gave, and what only this start knows."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    if host in EVERY_INTERFACE:
        names = machine_names()
        environment.setdefault("ALLOWED_HOSTS", ",".join([*names, "localhost", "127.0.0.1", "[::1]"]))
        environment.setdefault("PUBLIC_URL", f"http://{names[0]}:{port}")
    return environment | {
        "HOST": host,
        "PORT": port,
        "DATA_DIR": str(data),
        "REDIS_URL": redis.url,
        "PIPELINE_LOCAL_ADDRESS": own_address(host, port),
        "DJANGO_SETTINGS_MODULE": "pipeline_web.settings",
        "PYTHONUNBUFFERED": "1",
        # In a container everything is root; Celery's warning is about pickled messages, and ours are JSON.
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges",
    }


@contextmanager
def running(data: Path, environment: dict[str, str]) -> Iterator[None]:
    """While the product runs, `running.json` (mode 600) tells commands in other terminals where it and its Redis are."""
    note = data / "running.json"
    note.unlink(missing_ok=True)
    note.touch(mode=0o600)
    names = ("HOST", "PORT", "REDIS_URL", "PUBLIC_URL", "ALLOWED_HOSTS")
    note.write_text(json.dumps({name: environment[name] for name in names if name in environment}))
    try:
        yield
    finally:
        note.unlink(missing_ok=True)


def machine_names() -> list[str]:
    """What others may call this machine by: its address on the way out, then its names."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # nothing is sent
            address = str(probe.getsockname()[0])
        except OSError:
            address = "127.0.0.1"
    return list(dict.fromkeys([address, socket.gethostname(), socket.getfqdn()]))


def prepare(environment: dict[str, str]) -> None:
    """Front end, jars, tables and examples; only what changed since the last start costs time."""
    (ROOT / "staticfiles").mkdir(exist_ok=True)
    say("Preparing: front end, Spark's jars, tables, examples")
    with ThreadPoolExecutor() as pool:
        front, jars = (
            pool.submit(frontend_build),
            pool.submit(sparks_jars_make, Path(environment.get("SPARK_JARS_DIR") or ROOT / ".venv" / "spark-jars")),
        )
        tables = subprocess.run([sys.executable, "-m", "scripts.prepare"], cwd=ROOT, env=environment, check=False)
        front.result()
        jars.result()
    if tables.returncode:
        raise CannotStart("Preparing the tables and the examples failed: the reason stands above")


def sparks_jars_make(folder: Path) -> None:
    jars_fetch(folder)
    java_classes_make(folder)


def services(host: str, port: str, data: Path, redis: Redis) -> list[Service]:
    """In the order of their start; they are stopped in reverse."""
    python, celery = sys.executable, [sys.executable, "-m", "celery", "--quiet", "-A", "pipeline_web"]
    web = ["-m", "uvicorn", "pipeline_web.asgi:application", "--host", host, "--port", port]
    quiet = ["--log-level", "warning", "--no-access-log", "--timeout-graceful-shutdown", "3"]
    level = f"--loglevel={os.environ.get('LOG_LEVEL') or 'WARNING'}"  # Celery's own INFO is three lines a second
    beat = ["beat", level, "--pidfile=", f"--schedule={data / 'beat-schedule'}"]
    return [
        Service("redis", [redis_binary(), str(redis.config)], log=redis.log),
        Service("worker", [*celery, "worker", "--pool=prefork", "--concurrency=2", level], stop_seconds=60),
        Service("web", [python, *web, *quiet]),
        Service("beat", [*celery, *beat]),
        Service("feeder", [python, "manage.py", "feed_flights"], may_finish=True),
        Service("archive", [python, "-m", "scripts.class_archive"], may_finish=True, stop_seconds=2),
        Service("ready", [python, "-m", "scripts.announce"], may_finish=True, stop_seconds=2),
    ]


def say(words: str) -> None:
    print(f"· {words}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
