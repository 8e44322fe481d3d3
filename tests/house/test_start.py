"""What stands between `git clone` and a running product, and how it is said."""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from redis import Redis, RedisError

from pipeline_web.keys import key_read_or_created
from pipeline_web.variables import running_variables
from scripts import announce, bootstrap, run, test, test_faults
from scripts.bundle import BundleTooLarge, bundle_check
from scripts.fetch_jars import JarsUnavailable, jars_fetch
from scripts.ports import free_port
from scripts.run import CannotStart, data_lock, port_check, redis_configure, running, services
from scripts.services import redis_binary
from tests.nodes.api_server import api_server
from tests.servers.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]


def program(folder: Path, name: str, script: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_missing_jdk_is_said_in_one_line_with_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    line = bootstrap.java_problem()
    assert line.startswith("A JDK 17 or newer is needed, and none was found: ")
    assert "install" in line
    assert "\n" not in line


def test_a_jdk_that_is_too_old_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path, "java", "echo 'openjdk version \"11.0.2\" 2019-01-15' >&2")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "this machine has Java 11" in bootstrap.java_problem()


def test_who_wants_no_bytecode_beside_the_sources_has_it_elsewhere() -> None:
    environment = {"PYTHONDONTWRITEBYTECODE": "1"}
    bootstrap.bytecode_keep(environment)
    assert environment == {"PYTHONPYCACHEPREFIX": str(ROOT / ".venv" / "bytecode")}
    untouched = {"HOME": "/root"}
    bootstrap.bytecode_keep(untouched)
    assert untouched == {"HOME": "/root"}


