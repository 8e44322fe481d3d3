"""What node tests share: an allowed folder, databases of three kinds, and contexts as the engine makes them."""

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg2
import pytest

from jobs.nodes.base import ConnectionSettings, Limits, NodeContext, NodeType
from jobs.nodes.connections.sqlite import sqlite_open
from jobs.nodes.registry import REGISTRY
from tests.servers.mariadb import USER as MARIADB_USER
from tests.servers.mariadb import MariadbServer


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The one folder that file nodes may use."""
    folder = tmp_path / "files"
    folder.mkdir()
    return folder


@dataclass
class Built:
    """A node with its context, as the engine hands it over."""

    node: Any
    context: NodeContext[Any]


Build = Callable[..., Built]


@pytest.fixture
def build(root: Path, tmp_path: Path) -> Build:
    """`build(type, config, **context)`: a node and its context; connections are given by name."""

    def built(type_name: str, config: dict[str, Any], **given: Any) -> Built:
        node_type: type[NodeType[Any]] | None = REGISTRY.get(type_name)
        assert node_type is not None, f"{type_name} is not available"
        defaults: dict[str, Any] = {
            "node_id": "node",
            "node_name": "Node",
            "job_uid": "5d0f6c3e-0000-4000-8000-000000000001",
            "generation": "a1b2c3d4-0000-4000-8000-000000000001",
            "attempt": 1,
            "limits": Limits(file_roots=(root,), data_dir=tmp_path),
            "work_dir": tmp_path / "work",
        }
        return Built(node_type(), NodeContext(config=node_type.Config.model_validate(config), **(defaults | given)))

    return built


class Database:
    """A database of any kind, to look at from outside."""

    def __init__(self, settings: ConnectionSettings, open_session: Callable[[], Any]) -> None:
        self.settings = settings
        self._open_session = open_session

    @property
    def connections(self) -> dict[str, ConnectionSettings]:
        return {self.settings.name: self.settings}

    def run(self, statement: str) -> None:
        with closing(self._open_session()) as session:
            session.cursor().execute(statement)
            session.commit()

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        with closing(self._open_session()) as session:
            cursor = session.cursor()
            cursor.execute(statement)
            return [tuple(row) for row in cursor.fetchall()]


@pytest.fixture
def sqlite_database(root: Path) -> Database:
    settings = ConnectionSettings("db", "sqlite", {"path": "target.sqlite3"})
    return Database(settings, lambda: sqlite_open(settings, Limits(file_roots=(root,))))


@pytest.fixture
def postgres_database(postgres_server: str) -> Iterator[Database]:
    """A schema of its own on the run's server, gone afterwards."""
    address = urlsplit(postgres_server)
    schema = f"test_{uuid4().hex[:12]}"
    config = {"host": address.hostname, "port": address.port, "database": address.path.strip("/"), "user": address.username}
    settings = ConnectionSettings("db", "postgresql", config | {"search_path": schema}, {"password": address.password or ""})

    def open_session() -> Any:
        return psycopg2.connect(postgres_server, options=f"-c search_path={schema} -c TimeZone=UTC")

    database = Database(settings, open_session)
    database.run(f"CREATE SCHEMA {schema}")
    yield database
    database.run(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def mysql_database(mariadb_server: MariadbServer) -> Iterator[Database]:
    """A database of its own on the run's server, gone afterwards."""
    name = f"test_{uuid4().hex[:12]}"
    config = {"host": "127.0.0.1", "port": mariadb_server.port, "database": name, "user": MARIADB_USER}
    settings = ConnectionSettings("db", "mysql", config, {"password": mariadb_server.password})
    Database(settings, mariadb_server.open).run(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
    yield Database(settings, lambda: mariadb_server.open(name))
    Database(settings, mariadb_server.open).run(f"DROP DATABASE {name}")


_POSTGRES = pytest.param("postgres", marks=[pytest.mark.postgres, pytest.mark.server])
_MYSQL = pytest.param("mysql", marks=pytest.mark.server)


@pytest.fixture(params=["sqlite", _POSTGRES, _MYSQL])
def database(request: pytest.FixtureRequest) -> Database:
    """Each test that takes it runs on all of them."""
    found: Database = request.getfixturevalue(f"{request.param}_database")
    return found


@pytest.fixture(params=[_POSTGRES, _MYSQL])
def server_database(request: pytest.FixtureRequest) -> Database:
    """Each test that takes it runs on those that are servers."""
    found: Database = request.getfixturevalue(f"{request.param}_database")
    return found
