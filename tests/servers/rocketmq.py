"""RocketMQ for the run: a name server and a broker in a temporary folder, their jars fetched once by the Ivy in the PySpark wheel."""

import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.rocketmq.client import RocketMq
from scripts.fetch_jars import jars_fetch
from scripts.ports import free_ports, neighbours_free
from tests.servers.certificate import self_signed
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

HERE = Path(__file__).resolve().parent
JARS = HERE.parent.parent / ".venv" / "rocketmq-jars"
ACCESS_KEY, SECRET_KEY = "pipeline", "s3cret-of-rocketmq"

_BROKER = """\
brokerName=broker-a
brokerIP1=127.0.0.1
listenPort={port}
haListenPort={ha}
namesrvAddr=127.0.0.1:{name_server}
storePathRootDir={folder}/store
storePathCommitLog={folder}/store/commitlog
mappedFileSizeCommitLog=67108864
mappedFileSizeConsumeQueue=600000
maxIndexNum=100000
maxHashSlotNum=50000
diskMaxUsedSpaceRatio=95
autoCreateTopicEnable=false
autoCreateSubscriptionGroup=false
timerWheelEnable=true
timerStopEnqueue=false
timerFlushIntervalMs=60000
"""
_SIGNED = """\
authConfigPath={folder}/auth
authenticationEnabled=true
authenticationProvider=org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider
authenticationMetadataProvider=org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider
initAuthenticationUser={user}
innerClientAuthenticationCredentials={inner}
authorizationEnabled=true
authorizationProvider=org.apache.rocketmq.auth.authorization.provider.DefaultAuthorizationProvider
authorizationMetadataProvider=org.apache.rocketmq.auth.authorization.provider.LocalAuthorizationMetadataProvider
"""
_TLS = """\
tls.test.mode.enable=false
tls.server.certPath={folder}/certificate.pem
tls.server.keyPath={folder}/key.pem
"""
_OPENS = ("java.base/java.nio", "java.base/sun.nio.ch", "java.base/jdk.internal.ref", "java.base/jdk.internal.misc")


def rocketmq_jars_fetch() -> None:
    """The servers' own jars, 94 MB, are fetched once."""
    jars_fetch(JARS, ivy_file=HERE / "rocketmq_ivy.xml", lock=HERE / "rocketmq_jars.lock")


class RocketmqServer:
    """A context: inside it a name server and a broker answer on loopback; with `signed` only to ACCESS_KEY and SECRET_KEY.

    Lines may be plain or encrypted, by `certificate`.
    """

    def __init__(self, *, signed: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-rocketmq-"))
        self.signed = signed
        #: The broker also listens two below its own port.
        _, self.port = neighbours_free()
        self.ha, self.name_server = free_ports(2)
        self.name_servers = f"127.0.0.1:{self.name_server}"
        self.certificate, self._key = self_signed()
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> "RocketmqServer":
        rocketmq_jars_fetch()
        (self.folder / "certificate.pem").write_text(self.certificate)
        (self.folder / "key.pem").write_text(self._key)
        (self.folder / "tls.properties").write_text(_TLS.format(folder=self.folder))
        (self.folder / "namesrv.conf").write_text(f"listenPort={self.name_server}\n")
        inner = json.dumps({"accessKey": "inner", "secretKey": "inner-s3cret"})
        user = json.dumps({"username": ACCESS_KEY, "password": SECRET_KEY})
        ports = {"port": self.port, "ha": self.ha, "name_server": self.name_server}
        written = _BROKER + (_SIGNED if self.signed else "")
        (self.folder / "broker.conf").write_text(written.format(folder=self.folder, user=user, inner=inner, **ports))
        with or_ended(self._end_all):
            self._launch("namesrv", "org.apache.rocketmq.namesrv.NamesrvStartup", 128)
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._end_all()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _end_all(self) -> None:
        for name in list(self._processes):
            self._end(name)

    @property
    def settings(self) -> ConnectionSettings:
        """A connection called "main", signed where the broker asks for it."""
        if not self.signed:
            return ConnectionSettings("main", "rocketmq", {"servers": self.name_servers})
        return ConnectionSettings("main", "rocketmq", {"servers": self.name_servers, "access_key": ACCESS_KEY}, {"secret_key": SECRET_KEY})

    def encrypted(self, tls: str) -> dict[str, Any]:
        """The same connection's config with TLS."""
        return {**self.settings.config, "tls": tls, "certificate_authority": self.certificate}

    def start(self) -> None:
        """Returns when the broker answers; what it held before a `kill` is there again."""
        self._launch("broker", "org.apache.rocketmq.broker.BrokerStartup", 512)
        wait_until(self._answers, seconds=120, what=f"RocketMQ on {self.name_servers}")

    def kill(self) -> None:
        """The broker, as a crash would."""
        self._end("broker")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Inside it the broker takes connections, and answers nothing."""
        self._processes["broker"].send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._processes["broker"].send_signal(signal.SIGCONT)

    def topic_create(self, name: str, *, queues: int = 2, **attributes: str) -> None:
        """Or give it more queues, where it is there."""
        told = ",".join(f"+{key}={value}" for key, value in attributes.items())
        with RocketMq(self.settings) as client:
            client.topic_make(name, queues=queues, attributes=told)

    def group_create(self, name: str) -> None:
        with RocketMq(self.settings) as client:
            client.group_make(name)

    def peer(self, topic: str, *act: str) -> list[str]:
        """What RocketMQ's own client prints of its act: "send" and a number of bytes, or "read" and a group."""
        command = ["java", "-XX:TieredStopAtLevel=1", f"-Duser.home={self.folder}", f"-Djava.io.tmpdir={self.folder}", "-cp", f"{JARS}/*"]
        given = [str(HERE / "RocketmqPeer.java"), self.name_servers, ACCESS_KEY, SECRET_KEY, topic, *act]
        done = subprocess.run([*command, *given], capture_output=True, text=True, timeout=60, check=False)
        if done.returncode:
            raise RuntimeError(done.stdout[-1000:] + done.stderr[-2000:])
        return done.stdout.splitlines()

    def _launch(self, name: str, main: str, megabytes: int) -> None:
        opens = [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENS]
        places = [f"-Drocketmq.home.dir={self.folder}", f"-Duser.home={self.folder}", f"-Djava.io.tmpdir={self.folder}"]
        places.append(f"-Dtls.config.file={self.folder}/tls.properties")
        memory = [f"-Xmx{megabytes}m", f"-XX:MaxDirectMemorySize={megabytes}m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        command = ["java", *memory, *opens, *places, "-cp", f"{JARS}/*", main, "-c", str(self.folder / f"{name}.conf")]
        with (self.folder / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)

    def _end(self, name: str) -> None:
        process = self._processes.pop(name)
        process.kill()
        process.wait(timeout=20)

    def _answers(self) -> bool:
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise RuntimeError(f"the {name} of RocketMQ ended: {(self.folder / f'{name}.log').read_text()[-2000:]}")
        try:
            with RocketMq(self.settings, seconds=2) as client:
                return bool(client.brokers()) and bool(client.sign_in())
        except NodeError:
            return False
