"""Fixtures for every test: Redis, the test database's address, one Spark session, and no skips where CI=true."""

import gc
import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

import hypothesis
import pytest

# How long an example takes says more about the machine than about the code.
hypothesis.settings.register_profile("house", deadline=None)
hypothesis.settings.register_profile("quick", deadline=None, max_examples=20)
hypothesis.settings.load_profile("house")

#: For a Spark of half an hour. A heap that follows what is used, as a driver's does, was looked through as a whole once a minute.
_ROOM = "-Xms2g -Xmn1g"

#: While nobody asks them anything, RocketMQ takes a twentieth of a processor, the others a sixtieth; the most restless first.
_RESTLESS = ("rocketmq_server", "kafka_server", "hbase_server")
_OF_NODES = Path(__file__).with_name("nodes")

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pytest_django import DjangoDbBlocker

    from tests.engine.script.processes import Scripts
    from tests.servers.h2 import H2Server
    from tests.servers.hbase import HbaseServer
    from tests.servers.kafka import KafkaServer
    from tests.servers.mariadb import MariadbServer
    from tests.servers.mosquitto import MosquittoServer
    from tests.servers.postgres import PostgresServer
    from tests.servers.rabbitmq import RabbitMQServer
    from tests.servers.rocketmq import RocketmqServer
    from tests.servers.s3 import S3Server
    from tests.servers.sftp import SftpServer


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--database-only", action="store_true", help="only the tests that touch the database")


@pytest.hookimpl(tryfirst=True)  # before marks choose
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What `--database-only` keeps is found by the fixtures a test uses, not by a marker someone may forget.

    Tests of servers that are busy with themselves come last, so that these live shortly.
    """
    _mark(items)
    items.sort(key=_restlessness)
    if not config.getoption("--database-only"):
        return
    touching = {"db", "transactional_db", "live_server"}
    kept = [item for item in items if item.get_closest_marker("django_db") or touching & set(getattr(item, "fixturenames", ()))]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def _mark(items: list[pytest.Item]) -> None:
    """Tests of node types by their folder, of Spark by its session; of those that are `each_once` the combinations beyond as `faults`."""
    combined = defaultdict(list)
    for item in items:
        if _OF_NODES in item.path.parents:
            item.add_marker("nodes")
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker("spark")
        if item.get_closest_marker("each_once"):
            combined[item.nodeid.partition("[")[0]].append(item)
    for test in combined.values():
        parameters = [item.callspec._idlist for item in test]  # type: ignore[attr-defined]
        known = [list(dict.fromkeys(ids)) for ids in zip(*parameters, strict=True)]
        quick = {tuple(ids[number % len(ids)] for ids in known) for number in range(max(map(len, known)))}
        for item, chosen in zip(test, parameters, strict=True):
            if tuple(chosen) not in quick:
                item.add_marker("faults")


def _restlessness(item: pytest.Item) -> list[bool]:
    """Which of the restless servers it uses, by its fixtures or, where a parameter says which one to ask for, by its name."""
    words = re.split(r"[^a-z]+", item.name)
    return [server in getattr(item, "fixturenames", ()) or server.removesuffix("_server") in words for server in _RESTLESS]


def pytest_collection_finish() -> None:
    """The collector of garbage need not look through thousands of tests again and again: a seventh of the time of quick ones."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """With CI=true a skipped test is a failed one: there the script installs everything."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped, which CI does not allow: {report.longrepr}"


@pytest.fixture(scope="session", autouse=True)
def redis_server() -> Iterator[str]:
    """The address of a Redis that belongs to this run; cache, channel layer and queue use it."""
    from django.conf import settings

    from tests.servers.redis import RedisServer

    with RedisServer(port=urlsplit(settings.REDIS_URL).port, folder=Path(settings.DATA_DIR) / "redis"):
        yield settings.REDIS_URL


@pytest.fixture(scope="session")
def django_db_keepdb(pytestconfig: pytest.Config) -> bool:
    """SQLite begins with tables of an earlier run, where the same migrations made them; what a run adds goes with its data folder."""
    from django.db import connection

    from tests.migrated import migrated_file

    if connection.vendor != "sqlite":
        return False
    kept = migrated_file(pytestconfig.cache.mkdir("migrated"))
    database = Path(str(connection.settings_dict["TEST"]["NAME"]))
    if kept.exists():
        shutil.copyfile(kept, database)
    return database.exists()


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_keepdb: bool, pytestconfig: pytest.Config, django_db_blocker: "DjangoDbBlocker"
) -> None:
    """Tables are there; those that were made anew are kept for the next run."""
    from django.db import connection

    from tests.migrated import migrated_file, migrated_keep

    if connection.vendor == "sqlite" and not django_db_keepdb:
        with django_db_blocker.unblock():
            migrated_keep(Path(str(connection.settings_dict["NAME"])), migrated_file(pytestconfig.cache.mkdir("migrated")))


