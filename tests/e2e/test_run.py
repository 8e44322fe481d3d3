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
from tests.servers.product import ROOT, Product

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(400)]


def test_it_answers_and_a_second_start_is_refused(product: Product) -> None:
    with urllib.request.urlopen(f"{product.url}/readyz") as answer:
        assert answer.status == 200
    second = _run(product.data, free_port())
    assert second.returncode == 1
    assert f"Another start already uses {product.data}" in second.stderr


@pytest.mark.faults
def test_a_stop_from_outside_ends_every_process_and_leaves_none_behind(tmp_path: Path) -> None:
    with Product(tmp_path) as product:
        product.stop_wholly(signal.SIGTERM)


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
