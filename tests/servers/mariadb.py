"""A MariaDB for the run: its own data in a temporary folder, a port of its own, TLS by a certificate of its own, stopped by its pid."""

import os
import pwd
import secrets
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

import pymysql

from scripts.ports import free_port
from tests.servers.certificate import self_signed
from tests.servers.waiting import wait_until

USER = "pipeline"
_PROGRAMS = ("mariadbd", "mariadb-install-db")
#: Small, and fast rather than safe on a loss of power; a killed process loses nothing.
_CONFIG = """[mariadbd]
datadir={folder}/data
socket={folder}/socket
port={port}
bind-address=127.0.0.1
skip-name-resolve
innodb-flush-log-at-trx-commit=2
innodb-buffer-pool-size=64M
innodb-log-file-size=32M
performance-schema=OFF
ssl-cert={folder}/server.crt
ssl-key={folder}/server.pem
init-file={folder}/init.sql
log-error={folder}/log.err
pid-file={folder}/pid
{user}
"""


def _program(name: str) -> str | None:
    """Debian keeps the server itself in a folder that only root has on its path."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def mariadb_missing() -> str:
    """Why no MariaDB can be started here, and what to do; empty when one can."""
    if not all(_program(name) for name in _PROGRAMS):
        return "MariaDB is not installed (Debian, Ubuntu: apt-get install mariadb-server)"
    return ""


class MariadbServer:
    """A context: inside it USER signs in with `password` at `port` of loopback and may do everything.

    MariaDB refuses to run as root, so root starts it as the user `mysql`.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-mariadb-"))
        self.port = free_port()
        self.password = secrets.token_hex(12)
        self.certificate, self._key = self_signed()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "MariadbServer":
        user = "user=mysql" if os.getuid() == 0 else ""
        init = f"CREATE USER IF NOT EXISTS {USER}@'%' IDENTIFIED BY '{self.password}'; GRANT ALL ON *.* TO {USER}@'%' WITH GRANT OPTION;"
        (self.folder / "my.cnf").write_text(_CONFIG.format(folder=self.folder, port=self.port, user=user))
        (self.folder / "init.sql").write_text(init.replace("; ", ";\n"))
        (self.folder / "server.crt").write_text(self.certificate)
        (self.folder / "server.pem").write_text(self._key)
        if user:
            account = pwd.getpwnam("mysql")
            for path in (self.folder, *self.folder.iterdir()):
                os.chown(path, account.pw_uid, account.pw_gid)
        self._run("mariadb-install-db", "--auth-root-authentication-method=normal", "--skip-test-db")
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Returns when USER can sign in; what was there before a `kill` is there again."""
        self.process = subprocess.Popen([str(_program("mariadbd")), self._defaults], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, seconds=60, what=f"MariaDB on port {self.port}")

    def kill(self) -> None:
        """As a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=20)

    def open(self, database: str = "") -> "pymysql.Connection[pymysql.cursors.Cursor]":
        """A session of USER, in UTC; names may be quoted as in other databases."""
        return pymysql.connect(
            host="127.0.0.1",
            port=self.port,
            user=USER,
            password=self.password,
            database=database or None,
            charset="utf8mb4",
            ssl_disabled=True,
            init_command="SET time_zone = '+00:00', sql_mode = concat(@@sql_mode, ',ANSI_QUOTES')",
        )

    @property
    def _defaults(self) -> str:
        return f"--defaults-file={self.folder / 'my.cnf'}"

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"MariaDB ended: {(self.folder / 'log.err').read_text()[-2000:]}")
        try:
            self.open().close()
        except pymysql.Error:
            return False
        return True

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(_program(program)), self._defaults, *arguments]
        done = subprocess.run(command, cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{program} ended with {done.returncode}: {done.stdout}{done.stderr}")
