"""An S3 server for the run: s3proxy over a temporary folder, its jars fetched once by the Ivy in the PySpark wheel."""

import os
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from s3fs import S3FileSystem

from scripts.fetch_jars import jars_fetch
from scripts.ports import free_ports
from tests.servers.starting import or_ended
from tests.servers.waiting import wait_until

HERE = Path(__file__).resolve().parent
JARS = HERE.parent.parent / ".venv" / "s3-jars"
KEY_ID, SECRET_KEY = "pipeline", "s3cret-of-s3"

_CONFIG = """\
s3proxy.endpoint=http://127.0.0.1:{port}
s3proxy.authorization=aws-v4
s3proxy.identity={key_id}
s3proxy.credential={secret}
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir={folder}/data
"""


def s3_jars_fetch() -> None:
    """The store's own jars, 19 MB, are fetched once."""
    jars_fetch(JARS, ivy_file=HERE / "s3_ivy.xml", lock=HERE / "s3_jars.lock")


class S3Server:
    """A context: inside it a store that checks signatures answers at `address`. It keeps what it holds over a `kill` and a `start`."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="pipeline-web-s3-"))
        (self.port,) = free_ports(1)
        self.address = f"http://127.0.0.1:{self.port}"
        self.process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "S3Server":
        s3_jars_fetch()
        (self.folder / "data").mkdir()
        config = _CONFIG.format(port=self.port, key_id=KEY_ID, secret=SECRET_KEY, folder=self.folder)
        (self.folder / "s3.properties").write_text(config)
        with or_ended(self.kill):
            self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Returns when the store answers."""
        command = [
            "java",
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            f"-Dlogback.configurationFile={HERE / 's3_logback.xml'}",
        ]
        command += ["-cp", f"{JARS}/*", "org.gaul.s3proxy.Main", "--properties", str(self.folder / "s3.properties")]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | {"LC_ALL": "C.UTF-8"})
        wait_until(self._answers, seconds=120, what=f"S3 on {self.address}")

    def kill(self) -> None:
        """As a crash would."""
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=20)

    def bucket_create(self, name: str, *, public: bool = False) -> None:
        """A folder to the server; who may read it, reads the bucket without a key."""
        (self.folder / "data" / name).mkdir(mode=0o755 if public else 0o700)

    @property
    def config(self) -> dict[str, Any]:
        """Of a connection, but for its bucket."""
        return {"endpoint": self.address, "key_id": KEY_ID}

    def files(self) -> S3FileSystem:
        """To look at the store, and fill it, from outside."""
        return S3FileSystem(
            key=KEY_ID,
            secret=SECRET_KEY,
            endpoint_url=self.address,
            config_kwargs={
                "s3": {"addressing_style": "path"},
                "request_checksum_calculation": "when_required",
                "response_checksum_validation": "when_required",
            },
            skip_instance_cache=True,
            use_listings_cache=False,
        )

    def _answers(self) -> bool:
        assert self.process is not None
        if self.process.poll() is not None:
            raise RuntimeError(f"S3 ended: {(self.folder / 'log').read_text()[-2000:]}")
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=2).close()
        except OSError:
            return False
        return True