@pytest.fixture
def database_url(transactional_db: None) -> str:
    """The test database as a DATABASE_URL, for processes that a test starts; rows are committed, and emptied after."""
    from django.db import connection

    given = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{given['NAME']}"
    signing = f"{quote(given['USER'])}:{quote(given['PASSWORD'])}"
    return f"postgres://{signing}@{given['HOST'] or 'localhost'}:{given['PORT'] or 5432}/{given['NAME']}"


@pytest.fixture(scope="session")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Scripts]":
    """A process that runs exported scripts; started on first use, stopped after the run."""
    from tests.engine.script.processes import Scripts

    with Scripts(tmp_path_factory.mktemp("scripts")) as running:
        yield running


@pytest.fixture(scope="session")
def postgres_running() -> "Iterator[PostgresServer]":
    """A real PostgreSQL; started on first use, stopped after the run."""
    from tests.servers.postgres import PostgresServer, postgres_missing

    if missing := postgres_missing():
        pytest.skip(missing)
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_server(postgres_running: "PostgresServer") -> str:
    """Its address: `postgres://user:password@host:port/name`."""
    return postgres_running.url


@pytest.fixture(scope="session")
def mariadb_server() -> "Iterator[MariadbServer]":
    """A real MariaDB; started on first use, stopped after the run."""
    from tests.servers.mariadb import MariadbServer, mariadb_missing

    if missing := mariadb_missing():
        pytest.skip(missing)
    with MariadbServer() as server:
        yield server


@pytest.fixture(scope="session")
def h2_server() -> "Iterator[H2Server]":
    """A real database that only a JDBC driver speaks to; started on first use, stopped after the run."""
    from tests.servers.h2 import H2Server

    with H2Server() as server:
        yield server


@pytest.fixture(scope="session")
def kafka_server() -> "Iterator[KafkaServer]":
    """A real Kafka; started on first use, stopped after the run."""
    from tests.servers.kafka import KafkaServer

    with KafkaServer() as server:
        yield server


@pytest.fixture(scope="session")
def rocketmq_server() -> "Iterator[RocketmqServer]":
    """A real RocketMQ that asks for signing in; started on first use, stopped after the run."""
    from tests.servers.rocketmq import RocketmqServer

    with RocketmqServer(signed=True) as server:
        yield server


@pytest.fixture(scope="session")
def hbase_server() -> "Iterator[HbaseServer]":
    """A real HBase with its Thrift server; started on first use, stopped after the run."""
    from tests.servers.hbase import HbaseServer

    with HbaseServer() as server:
        yield server


@pytest.fixture(scope="session")
def rabbitmq_server() -> "Iterator[RabbitMQServer]":
    """A real RabbitMQ; started on first use, stopped after the run."""
    from tests.servers.rabbitmq import RabbitMQServer, rabbitmq_missing

    if missing := rabbitmq_missing():
        pytest.skip(missing)
    with RabbitMQServer() as server:
        yield server


@pytest.fixture(scope="session")
def mosquitto_server() -> "Iterator[MosquittoServer]":
    """A real MQTT broker; started on first use, stopped after the run."""
    from tests.servers.mosquitto import MosquittoServer, mosquitto_missing

    if missing := mosquitto_missing():
        pytest.skip(missing)
    with MosquittoServer() as server:
        yield server


@pytest.fixture(scope="session")
def s3_server() -> "Iterator[S3Server]":
    """A real S3 store; started on first use, stopped after the run."""
    from tests.servers.s3 import S3Server

    with S3Server() as server:
        yield server


@pytest.fixture(scope="session")
def sftp_server() -> "Iterator[SftpServer]":
    """A real SFTP server; started on first use, stopped after the run."""
    from tests.servers.sftp import SftpServer, sftp_missing

    if missing := sftp_missing():
        pytest.skip(missing)
    with SftpServer() as server:
        yield server


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[SparkSession]":
    """The one Spark session of this run, built as a driver builds it."""
    from django.conf import settings

    from jobs.engine.prepared import jars_in
    from jobs.engine.session import SessionOptions, session_build
    from scripts.class_archive import archive_make
    from scripts.fetch_jars import jars_fetch

    jars_fetch(settings.SPARK_JARS_DIR)
    archive_make(settings.SPARK_JARS_DIR)
    folder = tmp_path_factory.mktemp("spark")
    jars = jars_in(settings.SPARK_JARS_DIR)
    options = SessionOptions(
        "local[2]",
        jars,
        memory="2g",
        app_name="tests",
        local_dir=folder,
        java_options=f"{settings.SPARK_DRIVER_JAVA_OPTIONS} {_ROOM}",
        prepared=settings.SPARK_JARS_DIR,
    )
    session = session_build(options)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    yield session
    session.stop()
