"""What the settings make of an installation's variables, as a process of its own reads them."""

import json
import os
import runpy
import secrets
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.core.exceptions import ImproperlyConfigured
from django.db.utils import ConnectionHandler

from pipeline_web.addresses import own_address
from pipeline_web.leases import lease_settings
from pipeline_web.variables import VARIABLES
from scripts.run import Redis, variables

ROOT = Path(__file__).resolve().parents[2]
PRODUCTION = {"PIPELINE_MODE": "production", "SECRET_KEY": "x" * 40, "ENCRYPTION_KEYS": Fernet.generate_key().decode()}
#: Of the test run, and of the machine it runs on.
_OTHERS = {"DATABASE_URL", "DATA_DIR", "HOST", "PORT", "PUBLIC_URL", "ALLOWED_HOSTS", "CSRF_TRUSTED_ORIGINS", "DJANGO_SETTINGS_MODULE"}


def said(data: Path, program: str, *, begin: str = "import django\ndjango.setup()", **variables: str) -> Any:
    """The JSON that `program` prints, where `settings` are those of an installation with `variables`, set up by `begin`."""
    kept = {name: value for name, value in os.environ.items() if name not in _OTHERS}
    environment = {**kept, "DATA_DIR": str(data), "DJANGO_SETTINGS_MODULE": "pipeline_web.settings", **variables}
    script = f"import json\n{begin}\nfrom django.conf import settings\n{program}"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def settings_of(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> dict[str, Any]:
    """What the settings' own file makes of the test run's variables and these."""
    for name, value in variables.items():
        monkeypatch.setitem(VARIABLES, name, value)
    return runpy.run_path(str(ROOT / "pipeline_web" / "settings.py"))


def settings_with(monkeypatch: pytest.MonkeyPatch, data: Path, **variables: str) -> dict[str, Any]:
    """The same of an installation in `data` that has no other variables."""
    for name in _OTHERS:
        monkeypatch.delitem(VARIABLES, name, raising=False)
    return settings_of(monkeypatch, {"DATA_DIR": str(data), **variables})


@pytest.mark.parametrize("name", ["a+b", "50%20off", "c#", "why?mode=ro", "with space"])
def test_the_database_of_a_folder_of_any_name_stands_in_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    data = tmp_path / name
    data.mkdir()
    databases = settings_with(monkeypatch, data)["DATABASES"]
    assert databases["default"]["OPTIONS"]["timeout"] == 20
    opened = ConnectionHandler(databases)["default"]
    with closing(opened.get_new_connection(opened.get_connection_params())) as session:
        session.execute("CREATE TABLE t (a)")
    assert (data / "pipeline_web.sqlite3").is_file()
    assert [folder.name for folder in tmp_path.iterdir()] == [name]


@pytest.mark.slow
def test_the_web_process_keeps_no_connection_to_postgresql_as_none_of_its_threads_comes_back(tmp_path: Path) -> None:
    program = "print(json.dumps(settings.DATABASES['default']['CONN_MAX_AGE']))"
    address = "postgres://user:password@127.0.0.1:1/name"
    assert said(tmp_path, program, begin="import pipeline_web.asgi", DATABASE_URL=address, DATABASE_CONN_MAX_AGE="30") == 0
    assert said(tmp_path, program, DATABASE_URL=address, DATABASE_CONN_MAX_AGE="30") == 30


def test_an_ipv6_host_stands_in_brackets_in_every_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told = settings_with(monkeypatch, tmp_path, HOST="fd00::7", PORT="8123")
    assert told["PUBLIC_URL"] == "http://[fd00::7]:8123"
    assert told["DEMO_API_URL"] == "http://[fd00::7]:8123/demo/api"
    assert "[fd00::7]" in told["ALLOWED_HOSTS"]
    assert told["HTTP_ALLOWED_HOSTS"] == ["[fd00::7]:8123"]
    assert settings_with(monkeypatch, tmp_path, HOST="::")["HTTP_ALLOWED_HOSTS"] == ["[::1]:8000"]


@pytest.mark.parametrize(("host", "own"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("10.1.2.3", "10.1.2.3")])
def test_whatever_it_is_called_it_answers_to_the_address_by_which_it_asks_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, host: str, own: str
) -> None:
    told = settings_with(monkeypatch, tmp_path, HOST=host, ALLOWED_HOSTS="pipelines.example.com")
    assert told["ALLOWED_HOSTS"] == ["pipelines.example.com", own]


def test_a_start_tells_its_services_the_same_own_address(tmp_path: Path) -> None:
    told = variables("fd00::7", "8123", tmp_path, Redis(1, "p", tmp_path / "redis.conf"))
    assert told["PIPELINE_LOCAL_ADDRESS"] == own_address("fd00::7", 8123) == "[fd00::7]:8123"


@pytest.mark.parametrize(
    ("variables", "origins"),
    [
        ({"PUBLIC_URL": "https://pipelines.example.com/"}, ["https://pipelines.example.com"]),
        ({"PUBLIC_URL": "https://Pipelines.example.com:443/at/"}, ["https://pipelines.example.com"]),
        ({"PUBLIC_URL": ""}, ["http://127.0.0.1:8000"]),
        ({"PUBLIC_URL": "pipelines.example.com"}, []),
        (
            {"CSRF_TRUSTED_ORIGINS": "https://one.example/, https://*.two.example:8443"},
            ["https://one.example", "https://*.two.example:8443"],
        ),
    ],
)
def test_of_the_addresses_people_type_scheme_and_host_are_trusted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variables: dict[str, str], origins: list[str]
) -> None:
    assert settings_with(monkeypatch, tmp_path, **variables)["CSRF_TRUSTED_ORIGINS"] == origins


@pytest.mark.parametrize(("lease", "renew", "least"), [(60, 30, 92), (10, 3, 11), (15, 0, 5)])
def test_a_lease_that_a_driver_cannot_renew_in_time_is_refused_at_the_start(lease: int, renew: int, least: int) -> None:
    """A driver ends itself well before its lease does: it would, between two renewals."""
    with pytest.raises(ImproperlyConfigured, match=rf"LEASE_RENEW_SECONDS \({renew}\) .* LEASE_SECONDS \({lease}\) .* \({least}\)"):
        lease_settings(lease, renew)
    assert lease_settings(92, 30) == (92, 30)


def test_the_settings_refuse_such_a_lease(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="LEASE_RENEW_SECONDS"):
        settings_with(monkeypatch, tmp_path, LEASE_SECONDS="60", LEASE_RENEW_SECONDS="30")


def test_an_embedded_disk_keeps_its_name_when_the_machine_gets_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def named(machine: str, **variables: str) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(socket, "gethostname", lambda: machine)
            return settings_with(patch, tmp_path, **variables)["STORAGE_HOST"]

    assert (named("cafe"), named("home"), named("home", STORAGE_HOST="")) == ("cafe", "cafe", "cafe")
    assert named("home", STORAGE_HOST="given") == "given"
    assert named("home", **PRODUCTION) == "home", "many machines may stand in one installation"


@pytest.mark.parametrize(
    ("name", "given", "wanted"),
    [
        ("HISTORY_KEPT_DAYS", "-1", "a whole number from 0 (for ever) to 36500"),
        ("HISTORY_KEPT_DAYS", "1000000", "a whole number from 0 (for ever) to 36500"),
        ("CHECKPOINT_HISTORY_DAYS", "-1", "a whole number from 0 (for ever) to 36500"),
        ("CHECKPOINTS_KEPT_HOURS", "-1", "a number from 0 (for ever) to 876000"),
        ("CHECKPOINTS_KEPT", "0", "a whole number, 1 or more"),
        ("DRIVER_SLOTS", "0", "a whole number, 1 or more"),
        ("DRIVER_SLOTS", "15s", "a whole number, 1 or more"),
        ("RECONCILE_SECONDS", "nan", "a number, 0.1 or more"),
        ("START_TIMEOUT_SECONDS", "5.5", "a whole number, 1 or more"),
        ("CLAIM_POLL_SECONDS", "inf", "a number, 0.1 or more"),
        ("PORT", "80000", "a whole number from 1 to 65535"),
        ("SECURE_COOKIES", "none", "true or false"),
        ("LOG_LEVEL", "loud", "DEBUG, INFO, WARNING, ERROR or CRITICAL"),
        ("CHECKPOINTS_ON_CANCEL", "remove", "keep or delete"),
    ],
)
def test_what_a_variable_cannot_be_is_refused_by_its_name(monkeypatch: pytest.MonkeyPatch, name: str, given: str, wanted: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        settings_of(monkeypatch, {name: given})
    assert str(refused.value) == f"{name} is {given}; it must be {wanted}"


@pytest.mark.parametrize("given", ["{bad", '["s3"]', '{"s3": "SECRET"}'])
def test_options_of_a_store_that_are_no_objects_are_refused_without_their_text(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="CHECKPOINT_STORAGE_OPTIONS must be JSON objects by name") as refused:
        settings_of(monkeypatch, {"CHECKPOINT_STORAGE_OPTIONS": given})
    assert given not in str(refused.value)


def test_an_empty_variable_is_one_that_is_not_set_and_a_level_may_be_small(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("DRIVER_SLOTS", "RECONCILE_SECONDS", "SECURE_COOKIES", "CHECKPOINT_STORAGE_OPTIONS", "CHECKPOINTS_ON_CANCEL")
    found = settings_of(monkeypatch, {"LOG_LEVEL": "warning", **dict.fromkeys(names, ""), **PRODUCTION})
    assert [found[name] for name in names] == [30, 2.0, True, {}, "keep"]
    assert found["LOGGING"]["root"]["level"] == "WARNING"


def test_what_is_kept_for_ever_is_said_by_a_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("HISTORY_KEPT_DAYS", "CHECKPOINT_HISTORY_DAYS", "CHECKPOINTS_KEPT_HOURS")
    found = settings_of(monkeypatch, dict.fromkeys(names, "0"))
    assert [found[name] for name in names] == [0, 0, 0]


@pytest.mark.parametrize("mode", ["embedded", "production"])
@pytest.mark.parametrize("key", ["changeme", "é" * 44, secrets.token_hex(32)])
def test_a_text_that_is_no_key_is_refused_at_the_start_without_the_text(monkeypatch: pytest.MonkeyPatch, mode: str, key: str) -> None:
    good = PRODUCTION["ENCRYPTION_KEYS"]
    variables = {**PRODUCTION, "PIPELINE_MODE": mode}
    assert settings_of(monkeypatch, {**variables, "ENCRYPTION_KEYS": f" {good} , {good},"})["ENCRYPTION_KEYS"] == [good, good]
    with pytest.raises(ImproperlyConfigured, match="ENCRYPTION_KEYS: key 2 of 2 is no Fernet key") as refused:
        settings_of(monkeypatch, {**variables, "ENCRYPTION_KEYS": f"{good},{key}"})
    assert key not in str(refused.value)
