"""`manage.py run_job` from outside: exit codes and what stands on the terminal."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.engine.commands import Commands
from tests.nodes.api_server import Answer, ApiServer, Request, api_server, paged
from tests.servers.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.spark, pytest.mark.timeout(300)]

ROOT = Path(__file__).resolve().parents[2]

DOCUMENT = """
name: numbers
type: BATCH_ROLLER
parameters: {rows: {type: integer, default: 1000}}
nodes:
  gen: {type: source.generator, name: Numbers, config: {total_rows: "${rows}", rows_per_batch: 300}}
  even: {type: flow.filter_rows, name: Even, config: {condition: "CONDITION"}}
  out: {type: sink.jdbc, name: Table, config: {connection: db, table: numbers, mode: append}}
edges:
  e1: {from: [gen, out], to: [even, in]}
  e2: {from: [even, out], to: [out, in]}
"""


def manage(folder: Path, *arguments: str) -> CompletedProcess[str]:
    """`manage.py` as a person starts it."""
    environment = {**os.environ, "DATA_DIR": str(folder), "SPARK_MASTER": "local[2]", "SPARK_DRIVER_MEMORY": "1g"}
    environment.pop("DJANGO_SETTINGS_MODULE", None)
    command = [sys.executable, "manage.py", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)


def drawn(folder: Path, condition: str, *, name: str = "numbers", job_type: str = "BATCH_ROLLER") -> tuple[str, ...]:
    """The arguments that run it."""
    (folder / "files").mkdir(exist_ok=True)
    text = DOCUMENT.replace("CONDITION", condition).replace("name: numbers", f"name: {name}").replace("BATCH_ROLLER", job_type)
    (folder / "job.yml").write_text(text)
    (folder / "connections.json").write_text(json.dumps({"db": {"kind": "sqlite", "config": {"path": "numbers.sqlite"}}}))
    return "run_job", str(folder / "job.yml"), "--connections", str(folder / "connections.json")


def test_a_document_runs_to_its_end_with_its_parameters(tmp_path: Path) -> None:
    done = manage(tmp_path, *drawn(tmp_path, "id % 2 = 0"), "--param", "rows=700")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "numbers: completed in" in done.stdout
    assert "350" in done.stdout
    assert (tmp_path / "files" / "numbers.sqlite").is_file()


def test_a_document_with_a_problem_never_runs(commands: Commands, tmp_path: Path) -> None:
    done = commands.run(tmp_path, *drawn(tmp_path, "idd % 2 = 0"))
    assert done.returncode == 2
    assert '/nodes/even/config/condition: "Even": there is no column idd; did you mean id?' in done.stdout


def test_a_parameter_of_another_type_is_named(commands: Commands, tmp_path: Path) -> None:
    done = commands.run(tmp_path, *drawn(tmp_path, "id % 2 = 0"), "--param", "rows=many")
    assert done.returncode == 2
    assert '/parameters/rows: the parameter "rows" must be a whole number' in done.stdout


def test_a_run_that_fails_says_where_and_why(commands: Commands, tmp_path: Path) -> None:
    done = commands.run(tmp_path, *drawn(tmp_path, "1 / (id - 700) > 0"))
    assert done.returncode == 1
    assert 'failed: "Even": Division by zero' in done.stdout
    assert "Traceback" not in done.stdout + done.stderr


API = """
name: orders
type: BATCH_ROLLER
nodes:
  src: {type: source.http_api, name: Orders API, config: {connection: api, path: /things, page_size: 10, attempts: 2,
        records_pointer: /results, columns: [{name: id, type: long}, {name: name, type: string}]}}
  out: {type: sink.print, name: Out, config: {}}
edges:
  e1: {from: [src, out], to: [out, in]}
"""


def hung_up(request: Request) -> Answer:
    raise ConnectionResetError


@pytest.mark.faults
def test_an_api_that_goes_away_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "job.yml").write_text(API)
    with api_server(paged(1_000_000)) as server:
        connection = {"kind": "http_api", "config": {"base_url": server.url}}
        (tmp_path / "connections.json").write_text(json.dumps({"api": connection}))
        given = ["run_job", str(tmp_path / "job.yml"), "--connections", str(tmp_path / "connections.json")]
        environment = {**os.environ, "DATA_DIR": str(tmp_path), "SPARK_MASTER": "local[2]", "HTTP_ALLOWED_HOSTS": server.host}
        environment.pop("DJANGO_SETTINGS_MODULE", None)
        running = subprocess.Popen(
            [sys.executable, "manage.py", *given], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        wait_until(lambda: len(server.requests) >= 3 or running.poll() is not None, seconds=200, what="three pages")
        server.answer = hung_up
    try:
        told, errors = running.communicate(timeout=100)
    finally:
        running.kill()
    assert running.returncode == 1
    [sentence] = [line for line in told.splitlines() if line.startswith("failed: ")]
    assert sentence.startswith(f'failed: "Orders API": GET {server.url}/things: ')
    assert sentence.endswith("check address and network")
    assert "Traceback" not in told + errors
    assert "ERROR" not in told + errors


COPY = """
name: copy
type: BATCH_ROLLER
parameters: {size: {type: integer, default: 10}}
nodes:
  src: {type: source.http_api, name: From, config: {connection: api, path: /things, records_pointer: /results, page_size: 10,
        page_size_parameter: "", parameters: [{name: page_size, value: "${size}"}], columns: [{name: id, type: long}, {name: name}]}}
  out: {type: sink.http_api, name: To, config: {connection: api, method: PUT, path: "copies/${id}", attempts: 2,
        body: '{"id": "${id}", "label": "${name} of ${size}"}'}}
