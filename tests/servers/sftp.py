"""An SFTP server for the run: Debian's sshd with a folder, a host key and a user's key of its own, for whoever runs the tests."""

import getpass
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

import psutil

from jobs.nodes.connections.reach import is_silent
from scripts.ports import free_port
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

_CONFIG = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile {folder}/pid
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
Subsystem sftp internal-sftp
"""


def _program() -> str | None:
    """Debian keeps it in a folder that only root has on its path."""
    return shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")


def sftp_missing() -> str:
    """Why no SFTP server can be started here, and what to do; empty when one can."""
    return "" if _program() else "sshd is not installed (Debian, Ubuntu: apt-get install openssh-server)"


class SftpServer:
    """A context: inside it who has `private_key` signs in at `port`, and finds `folder`/data.

    `stores` is a list of file stores with that of SFTP alone, called "sftp".
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-sftp-"))
        self.data = self.folder / "data"
        self.port = free_port()
        self.stores = self.folder / "stores.json"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "SftpServer":
        self.data.mkdir()
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / name)], check=True)
        (self.folder / "config").write_text(_CONFIG.format(port=self.port, folder=self.folder))
        fields = ["host", "port", "username", "host_key"]
        self.stores.write_text(json.dumps({"sftp": {"title": "SFTP", "protocol": "sftp", "fields": fields, "secret": "private_key"}}))
        if os.getuid() == 0:  # then it wants a folder that its package makes only when it starts it
            Path("/run/sshd").mkdir(exist_ok=True)
        with or_ended(self.kill):
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def private_key(self) -> str:
        return (self.folder / "user").read_text()

    @property
    def host_key(self) -> str:
        return (self.folder / "host.pub").read_text()

    def options(self, **changed: str) -> list[dict[str, Any]]:
        """Of a connection."""
        told = {"host": "127.0.0.1", "port": str(self.port), "username": getpass.getuser(), "host_key": self.host_key} | changed
        return [{"name": name, "value": value} for name, value in told.items()]

    def start(self) -> None:
        """Returns when it takes connections."""
        program = _program()
        assert program is not None, sftp_missing()
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([program, "-D", "-e", "-f", str(self.folder / "config")], stdout=log, stderr=log)
        wait_until(lambda: not is_silent("127.0.0.1", self.port), seconds=20, what=f"SFTP on port {self.port}")

    def kill(self) -> None:
        """As a crash would; the lines that are open are served by processes of their own, which end with it."""
        assert self.process is not None
        serving = psutil.Process(self.process.pid).children(recursive=True)
        for one in serving:
            one.kill()
        psutil.wait_procs(serving, timeout=20)
        self.process.kill()
        self.process.wait(timeout=20)
