"""docker-compose.yml and the Dockerfile hold together."""

import os
import re
import shlex
import shutil
import subprocess
import time
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
DOCKERFILE = (ROOT / "Dockerfile").read_text()
#: Of the Compose specification, what we use.
TOP_KEYS = {"name", "services", "networks", "volumes", "x-product"}
SERVICE_KEYS = {
    *("image", "build", "restart", "env_file", "environment", "volumes", "networks", "command"),
    *("depends_on", "ports", "healthcheck", "stop_grace_period"),
}
HEALTH_KEYS = {"test", "interval", "timeout", "retries", "start_period"}
CONDITIONS = {"service_started", "service_healthy", "service_completed_successfully"}
VARIABLES = ("SECRET_KEY", "ENCRYPTION_KEYS", "POSTGRES_PASSWORD", "REDIS_PASSWORD", "PUBLIC_URL", "ALLOWED_HOSTS")


def test_compose_uses_only_keys_of_the_specification() -> None:
    assert set(COMPOSE) <= TOP_KEYS
    for name, service in SERVICES.items():
        assert set(service) <= SERVICE_KEYS, name
        assert set(service.get("healthcheck", {})) <= HEALTH_KEYS, name


def test_compose_runs_web_worker_beat_redis_and_postgres() -> None:
    assert {"web", "worker", "beat", "redis", "postgres"} <= set(SERVICES)


def test_every_lasting_service_has_a_health_check_and_restarts() -> None:
    for name, service in SERVICES.items():
        if service["restart"] != "no":
            assert service["healthcheck"]["test"][0] in {"CMD", "CMD-SHELL"}, name


def test_what_a_service_waits_for_exists_and_can_become_so() -> None:
    for name, service in SERVICES.items():
        for other, how in service.get("depends_on", {}).items():
            assert how["condition"] in CONDITIONS, name
            assert how["condition"] != "service_healthy" or "healthcheck" in SERVICES[other], name


def test_networks_and_volumes_that_are_used_are_declared() -> None:
    for name, service in SERVICES.items():
        assert set(service.get("networks", [])) <= set(COMPOSE["networks"]), name
        assert {volume.split(":")[0] for volume in service.get("volumes", [])} <= set(COMPOSE["volumes"]), name


def test_no_secret_has_a_default() -> None:
    text = (ROOT / "docker-compose.yml").read_text()
    for name in ("SECRET_KEY", "ENCRYPTION_KEYS", "POSTGRES_PASSWORD", "REDIS_PASSWORD"):
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", text)
        assert uses, name
        assert all(use.startswith(":?") for use in uses), name


@pytest.mark.parametrize("ignored", [".dockerignore", ".gitignore"])
def test_the_file_with_the_keys_goes_into_no_image_and_no_repository(ignored: str) -> None:
    patterns = (ROOT / ignored).read_text().splitlines()
    files = {file["path"] for service in SERVICES.values() for file in service.get("env_file", [])}
    assert files
    for file in files:
        assert any(fnmatch(file, pattern) for pattern in patterns), file


def test_redis_takes_wake_ups_also_while_the_disk_is_full() -> None:
    assert "--stop-writes-on-bgsave-error no" in SERVICES["redis"]["command"][-1]


def test_postgresql_has_a_connection_for_all_that_the_readme_counts() -> None:
    (most,) = re.findall(r"the one of the file has (\d+)", (ROOT / "README.md").read_text())
    assert f"max_connections={most}" in SERVICES["postgres"]["command"]


@pytest.mark.parametrize("name", ["worker", "beat"])
def test_the_level_of_the_log_is_the_one_that_is_set(name: str) -> None:
    assert "--loglevel=${LOG_LEVEL:-WARNING}" in SERVICES[name]["command"]


def test_the_variables_of_compose_are_variables_of_the_settings() -> None:
    settings = (ROOT / "pipeline_web" / "settings.py").read_text()
    for name in SERVICES["web"]["environment"]:
        assert f'"{name}"' in settings, name


def test_what_stands_in_the_env_file_counts_unless_it_is_fixed_and_said_to_be() -> None:
    environment = SERVICES["web"]["environment"]
    fixed = [name for name, value in environment.items() if not re.match(rf"\$\{{{name}:[-?]", value)]
    assert fixed == ["PIPELINE_MODE", "HOST", "PORT", "DATA_DIR"]
    (said,) = re.findall(r"Fixed are ([^:]+):", (ROOT / "README.md").read_text())
    assert re.findall(r"`(\w+)`", said) == fixed


def test_what_is_fixed_is_what_the_image_and_the_other_services_go_by() -> None:
    environment = SERVICES["web"]["environment"]
    assert f'--port", "{environment["PORT"]}"' in DOCKERFILE
    assert SERVICES["web"]["ports"][0].endswith(f":{environment['PORT']}")
    assert f"data:{environment['DATA_DIR']}" in SERVICES["web"]["volumes"]
    assert f"--schedule={environment['DATA_DIR']}/beat-schedule" in SERVICES["beat"]["command"]


def test_beat_is_healthy_as_long_as_it_writes_its_schedule_down(tmp_path: Path) -> None:
    _, command = SERVICES["beat"]["healthcheck"]["test"]
    here = command.replace("$$", "$").replace("/data", str(tmp_path))
    assert here != command
    schedule = tmp_path / "beat-schedule.db"

    def healthy() -> bool:
        return subprocess.run(["sh", "-c", here], check=False).returncode == 0

    assert not healthy()
    schedule.touch()
    assert healthy()
    os.utime(schedule, times=(time.time() - 900, time.time() - 900))
    assert not healthy()


def test_what_is_stopped_dumped_and_kept_for_a_backup_is_what_compose_runs() -> None:
    said = (ROOT / "docs" / "operating.md").read_text()
    lasting = {name for name, service in SERVICES.items() if service["image"] == SERVICES["web"]["image"]} - {"migrate"}
    stops = re.findall(r"^docker compose stop ([a-z ]+?) *(?:#.*)?$", said, flags=re.M)
    assert [set(line.split()) for line in stops] == [lasting, lasting]
    postgres = SERVICES["postgres"]["environment"]
    assert f"pg_dump -U {postgres['POSTGRES_USER']} -Fc {postgres['POSTGRES_DB']} >" in said
    assert f"pg_restore -U {postgres['POSTGRES_USER']} -d {postgres['POSTGRES_DB']} <" in said
    folders = set(re.findall(r"-C (\S+)", said))
    assert {f"data:{folder}" for folder in folders} == set(SERVICES["web"]["volumes"])


def test_the_image_runs_as_nobody_special_and_copies_what_exists() -> None:
    last_stage = DOCKERFILE.split("\nFROM ")[-1]
    assert re.search(r"^USER pipeline$", last_stage, flags=re.M)
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, flags=re.M):
        for source in shlex.split(line)[:-1]:
            assert (ROOT / source).exists(), source


def compose_is_installed() -> bool:
    return (
        bool(shutil.which("docker")) and subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode == 0
    )


@pytest.mark.parametrize("given", [True, False], ids=["with its variables", "without them"])
def test_docker_compose_reads_it(given: bool) -> None:
    if not compose_is_installed():
        return  # the structure was checked above
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")} | (dict.fromkeys(VARIABLES, "x") if given else {})
    done = subprocess.run(["docker", "compose", "config", "--quiet"], cwd=ROOT, env=environment, capture_output=True, check=False)
    assert (done.returncode == 0) is given, done.stderr
