"""A PostgreSQL for the run: a cluster of its own in a temporary folder, on a port of its own, stopped by its pid.

Also a script: `python -m tests.servers.postgres COMMAND …` runs the command with DATABASE_URL set to it.
"""

import os
import pwd
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

import psycopg2

from scripts.ports import free_ports
from tests.servers.certificate import self_signed
from tests.servers.waiting import wait_until

PROGRAMS = ("initdb", "postgres", "pg_ctl")


def postgres_folder() -> Path | None:
    """Where the server's own programs are: Debian keeps them off the PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda folder: int(folder.parent.name), reverse=True)
    on_path = [Path(found).resolve().parent for found in [shutil.which("postgres")] if found]
    for folder in [*debian, *on_path]:
        if all((folder / program).exists() for program in PROGRAMS):
            return folder
    return None


def postgres_missing() -> str:
    """Why no PostgreSQL can be started here, and what to do; empty when one can."""
    if postgres_folder() is None:
        return "PostgreSQL is not installed (Debian, Ubuntu: apt-get install postgresql)"
    return ""


class PostgresServer:
    """A context: inside it `url` names an empty database whose user may create others.

    PostgreSQL refuses to run as root, so root starts it as the user `postgres`.
    """

    def __init__(self) -> None:
        binaries = postgres_folder()
        if binaries is None:
            raise RuntimeError(postgres_missing())
        self.binaries = binaries
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-postgres-"))
        (self.port,) = free_ports(1)
        self._account = "postgres" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        self.password = secrets.token_hex(12)
        self.url = f"postgres://pipeline:{self.password}@127.0.0.1:{self.port}/pipeline"

    def __enter__(self) -> "PostgresServer":
        password_file = self.folder / "password"
        password_file.write_text(self.password)
        for path in (self.folder, password_file):
            shutil.chown(path, self._account)
        data = str(self.folder / "data")
        signing = ["--auth=scram-sha-256", "--username=pipeline", f"--pwfile={password_file}"]
        self._run("initdb", "--pgdata", data, "--encoding=UTF8", "--locale=C", "--no-sync", *signing)
        options = f"-c port={self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        self._run("pg_ctl", "-D", data, "-o", options, "-l", str(self.folder / "log"), "-w", "-t", "60", "start")
        environment = {**os.environ, "PGPASSWORD": self.password}
        address = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "pipeline"]
        subprocess.run([str(self.binaries / "createdb"), *address, "pipeline"], check=True, env=environment)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")
        finally:
            shutil.rmtree(self.folder, ignore_errors=True)

    @contextmanager
    def encrypting(self) -> Iterator[str]:
        """Inside it new lines are encrypted where the client asks for it; the certificate, which is its own authority."""
        certificate, key = self_signed()
        for name, text in (("server.crt", certificate), ("server.key", key)):
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o600)
            shutil.chown(self.folder / name, self._account)
        self._set(f"ssl_cert_file = '{self.folder}/server.crt'", f"ssl_key_file = '{self.folder}/server.key'", "ssl = on")
        try:
            yield certificate
        finally:
            self._set("ssl = off")

    def _set(self, *settings: str) -> None:
        """Of a running server; returns when it holds for the next session."""
        with closing(psycopg2.connect(self.url)) as session:
            session.autocommit = True
            with session.cursor() as cursor:
                for setting in settings:
                    cursor.execute(f"ALTER SYSTEM SET {setting}")
                cursor.execute("SELECT pg_reload_conf()")
        name, _, value = settings[-1].partition(" = ")
        wait_until(lambda: self._told(name) == value, seconds=10, what=settings[-1])

    def _told(self, name: str) -> str:
        with closing(psycopg2.connect(self.url)) as session, session.cursor() as cursor:
            cursor.execute(f"SHOW {name}")
            row: Any = cursor.fetchone()
            return str(row[0])

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.binaries / program), *arguments]
        if os.getuid() == 0:
            command = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", *command]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}: {done.stdout}{done.stderr}")


def main() -> int:
    if missing := postgres_missing():
        print(missing, file=sys.stderr)
        return 1
    with PostgresServer() as server:
        return subprocess.run(sys.argv[1:], env={**os.environ, "DATABASE_URL": server.url}, check=False).returncode


if __name__ == "__main__":
    raise SystemExit(main())
