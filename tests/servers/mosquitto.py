"""A Mosquitto for the run: in a temporary folder, on ports of its own, stopped by its pid."""

import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

from scripts.ports import free_ports
from tests.servers.certificate import self_signed
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

USER, PASSWORD = "pipeline", "canary-mqtt-4711"

_CONFIG = """
per_listener_settings true
persistence true
persistence_location {folder}/
max_inflight_messages 1000
max_queued_messages 100000
listener {open} 127.0.0.1
allow_anonymous true
listener {closed} 127.0.0.1
allow_anonymous false
password_file {folder}/passwords
acl_file {folder}/rights
listener {tls} 127.0.0.1
allow_anonymous true
certfile {folder}/certificate.pem
keyfile {folder}/key.pem
"""
_RIGHTS = f"user {USER}\ntopic readwrite open/#\n"


def mosquitto_program() -> str:
    """Debian keeps it off the PATH of plain users."""
    return shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin") or ""


def mosquitto_missing() -> str:
    """Why no Mosquitto can be started here, and what to do; empty when one can."""
    return "" if mosquitto_program() else "Mosquitto is not installed (Debian, Ubuntu: apt-get install mosquitto)"


class MosquittoServer:
    """A context: inside it anybody may use `port`; at `closed_port` USER signs in with PASSWORD and may use topics below open/;

    `tls_port` shows `certificate`.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-mosquitto-"))
        self.port, self.closed_port, self.tls_port = free_ports(3)
        self.certificate, self._key = self_signed()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "MosquittoServer":
        config = _CONFIG.format(folder=self.folder, open=self.port, closed=self.closed_port, tls=self.tls_port)
        (self.folder / "mosquitto.conf").write_text(f"user root\n{config}")
        (self.folder / "rights").write_text(_RIGHTS)
        (self.folder / "certificate.pem").write_text(self.certificate)
        (self.folder / "key.pem").write_text(self._key)
        passwords = str(self.folder / "passwords")
        subprocess.run(["mosquitto_passwd", "-b", "-c", passwords, USER, PASSWORD], check=True, capture_output=True, timeout=20)
        for name in ("passwords", "rights"):
            (self.folder / name).chmod(0o600)
        with or_ended(self.stop):
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Returns when the broker takes connections; sessions and messages from before a `stop` are there again."""
        with (self.folder / "output").open("ab") as output:
            command = [mosquitto_program(), "-c", str(self.folder / "mosquitto.conf")]
            self.process = subprocess.Popen(command, stdout=output, stderr=output)
        wait_until(self._answers, seconds=60, what=f"Mosquitto on port {self.port}")

    def stop(self) -> None:
        """It writes what it holds to disk first: a killed one would lose its last second."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"Mosquitto ended: {(self.folder / 'output').read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True