edges:
  e1: {from: [src, out], to: [out, in]}
"""


def run_copy(commands: Commands, folder: Path, server: ApiServer) -> CompletedProcess[str]:
    (folder / "files").mkdir(exist_ok=True)
    (folder / "job.yml").write_text(COPY)
    connection = {"kind": "http_api", "config": {"base_url": server.url, "auth": "bearer"}, "secrets": {"token": "canary-4711"}}
    (folder / "connections.json").write_text(json.dumps({"api": connection}))
    given = ("run_job", str(folder / "job.yml"), "--connections", str(folder / "connections.json"))
    return commands.run(folder, *given, allowed_hosts=[server.host])


def test_rows_go_from_one_api_to_another_and_what_it_refuses_is_counted(commands: Commands, tmp_path: Path) -> None:
    def answer(request: Request) -> Answer:
        if request.method == "GET":
            return paged(30)(request)
        return (422, {}, b"no 3 wanted, canary-4711") if request.document["id"] % 10 == 3 else (204, {}, b"")

    with api_server(answer) as server:
        done = run_copy(commands, tmp_path, server)
        sent = [request for request in server.requests if request.method == "PUT"]
    assert done.returncode == 0, done.stdout + done.stderr
    assert sorted(int(request.path.removeprefix("/copies/")) for request in sent) == list(range(30))
    assert {"id": 7, "label": "n7 of 10"} in [request.document for request in sent]
    assert "27" in done.stdout
    assert "3 rejected" in done.stdout
    assert "canary-4711" not in done.stdout + done.stderr


@pytest.mark.faults
def test_an_api_that_refuses_the_sign_in_of_a_sink_ends_the_run_at_once(commands: Commands, tmp_path: Path) -> None:
    with api_server(lambda request: paged(30)(request) if request.method == "GET" else (401, {}, b"canary-4711")) as server:
        done = run_copy(commands, tmp_path, server)
    assert done.returncode == 1
    [sentence] = [line for line in done.stdout.splitlines() if line.startswith("failed: ")]
    assert sentence.startswith(f'failed: "To": PUT {server.url}/copies/')
    assert sentence.endswith("the sign-in was refused (401 Unauthorized); correct the connection")
    assert "canary-4711" not in done.stdout + done.stderr


def test_a_kept_position_goes_on_where_it_stopped(commands: Commands, tmp_path: Path) -> None:
    arguments = ("--live", str(tmp_path / "live"))
    assert commands.run(tmp_path, *drawn(tmp_path, "true"), *arguments).returncode == 0
    again = commands.run(tmp_path, *drawn(tmp_path, "true"), *arguments)
    assert again.returncode == 0
    assert "1,000" not in again.stdout, "nothing is left to read"


def test_a_kept_position_of_another_drawing_is_not_gone_on_from(commands: Commands, tmp_path: Path) -> None:
    arguments = ("--live", str(tmp_path / "live"))
    assert commands.run(tmp_path, *drawn(tmp_path, "true"), *arguments).returncode == 0
    warned = commands.run(tmp_path, *drawn(tmp_path, "id > 5"), *arguments)
    assert warned.returncode == 0
    assert 'warning graph.rows /nodes/even: "Even": Its condition changed' in warned.stdout
    refused = commands.run(tmp_path, *drawn(tmp_path, "id > 5", name="others"), "--param", "rows=1000", *arguments)
    assert refused.returncode == 2
    assert 'belongs to "numbers"' in refused.stdout


def test_what_reads_everything_at_once_writes_again_the_next_time(commands: Commands, tmp_path: Path) -> None:
    arguments = ("--live", str(tmp_path / "live"))
    for _ in range(2):
        done = commands.run(tmp_path, *drawn(tmp_path, "true", job_type="SQL_TASK"), *arguments)
        assert done.returncode == 0, done.stdout
    with closing(sqlite3.connect(tmp_path / "files" / "numbers.sqlite")) as database:
        assert database.execute("SELECT count(*) FROM numbers").fetchone() == (2000,)


@pytest.mark.parametrize(("text", "code"), [(None, 2), ("{]", 2), ("name: [", 2)])
def test_what_is_no_document_is_told_without_a_traceback(commands: Commands, tmp_path: Path, text: str | None, code: int) -> None:
    file = tmp_path / "broken.yml"
    if text is not None:
        file.write_text(text)
    done = commands.run(tmp_path, "run_job", str(file))
    assert done.returncode == code
    assert "Traceback" not in done.stderr
