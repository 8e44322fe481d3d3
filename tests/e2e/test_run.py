"""Starting and stopping the product as a person does."""

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from scripts.ports import free_port
from scripts.supervisor import process_parents
from tests.servers.product import ROOT, Product

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(400)]


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.faults)], ids=lambda number: number.name)
def test_a_second_start_is_refused_and_a_stop_ends_every_process_and_leaves_none_behind(tmp_path: Path, number: signal.Signals) -> None:
    with Product(tmp_path) as product:
        with urllib.request.urlopen(f"{product.url}/readyz") as answer:
            assert answer.status == 200
        second = _run(tmp_path, free_port())
        assert second.returncode == 1
        assert f"Another start already uses {tmp_path}" in second.stderr
        started = product.processes()
        assert len(started) > 5
        assert product.stop(number) == 0
        assert not started & set(process_parents())
        assert not [line for line in _commands() if str(tmp_path) in line]


def test_a_taken_port_is_named_with_its_remedy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = _run(tmp_path, port)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Port {port} on 127.0.0.1 is taken")
    assert f"PORT={port + 1} make run" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def _run(data: Path, port: int) -> "subprocess.CompletedProcess[str]":
    environment = {**os.environ, "PORT": str(port), "DATA_DIR": str(data)}
    command = [sys.executable, "-m", "scripts.run"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)


def _commands() -> list[str]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue
    return [line for line in found if "pytest" not in line]
