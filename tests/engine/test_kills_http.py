"""A copy from one API to another that is killed in the middle: nothing lost, and what comes twice says so."""

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.nodes.api_server import Answer, ApiServer, Request, api_server, paged
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.processes, pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
ROWS = 600
DOCUMENT = """
name: copy
type: BATCH_ROLLER
nodes:
  src: {type: source.http_api, name: From, config: {connection: api, path: things, records_pointer: /results, page_size: 20,
        pages_per_batch: 2, columns: [{name: id, type: long}, {name: name}]}}
  out: {type: sink.http_api, name: To, config: {connection: api, path: copies}}
edges:
  e1: {from: [src, out], to: [out, in]}
"""


def start(folder: Path, server: ApiServer, job: str = DOCUMENT) -> subprocess.Popen[str]:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "job.yml").write_text(job)
    (folder / "connections.json").write_text(json.dumps({"api": {"kind": "http_api", "config": {"base_url": server.url}}}))
    given = [str(folder / "job.yml"), "--connections", str(folder / "connections.json"), "--live", str(folder / "live")]
    environment = {**os.environ, "DATA_DIR": str(folder), "SPARK_MASTER": "local[2]", "HTTP_ALLOWED_HOSTS": server.host}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", "run_job", *given]
    with (folder / "run.log").open("a") as log:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log, text=True, start_new_session=True)


def killed(running: subprocess.Popen[str], when: Callable[[], bool]) -> None:
    """Killed with all its children as soon as `when` holds; it must not have ended by then."""
    try:
        wait_until(lambda: when() or running.poll() is not None, seconds=200, what="rows to be sent", every=0.001)
        assert running.poll() is None, "the run ended before it could be killed"
    finally:
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
        running.wait(60)


def test_kills_between_requests_lose_no_row_and_repeats_carry_their_key(tmp_path: Path) -> None:
    copies: list[tuple[int, str]] = []

    def answer(request: Request) -> Answer:
        if request.method == "GET":
            return paged(ROWS, total=False)(request)
        copies.append((request.document["id"], request.headers["Idempotency-Key"]))
        return 201, {}, b""

    with api_server(answer) as server:
        killed(start(tmp_path, server), lambda: len(copies) >= 50)
        killed(start(tmp_path, server), lambda: len(copies) >= 250)
        last = start(tmp_path, server)
        assert last.wait(240) == 0, (tmp_path / "run.log").read_text()[-3000:]
    sent = Counter(number for number, _ in copies)
    assert set(sent) == set(range(ROWS)), "no row is lost"
    assert len(copies) - ROWS <= 2 * 40, "no more than the batch under way is sent again"
    assert len({key for _, key in copies}) == ROWS, "a row that is sent again has the key it had"
