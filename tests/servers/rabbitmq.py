"""A RabbitMQ for the run: a node of its own in a temporary folder, on ports of its own, stopped by its pid."""

import logging
import os
import shutil
import socket
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path
from types import TracebackType

import pika

from scripts.ports import free_ports
from tests.servers.certificate import self_signed
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
#: It logs every attempt to reach a broker that is not there yet as several errors.
logging.getLogger("pika").setLevel(logging.CRITICAL)
USER, PASSWORD = "pipeline", "canary-rabbit-4711"
#: Bytes of a message that the broker takes at most.
LARGEST = 4_000_000

_CONFIG = """
listeners.tcp.1 = 127.0.0.1:{port}
listeners.ssl.1 = 127.0.0.1:{tls}
ssl_options.certfile = {folder}/certificate.pem
ssl_options.keyfile = {folder}/key.pem
default_user = {user}
default_pass = {password}
default_permissions.configure = .*
default_permissions.read = .*
default_permissions.write = .*
loopback_users = none
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 50MB
log.console = false
max_message_size = {largest}
"""


def rabbitmq_missing() -> str:
    """Why no RabbitMQ can be started here, and what to do; empty when one can."""
    return "" if PROGRAM.exists() else "RabbitMQ is not installed (Debian, Ubuntu: apt-get install rabbitmq-server)"


class RabbitMQServer:
    """A context: inside it a broker answers at 127.0.0.1:`port`, where USER signs in with PASSWORD; `tls_port` shows `certificate`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-rabbitmq-"))
        self.port, self.tls_port, self._distribution, self._mapper = free_ports(4)
        self._node = f"pipeline{self.port}@localhost"
        self.certificate, self._key = self_signed()
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "RabbitMQServer":
        config = _CONFIG.format(port=self.port, tls=self.tls_port, folder=self.folder, user=USER, password=PASSWORD, largest=LARGEST)
        (self.folder / "rabbitmq.conf").write_text(config)
        (self.folder / "certificate.pem").write_text(self.certificate)
        (self.folder / "key.pem").write_text(self._key)
        (self.folder / "plugins").write_text("[].")
        self._names = subprocess.Popen(["epmd", "-port", str(self._mapper), "-address", "127.0.0.1"])
        with or_ended(self._end):
            wait_until(self._names_answer, seconds=60, what="epmd")
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self) -> None:
        if self.process is not None:
            self.kill()
        self._names.kill()
        self._names.wait(timeout=20)

    def start(self) -> None:
        """Returns when the broker takes a sign-in; durable queues and messages from before a `kill` are there again."""
        with (self.folder / "output").open("ab") as output:
            self.process = subprocess.Popen(
                [str(PROGRAM)], env=self._environment(), stdout=output, stderr=output, start_new_session=True, cwd=self.folder
            )
        wait_until(self._answers, seconds=120, what=f"RabbitMQ on port {self.port}")

    def kill(self) -> None:
        """As a crash would: the launcher and the Erlang machine below it."""
        assert self.process is not None
        os.killpg(self.process.pid, 9)
        self.process.wait(timeout=20)

    def line(self) -> pika.BlockingConnection:
        credentials = pika.PlainCredentials(USER, PASSWORD)
        return pika.BlockingConnection(pika.ConnectionParameters("127.0.0.1", self.port, credentials=credentials))

    def queue_create(self, name: str) -> None:
        """Returns when the durable queue outlives a kill."""
        with closing(self.line()) as line:
            line.channel().queue_declare(name, durable=True)
        self._tables_keep()

    def _tables_keep(self) -> None:
        """The end of what the broker notes down may reach its file with the next note only; a kill before that takes it away."""
        cookie = (self.folder / ".erlang.cookie").read_text()
        call = ["erl_call", "-sname", self._node, "-c", cookie, "-a", "mnesia dump_log []"]
        told = subprocess.run(call, env=self._environment(), check=False, capture_output=True, text=True, timeout=60)
        if told.stdout != "dumped":
            raise RuntimeError(f"RabbitMQ did not write its tables down: {told.stdout}{told.stderr}")

    def stream_create(self, name: str, **arguments: object) -> None:
        """Returns when the stream outlives a kill: a broker forgets its first one within a second of making it."""
        with closing(self.line()) as line:
            line.channel().queue_declare(name, durable=True, arguments={"x-queue-type": "stream", **arguments})
        self._tables_keep()
        wait_until(self._streams_are_noted, seconds=60, what="the broker to note that it has streams")

    def _streams_are_noted(self) -> bool:
        notes = self.folder.glob("data/*/coordination/*/names.dets")
        return any(b"rabbit_stream_coordinator" in note.read_bytes() for note in notes)

    def _names_answer(self) -> bool:
        """A broker that found nobody there would start a keeper of names of its own, which outlives it."""
        with socket.socket() as line:
            return line.connect_ex(("127.0.0.1", self._mapper)) == 0

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"RabbitMQ ended: {(self.folder / 'output').read_text()[-2000:]}")
        try:
            self.line().close()
        except (pika.exceptions.AMQPError, OSError):
            return False
        return True

    def _environment(self) -> dict[str, str]:
        folder = str(self.folder)
        return {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "HOME": folder,
            "RABBITMQ_NODENAME": self._node,
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/log",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "ERL_EPMD_PORT": str(self._mapper),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }
