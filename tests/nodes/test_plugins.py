"""Packages of others bring node types and kinds of connection; a broken one takes nothing else away."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from sqlite3 import connect
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.test import Client
from redis import Redis

from jobs.models import Project, Role
from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.formats import FORMATS
from jobs.nodes.plugins import NODE_GROUP
from jobs.nodes.registry import CONNECTION_KINDS, NODE_TYPES, REGISTRY, NodeRegistry
from tests.api.rows import member, send

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "plugin"
PIP = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps", "--no-build-isolation"]
#: The example is installed by pip.
pytestmark = pytest.mark.slow

#: What one package of somebody else got wrong, each in its own way.
BROKEN_MODULE = '''
from jobs.nodes import base
from jobs.nodes.connection_kind import ConnectionKind

class NoConfig(base.Config):
    pass

class Untitled(base.Flow[NoConfig]):
    """Passes rows on."""
    type = "flow.untitled"
    icon = "filter"
    Config = NoConfig
    def apply(self, frames, context):
        return frames["in"][0]

class Misplaced(Untitled):
    type = "sink.misplaced"
    title = "Misplaced"

class Misdeclared(Untitled):
    type = "flow.misdeclared"
    title = None

class Formless(ConnectionKind):
    kind = "formless"
    title = "Formless"
    icon = "plug"
    def check(self, settings, limits):
        return []

class Untested(ConnectionKind):
    kind = "untested"
    title = "Untested"
    icon = "plug"
    Config = NoConfig

class Leaky(base.Config):
    password: str = ""

class Leaking(Formless):
    kind = "leaking"
    Config = Leaky
    secrets = {"password": "Password"}

class Unlabelled(Formless):
    kind = "unlabelled"
    Config = NoConfig
    secrets = ["password"]

class Misdrawn(Formless):
    kind = "misdrawn"
    Config = NoConfig
    @classmethod
    def form(cls, limits):
        raise KeyError("boom")

class Raising(Formless):
    kind = "raising"
    Config = NoConfig
    def check(self, settings, limits):
        raise RuntimeError("boom")
'''
BROKEN_POINTS = """
[pipeline_web.nodes]
source.gone = no_such_module:Source
source.file = broken_parts:Untitled
flow.untitled = broken_parts:Untitled
sink.misplaced = broken_parts:Misplaced
flow.misdeclared = broken_parts:Misdeclared
flow.exits = broken_exits:Flow

[pipeline_web.connections]
exits = broken_exits:Kind
formless = broken_parts:Formless
function = os:getcwd
kafka = broken_parts:Raising
leaking = broken_parts:Leaking
misdrawn = broken_parts:Misdrawn
other = broken_parts:Raising
raising = broken_parts:Raising
unlabelled = broken_parts:Unlabelled
untested = broken_parts:Untested

[pipeline_web.formats]
json = broken_parts:Untitled
odd = broken_parts:Untitled
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which pip installed the example; without a network, as pip builds it from a copy."""
    folder = tmp_path_factory.mktemp("plugin")
    shutil.copytree(EXAMPLE, folder / "source")
    subprocess.run([*PIP, "--target", str(folder / "site"), str(folder / "source")], check=True, capture_output=True, text=True)
    return folder / "site"


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the package "broken" in it, as pip leaves one."""
    site = tmp_path_factory.mktemp("broken")
    (site / "broken_parts.py").write_text(BROKEN_MODULE)
    (site / "broken_exits.py").write_text("import sys\nsys.exit(3)\n")
    facts = site / "broken-2.1.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 2.1\n")
    (facts / "entry_points.txt").write_text(BROKEN_POINTS)
    return site


def forget() -> None:
    """The registry of this process looks again at what is installed."""
    for name in ("_nodes", "_catalogue", "_kinds"):
        REGISTRY.__dict__.pop(name, None)
    FORMATS.__dict__.pop("_found", None)