def test_java_home_counts_before_the_path(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program(tmp_path / "bin", "java", "echo 'openjdk version \"21.0.1\"' >&2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert bootstrap.java_problem() == ""


@pytest.mark.parametrize("start", [run.main, test.main, test_faults.main], ids=["run", "test", "test-faults"])
def test_a_java_that_only_java_home_names_is_used_by_a_start(
    start: Callable[[], int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    java = program(tmp_path / "jdk" / "bin", "java", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jdk"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    for module, first_act in ((run, "port_check"), (test, "ThreadPoolExecutor"), (test_faults, "missing_packages_install")):
        monkeypatch.setattr(module, first_act, stopped)
    with suppress(KeyboardInterrupt):
        start()
    assert shutil.which("java") == java


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_python_that_does_not_fit_is_said_in_one_line_with_the_command() -> None:
    line = bootstrap.python_problem([])
    assert line.startswith("Python 3.11 or 3.12 is needed, and this machine has ")
    assert "install" in line
    assert "\n" not in line


def test_a_python_that_the_machines_packages_offer_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    debian(monkeypatch, tmp_path, "python3", "python3.11")
    assert bootstrap.python_problem([]).endswith(": apt-get install python3.11 python3.11-venv")


def test_where_the_packages_offer_no_python_that_fits_it_is_said_who_does(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    debian(monkeypatch, tmp_path, "python3", "python3.13")
    line = bootstrap.python_problem([])
    assert "apt-get install pipx && pipx run uv python install 3.12" in line
    assert "Debian 12 or Ubuntu 24.04" in line
    assert "\n" not in line


def test_a_fresh_container_is_told_to_ask_for_its_packages_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    debian(monkeypatch, tmp_path)
    assert bootstrap.python_problem([]).endswith(": apt-get update && apt-get install python3 python3-venv")


def test_a_python_that_uv_installed_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = program(tmp_path / "home" / ".local" / "bin", "python3.12", "echo 3.12")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", program(tmp_path, "old", "echo 3.13"))
    assert bootstrap.fitting_pythons() == [found]


def debian(monkeypatch: pytest.MonkeyPatch, folder: Path, *offered: str) -> None:
    """A Debian as root whose packages are these."""
    known = " ".join(f"{name}) echo '  Candidate: 1.2';;" for name in offered)
    program(folder, "apt-cache", f'case "$2" in {known} *) echo "N: Unable to locate package $2";; esac')
    program(folder, "apt-get", "exit 0")
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(os, "getuid", lambda: 0)


def test_a_missing_venv_module_is_said_with_the_package(tmp_path: Path) -> None:
    python = program(tmp_path, "python3.12", 'case "$2" in *venv*) exit 1;; *) echo 3.12;; esac')
    assert bootstrap.python_problem([python]).startswith("The venv module of Python 3.12 is missing: ")


def test_another_python_on_the_path_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = program(tmp_path, "python3.12", "echo 3.12")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(sys, "executable", program(tmp_path, "old", "echo 3.9"))
    assert bootstrap.fitting_pythons()[0] == found


@pytest.mark.parametrize("version", ["3.8", "3.9", "3.10", "3.13"])
def test_the_bootstrap_can_be_read_by_older_and_newer_pythons(version: str) -> None:
    python = shutil.which(f"python{version}")
    if python is None or bootstrap.version_of(python) != version:
        return  # not on this machine; the syntax is held by the next test
    script = f"import sys; sys.path.insert(0, {str(ROOT / 'scripts')!r}); import bootstrap; print(bootstrap.WANTED)"
    assert "3.12" in bootstrap.output_of(python, "-c", script)


def test_the_bootstrap_keeps_to_the_syntax_and_library_of_python_3_8() -> None:
    import ast

    tree = ast.parse((ROOT / "scripts" / "bootstrap.py").read_text(), feature_version=(3, 8))
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    assert imported <= set(sys.stdlib_module_names)


def test_a_port_that_is_no_port_is_refused() -> None:
    with pytest.raises(CannotStart, match="PORT=http is not a port number"):
        port_check("127.0.0.1", "http")


def test_a_host_that_is_not_here_is_refused() -> None:
    with pytest.raises(CannotStart, match=r"192\.0\.2\.1"):
        port_check("192.0.2.1", "8999")


def test_a_data_folder_is_used_by_one_start_at_a_time(tmp_path: Path) -> None:
    with data_lock(tmp_path), pytest.raises(CannotStart, match="Another start already uses"):
        data_lock(tmp_path)
    data_lock(tmp_path).close()


def test_a_data_folder_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CannotStart, match="cannot be written"):
        data_lock(tmp_path / "file" / "data")


def modes(*folders: Path) -> list[int]:
    return [folder.stat().st_mode & 0o777 for folder in folders]


def test_a_data_folder_that_a_key_is_made_in_first_is_nobody_elses(tmp_path: Path) -> None:
    data = tmp_path / "of" / "data"
    key_read_or_created(data / "keys" / "secret_key")
    assert modes(data, data / "keys", data / "keys" / "secret_key") == [0o700, 0o700, 0o600]


def test_a_start_closes_a_data_folder_that_others_can_read_and_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = tmp_path / "data"
    data.mkdir()
    data.chmod(0o755)
    for _ in range(2):
        data_lock(data).close()
        assert modes(data) == [0o700]
    assert capsys.readouterr().out == f"· {data} was open to other accounts, and is closed to them now\n"


@pytest.mark.parametrize("mode", [0o1777, 0o755, 0o700])
def test_a_folder_that_others_use_is_refused_and_left_as_it_is(tmp_path: Path, mode: int) -> None:
    data = tmp_path / "shared"
    data.mkdir()
    (data / "theirs").touch()
    data.chmod(mode)
    with pytest.raises(CannotStart, match=f"DATA_DIR={data} is used for something else: DATA_DIR={data}/pipelines make run"):
        data_lock(data)
    assert data.stat().st_mode & 0o7777 == mode
    assert [entry.name for entry in data.iterdir()] == ["theirs"]


def test_an_empty_folder_that_everybody_may_write_into_is_refused_too(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    with pytest.raises(CannotStart, match="is used for something else"):
        data_lock(tmp_path)


def test_files_that_jobs_are_to_read_may_be_there_before_the_first_start(tmp_path: Path) -> None:
    for name in ("files", "project-files", "lost+found"):
        (tmp_path / name).mkdir()
    data_lock(tmp_path).close()


@pytest.mark.parametrize("ours", ["run.lock", "keys", "pipeline_web.sqlite3"])
def test_a_data_folder_of_an_earlier_start_is_taken_whatever_else_is_in_it(tmp_path: Path, ours: str) -> None:
    (tmp_path / ours).touch()
    (tmp_path / "theirs").touch()
    data_lock(tmp_path).close()


@pytest.mark.parametrize(("given", "level"), [("", "WARNING"), ("DEBUG", "DEBUG")])
def test_worker_and_beat_log_as_much_as_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, level: str) -> None:
    monkeypatch.setenv("LOG_LEVEL", given)
    commands = {service.name: service.command for service in services("127.0.0.1", "8000", tmp_path, redis_configure(tmp_path))}
    assert [f"--loglevel={level}" in commands[name] for name in ("worker", "beat")] == [True, True]


def test_redis_takes_wake_ups_also_when_it_cannot_write_to_the_disk(tmp_path: Path) -> None:
    configured = redis_configure(tmp_path)
    process = subprocess.Popen([redis_binary(), str(configured.config)])
    try:
        with Redis.from_url(configured.url) as client:
            wait_until(lambda: answers(client), seconds=30, what="Redis")
            (tmp_path / "dump.rdb").mkdir()  # which no file can take the place of
            client.bgsave()
            wait_until(lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err", seconds=30, what="a failed save")
            assert client.set("wake", "up")
    finally:
        process.kill()
        process.wait(timeout=20)


def answers(client: Redis) -> bool:
    with suppress(RedisError):
        return bool(client.ping())
    return False


def test_the_password_of_redis_stands_in_a_private_file(tmp_path: Path) -> None:
    redis = redis_configure(tmp_path)
    assert redis.config.stat().st_mode & 0o777 == 0o600
    assert f"requirepass {redis.password}" in redis.config.read_text()


def test_jars_that_are_there_are_not_fetched_again(tmp_path: Path) -> None:
    (tmp_path / "a-1.jar").write_bytes(b"jar")
    lock = tmp_path / "jars.lock"
    lock.write_text(f"{hashlib.sha256(b'jar').hexdigest()}  a-1.jar\n")
    assert not jars_fetch(tmp_path, ivy_file=tmp_path / "no such file", lock=lock)


@pytest.mark.slow
def test_a_jar_that_cannot_be_fetched_is_an_error_with_ivys_words(tmp_path: Path) -> None:
    lock = tmp_path / "jars.lock"
    lock.write_text(f"{'0' * 64}  a-1.jar\n")
    with pytest.raises(JarsUnavailable, match="fetching Spark's jars failed"):
        jars_fetch(tmp_path / "jars", ivy_file=tmp_path / "missing.xml", lock=lock)


def bundle(dist: Path, editor_bytes: int) -> Path:
    """A built front end of a shell, a list page and an editor; the bytes do not compress."""
    from random import Random

    random = Random(1)
    manifest = {
        "src/main.tsx": {
            "file": "main.js",
            "isEntry": True,
            "imports": ["_vendor.js"],
            "dynamicImports": ["src/features/jobs/jobs-page.tsx", "src/features/editor/editor-page.tsx"],
        },
        "_vendor.js": {"file": "vendor.js", "css": ["vendor.css"]},
        "src/features/jobs/jobs-page.tsx": {"file": "jobs.js", "imports": ["_vendor.js"]},
        "src/features/editor/editor-page.tsx": {"file": "editor.js", "imports": ["_vendor.js"]},
    }
    (dist / ".vite").mkdir(parents=True)
    (dist / ".vite" / "manifest.json").write_text(json.dumps(manifest))
    for name, size in {"main.js": 2048, "vendor.js": 100_000, "vendor.css": 4096, "jobs.js": 10_240, "editor.js": editor_bytes}.items():
        (dist / name).write_bytes(random.randbytes(size))
    return dist


def test_a_bundle_within_its_budget_is_shown_by_page(tmp_path: Path) -> None:
    assert bundle_check(bundle(tmp_path, 300 * 1024)) == "bundle, KB gzip: editor-page 300, jobs-page 113, shell 103"


def test_an_editor_over_its_budget_is_named(tmp_path: Path) -> None:
    with pytest.raises(BundleTooLarge, match=r"editor-page\.tsx: 360 KB gzip, and its budget is 350 KB"):
        bundle_check(bundle(tmp_path, 360 * 1024))


def test_the_ci_script_is_executable_and_sound() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111
    assert subprocess.run(["sh", "-n", str(script)], check=False).returncode == 0


def test_a_start_looks_at_its_own_address_without_the_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(urllib.request, "_opener", None)  # it remembers the proxies of the first time
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with api_server(lambda _: (200, {}, b"ready")) as server:
        assert announce.answers(f"{server.url}/readyz")
    assert not announce.answers(f"{server.url}/readyz")


def test_a_command_in_another_terminal_finds_the_running_product(tmp_path: Path) -> None:
    with running(tmp_path, {"PORT": "8123", "REDIS_URL": "redis://:p@127.0.0.1:5/0", "HOST": "127.0.0.1", "OTHER": "x"}):
        assert (tmp_path / "running.json").stat().st_mode & 0o777 == 0o600
        assert running_variables(tmp_path) == {"HOST": "127.0.0.1", "PORT": "8123", "REDIS_URL": "redis://:p@127.0.0.1:5/0"}
    assert running_variables(tmp_path) == {}