@pytest.fixture
def both(installed: Path, broken: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The product with the example and the broken package installed."""
    with monkeypatch.context() as patch:
        patch.syspath_prepend(str(installed))
        patch.syspath_prepend(str(broken))
        forget()
        yield
    forget()


@pytest.fixture
def stream() -> Iterator[str]:
    """1,500 numbered orders in a Redis stream."""
    with Redis(port=redis_port()) as redis:
        pipe = redis.pipeline()
        for number in range(1500):
            pipe.xadd("plugin-orders", {"number": number, "customer": f"c{number % 7}"})
        pipe.execute()
        yield "plugin-orders"
        redis.delete("plugin-orders")


def redis_port() -> int:
    return urlsplit(settings.REDIS_URL).port or 6379


def environment(*sites: Path, **more: str) -> dict[str, str]:
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (*sites, ROOT))), **more}
    found.pop("DJANGO_SETTINGS_MODULE", None)
    return found


@pytest.fixture
def browser(db: None) -> Client:
    project = Project.objects.get_or_create(slug="default", defaults={"title": "Default"})[0]
    client = Client(headers={"accept": "application/json"})
    client.force_login(member(project, "erin", Role.EDITOR))
    return client


def results(browser: Client, path: str, key: str) -> dict[str, dict[str, Any]]:
    return {one[key]: one for one in browser.get(path).json()["results"]}


@pytest.mark.usefixtures("both")
def test_what_a_package_brings_stands_in_the_catalogue_with_its_forms() -> None:
    spec = REGISTRY.catalogue()["source.redis_stream"]
    assert spec.available, spec.unavailable_reason
    assert list(spec.schema["properties"]) == ["connection", "stream", "columns", "rows_per_batch"]
    assert spec.schema["properties"]["connection"]["x-connection-kinds"] == ["redis"]
    assert (spec.family, spec.boundedness, [port.name for port in spec.ports]) == ("source", "both", ["out"])
    kind = REGISTRY.connection_kinds()["redis"]
    assert list(kind.schema()["properties"]) == ["host", "port", "database", "tls", "sign_in", "user"]
    steps = kind.check(ConnectionSettings("main", "redis", {"host": "127.0.0.1", "port": redis_port()}), Limits())
    assert [step.ok for step in steps] == [True, True, True]


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("source.gone", "ModuleNotFoundError: No module named 'no_such_module' (package broken 2.1)"),
        ("flow.exits", "SystemExit: 3 (package broken 2.1)"),
        ("flow.untitled", "AttributeError: type object 'Untitled' has no attribute 'title' (package broken 2.1)"),
        ("sink.misplaced", 'it is a flow: its name has to begin with "flow." (package broken 2.1)'),
    ],
)
def test_a_node_type_that_cannot_be_used_says_why_and_all_others_are_there(name: str, reason: str) -> None:
    catalogue = NodeRegistry().catalogue()
    assert catalogue[name].unavailable_reason == f"this node type could not be loaded: {reason}"
    assert [other for other in NODE_TYPES if not catalogue[other].available] == []


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("exits", "SystemExit: 3"),
        ("formless", "AttributeError: 'Formless' object has no attribute 'Config'"),
        ("function", "its entry point does not name a class below ConnectionKind"),
        ("leaking", "password is among its secrets and its settings"),
        ("unlabelled", "its secrets and secrets_when have to be mappings of text to text"),
        ("other", 'its class says it is "raising"'),
        ("untested", "Can't instantiate abstract class Untested"),
    ],
)
def test_a_kind_that_cannot_be_used_is_left_out_with_its_reason(name: str, reason: str) -> None:
    registry = NodeRegistry()
    assert set(registry.connection_kinds()) == {*CONNECTION_KINDS, "redis", "raising", "misdrawn"}
    assert reason in registry.missing_kinds()[name]
    assert registry.missing_kinds()[name].endswith("(package broken 2.1)")


@pytest.mark.usefixtures("both")
def test_ours_cannot_be_replaced_and_each_reason_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    registry = NodeRegistry()
    for _ in range(2):
        assert registry.catalogue()["source.file"].title == "Files"
        assert type(registry.connection_kinds()["kafka"]).__name__ == "KafkaConnection"
    told = [record.getMessage() for record in caplog.records if record.name == "jobs.nodes.plugins"]
    assert told.count('package broken 2.1 may not replace the built-in "source.file": the built-in is used') == 1
    assert told.count('package broken 2.1 may not replace the built-in "kafka": the built-in is used') == 1
    assert sum("source.gone" in text for text in told) == 1
    assert sum('"untested" is left out: TypeError' in text for text in told) == 1


@pytest.mark.usefixtures("both")
def test_the_api_shows_what_packages_bring_and_what_is_broken(browser: Client) -> None:
    types = results(browser, "/api/node-types", "type")
    assert types["source.redis_stream"]["schema"]["required"] == ["connection", "stream", "columns"]
    assert "no_such_module" in types["source.gone"]["unavailable_reason"]
    assert "its title is None: title must be text" in types["flow.misdeclared"]["unavailable_reason"]
    kinds = results(browser, "/api/connection-kinds", "kind")
    assert list(kinds) == sorted(kinds)
    assert (kinds["redis"]["available"], kinds["redis"]["secrets"]) == (True, {"password": "Password"})
    assert not kinds["untested"]["available"]
    assert "Can't instantiate" in kinds["untested"]["unavailable_reason"]
    assert kinds["misdrawn"]["unavailable_reason"] == "this kind of connection could not be loaded: KeyError: 'boom'"
    made = send(browser, "POST", "/api/connections", {"name": "odd", "kind": "untested", "config": {}})
    assert made.status_code == 422
    assert "Can't instantiate" in made.json()["error"]["problems"][0]["message"]


@pytest.mark.usefixtures("both")
def test_a_packages_format_can_be_chosen_where_messages_are_read_and_written(browser: Client) -> None:
    types = results(browser, "/api/node-types", "type")
    for name in ("source.kafka", "source.mqtt", "source.rabbitmq", "source.rabbitmq_stream", "source.rocketmq", "flow.parse"):
        fields = types[name]["schema"]["properties"]
        assert fields["format"]["enum"][-1] == "logfmt"
        assert fields["columns"]["x-when"].endswith("|logfmt")
    for name in ("sink.kafka", "sink.mqtt", "sink.rabbitmq", "sink.rocketmq", "flow.format"):
        assert types[name]["schema"]["properties"]["format"]["enum"][-1] == "logfmt"


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"format": "logfmt"}, "list the columns: the columns of logfmt values are not known otherwise"),
        (
            {"format": "odd"},
            'the format "odd" could not be loaded: its entry point does not name a class below MessageFormat (package broken 2.1)',
        ),
        ({"format": "yaml"}, "format must be 'json', 'csv', 'avro', 'regex', 'xml' or 'logfmt'"),
    ],
)
def test_a_format_that_cannot_be_used_says_why(config: dict[str, Any], words: str) -> None:
    problems = REGISTRY.catalogue()["flow.parse"].config_problems({"column": "line", **config})
    assert [problem.message for problem in problems] == [words]


@pytest.mark.usefixtures("both")
def test_a_connection_of_a_packages_kind_is_kept_and_tested(browser: Client) -> None:
    config = {"host": "127.0.0.1", "port": redis_port(), "sign_in": "password", "user": "nobody"}
    body = {"name": "main", "kind": "redis", "config": config, "secrets": {"password": "canary-71d2"}}
    made = send(browser, "POST", "/api/connections", body)
    assert made.status_code == 201, made.content
    path = f"/api/connections/{made.json()['id']}"
    tested = send(browser, "POST", f"{path}/test").json()
    assert [(step["name"], step["ok"]) for step in tested["steps"]] == [("name", True), ("port", True), ("sign-in", False)]
    assert "canary-71d2" not in json.dumps(tested)
    moved = send(browser, "PATCH", path, {"config": {**config, "database": 3}})
    assert moved.status_code == 422, "which of another package's settings lead elsewhere is not known: any may"
    assert moved.json()["error"]["problems"][0]["pointer"] == "/secrets/password"


@pytest.mark.usefixtures("both")
def test_a_kind_whose_test_is_broken_says_so(browser: Client) -> None:
    made = send(browser, "POST", "/api/connections", {"name": "odd", "kind": "raising", "config": {}}).json()
    tested = send(browser, "POST", f"/api/connections/{made['id']}/test").json()
    assert (tested["ok"], tested["steps"][0]["name"]) == (False, "test")
    assert "RuntimeError" in tested["steps"][0]["message"]


@pytest.mark.processes
def test_the_examples_own_tests_pass(installed: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    given = environment(installed, REDIS_PORT=str(redis_port()))
    done = subprocess.run(command, cwd=installed.parent / "source", env=given, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stdout


DOCUMENT = """
name: orders
type: BATCH_ROLLER
nodes:
  in: {type: source.redis_stream, config: {connection: main, stream: plugin-orders, columns: [number, customer], rows_per_batch: 1000}}
  line: {type: flow.format, config: {format: logfmt, output: line, keep: none}}
  order: {type: flow.parse, config: {column: line, format: logfmt, columns: [{name: number, type: long}, {name: customer, type: string}]}}
  even: {type: flow.filter_rows, config: {condition: "number % 2 = 0"}}
  out: {type: sink.jdbc, config: {connection: db, table: orders, mode: append}}
edges:
  e0: {from: [in, out], to: [line, in]}
  e1: {from: [line, out], to: [order, in]}
  e3: {from: [order, out], to: [even, in]}
  e2: {from: [even, out], to: [out, in]}
"""


@pytest.mark.processes
@pytest.mark.spark
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("stream")
def test_its_node_reads_in_executors_of_their_own_beside_a_broken_package(installed: Path, broken: Path, tmp_path: Path) -> None:
    (tmp_path / "files").mkdir()
    (tmp_path / "job.yml").write_text(DOCUMENT)
    main = {"kind": "redis", "config": {"host": "127.0.0.1", "port": redis_port()}}
    (tmp_path / "connections.json").write_text(json.dumps({"main": main, "db": {"kind": "sqlite", "config": {"path": "orders.sqlite"}}}))
    command = ["manage.py", "run_job", str(tmp_path / "job.yml"), "--connections", str(tmp_path / "connections.json")]
    spark = {"SPARK_MASTER": "local-cluster[1,2,1024]", "SPARK_DRIVER_MEMORY": "1g"}
    given = environment(installed, broken, DATA_DIR=str(tmp_path), **spark)
    done = subprocess.run([sys.executable, *command], cwd=ROOT, env=given, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    with connect(tmp_path / "files" / "orders.sqlite") as database:
        rows = database.execute("SELECT number, customer FROM orders ORDER BY number").fetchall()
    assert rows == [(number, f"c{number % 7}") for number in range(0, 1500, 2)]


def test_of_two_packages_with_one_name_the_first_by_alphabet_has_it(caplog: pytest.LogCaptureFixture) -> None:
    points = (
        EntryPoint("flow.filter_rows", "os:path", NODE_GROUP),
        EntryPoint("flow.filter_rows", "jobs.nodes.flows.filter_rows:FilterRows", NODE_GROUP),
    )
    assert NodeRegistry({}, {}, plugins=lambda: points).catalogue()["flow.filter_rows"].available
    assert 'os:path also brings "flow.filter_rows": that of jobs.nodes.flows.filter_rows:FilterRows is used' in caplog.text
