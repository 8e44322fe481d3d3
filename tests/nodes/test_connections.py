"""Connection kinds: their tests go step by step, their addresses are built from fields only, and no secret shows."""

import os
import socket
import struct
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from pydantic import ValidationError

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep
from jobs.nodes.connections import lines_alive
from jobs.nodes.connections.databases import database_silent
from jobs.nodes.connections.postgresql import PostgresqlConnection, PostgresqlSettings, postgresql_open
from jobs.nodes.connections.sqlite import SqliteConnection, sqlite_open
from jobs.nodes.node_error import SignInRefused, SystemAway
from jobs.nodes.worker_errors import WorkerFailure, carried_out, node_error_in
from tests.nodes.conftest import Database
from tests.servers.certificate import self_signed
from tests.servers.postgres import PostgresServer


def postgresql(**config: Any) -> ConnectionSettings:
    return ConnectionSettings("db", "postgresql", {"host": "127.0.0.1", "database": "d", "user": "u"} | config, {"password": "canary-4711"})


@pytest.mark.postgres
@pytest.mark.server
def test_a_good_postgresql_connection_passes_every_step(postgres_database: Database):
    steps = PostgresqlConnection().check(postgres_database.settings, Limits())
    assert [(step.name, step.ok) for step in steps] == [("name", True), ("port", True), ("TLS", True), ("sign-in", True)]
    assert steps[2].message == "the server offers no TLS: what is sent can be read on the way"
    assert "may create tables" in steps[-1].message


@pytest.mark.postgres
@pytest.mark.server
def test_a_wrong_password_fails_the_step_of_signing_in(postgres_database: Database):
    wrong = replace(postgres_database.settings, secrets={"password": "canary-4711"})
    steps = PostgresqlConnection().check(wrong, Limits())
    assert [step.ok for step in steps] == [True, True, True, False]
    assert "user pipeline was refused" in steps[-1].message
    assert "canary-4711" not in repr(steps)


@pytest.mark.postgres
@pytest.mark.server
def test_a_connection_signs_in_by_nothing_but_what_is_written_in_it(
    postgres_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Passwords and addresses of the user whom the product runs as are not a project's."""
    settings = postgres_database.settings
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"*:*:*:*:{settings.secrets['password']}\n")
    passwords.chmod(0o600)
    with monkeypatch.context() as env:
        env.setenv("PGPASSFILE", str(passwords))
        env.setenv("PGPASSWORD", settings.secrets["password"])
        with pytest.raises(SignInRefused, match="no password supplied"):
            postgresql_open(replace(settings, secrets={}), Limits())
        env.setenv("PGHOSTADDR", "192.0.2.1")
        env.setenv("PGGSSENCMODE", "require")
        env.setenv("PGREQUIREAUTH", "gss")
        env.setenv("PGSSLROOTCERT", str(passwords))
        env.setenv("PGTARGETSESSIONATTRS", "standby")
        postgresql_open(settings, Limits()).close()


def test_no_ticket_of_the_machines_user_signs_in():
    with closing(socket.create_server(("127.0.0.1", 0))) as server:

        def ask_for_ticket() -> None:
            line, _ = server.accept()
            with line:
                line.recv(1_000)
                line.sendall(b"R" + struct.pack("!ii", 8, 7))  # AuthenticationGSS
                line.recv(1_000)

        asking = threading.Thread(target=ask_for_ticket, daemon=True)
        asking.start()
        with pytest.raises(SignInRefused, match="asks for a ticket of Kerberos; have it take the password of u"):
            postgresql_open(postgresql(port=server.getsockname()[1], tls="disable"), Limits())
        asking.join()


@pytest.mark.postgres
@pytest.mark.server
def test_a_database_that_does_not_exist_is_named(postgres_database: Database):
    wrong = replace(postgres_database.settings, config={**postgres_database.settings.config, "database": "no=such host=x"})
    steps = PostgresqlConnection().check(wrong, Limits())
    assert 'database "no=such host=x" does not exist' in steps[-1].message


def test_a_closed_port_and_an_unknown_name_fail_their_steps():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    steps = PostgresqlConnection().check(postgresql(port=port), Limits())
    assert [step.ok for step in steps] == [True, False]
    assert f"127.0.0.1:{port} does not answer" in steps[-1].message
    (unknown,) = PostgresqlConnection().check(postgresql(host="no-such-host.invalid"), Limits())
    assert 'the name "no-such-host.invalid" is not known' in unknown.message


@pytest.mark.parametrize("host", ["h/d?x=1", "h?x", "h,evil", "h evil", "@h", "h\n", "/var/run", "h#x", "h&x", ""])
def test_a_host_is_only_a_host(host: str):
    with pytest.raises(ValidationError):
        PostgresqlSettings(host=host, database="d", user="u")


@pytest.mark.parametrize("path", ["x; -c log_statement=all", "a b", "a' ", "$user -c x"])
def test_a_search_path_cannot_carry_server_options(path: str):
    with pytest.raises(ValidationError):
        PostgresqlSettings(host="h", database="d", user="u", search_path=path)


def test_unknown_driver_options_are_refused():
    with pytest.raises(ValidationError, match="socketFactory"):
        PostgresqlSettings.model_validate({"host": "h", "database": "d", "user": "u", "socketFactory": "evil"})


def test_checking_a_certificate_needs_one(tmp_path: Path):
    with pytest.raises(ValidationError, match="paste the certificate authority"):
        PostgresqlSettings(host="h", database="d", user="u", tls="verify-full")
    with pytest.raises(NodeError, match="the certificate authority is no PEM certificate") as refused:
        postgresql_open(postgresql(tls="verify-full", certificate_authority="-----BEGIN CERTIFICATE-----"), Limits(data_dir=tmp_path))
    assert refused.value.permanent
    certificate, _ = self_signed()
    with pytest.raises(NodeError):
        postgresql_open(postgresql(tls="verify-full", certificate_authority=certificate), Limits(data_dir=tmp_path))
    (kept,) = (tmp_path / "certificates").iterdir()
    assert kept.is_relative_to(tmp_path)
    assert kept.read_text() == certificate


@pytest.mark.postgres
@pytest.mark.server
def test_a_server_without_tls_is_not_waited_for_where_tls_is_asked(postgres_database: Database) -> None:
    settings = replace(postgres_database.settings, config={**postgres_database.settings.config, "tls": "require"})
    with pytest.raises(NodeError, match=r"the line cannot be encrypted as require asks .*does not support SSL") as refused:
        postgresql_open(settings, Limits())
    assert (refused.value.permanent, database_silent(settings, Limits())) == (True, "")


@pytest.mark.postgres
@pytest.mark.server
def test_the_connection_test_tells_how_the_line_is_encrypted(postgres_database: Database, postgres_running: PostgresServer, tmp_path: Path):
    def steps(tls: str, authority: str = "") -> list[CheckStep]:
        config = {**postgres_database.settings.config, "tls": tls, "certificate_authority": authority}
        return PostgresqlConnection().check(replace(postgres_database.settings, config=config), Limits(data_dir=tmp_path))

    assert [step.ok for step in steps("require")] == [True, True, False]
    with postgres_running.encrypting() as certificate:
        for tls, authority, words in (
            ("disable", "", "not used, as chosen"),
            ("prefer", "", "the certificate is not checked"),
            ("require", "", "the certificate is not checked"),
            ("verify-ca", certificate, "the certificate is trusted, and valid until"),
            ("verify-full", certificate, "the certificate is trusted, and valid until"),
        ):
            found = steps(tls, authority)
            assert ([step.ok for step in found], words in found[2].message) == ([True] * 4, True), found
        stranger = steps("verify-full", self_signed()[0])
        assert ([step.ok for step in stranger], "the certificate is not trusted" in stranger[-1].message) == ([True, True, False], True)


def test_a_port_of_another_server_is_told_as_such():
    """It hangs up at the first words, as a broker of messages does."""
    with closing(socket.create_server(("127.0.0.1", 0))) as stranger:
        threading.Thread(target=_hang_up, args=(stranger,), daemon=True).start()
        config = {"host": "127.0.0.1", "port": stranger.getsockname()[1], "database": "warehouse", "user": "pipeline"}
        told = PostgresqlConnection().check(ConnectionSettings("main", "postgresql", config), Limits())[-1]
    assert (told.name, told.ok) == ("TLS", False)
    assert "does not answer as PostgreSQL does" in told.message
    assert told.message.endswith("check whether the port is PostgreSQL's")


def _hang_up(server: socket.socket) -> None:
    with suppress(OSError):
        while True:
            line, _ = server.accept()
            with line:
                line.settimeout(2)
                line.recv(100)


def test_a_number_that_is_no_line_any_more_is_let_go_of(tmp_path: Path):
    """Between the two looks, the number of a line that is closed may become that of a file."""
    with (tmp_path / "file").open("w") as file, patch.object(lines_alive, "_sockets", side_effect=[{}, {1: file.fileno()}]):
        before = os.listdir("/dev/fd")
        with lines_alive.lines_kept_alive():
            pass
        assert os.listdir("/dev/fd") == before


def test_a_connections_text_shows_no_secret():
    assert "canary-4711" not in repr(postgresql())


def test_a_sqlite_connection_is_tested_step_by_step(tmp_path: Path):
    limits = Limits(file_roots=(tmp_path,))

    def messages(path: str) -> list[tuple[bool, str]]:
        return [(step.ok, step.message) for step in SqliteConnection().check(ConnectionSettings("s", "sqlite", {"path": path}), limits)]

    assert messages("new.sqlite3")[-1] == (True, "the file does not exist yet; it is made when first written to")
    assert messages("no/new.sqlite3")[-1][0] is False
    (tmp_path / "text").write_text("hello, this is no database at all")
    assert "cannot be read as a SQLite database" in messages("text")[-1][1]
    assert messages("../x")[0][0] is False


def test_an_error_survives_the_way_out_of_a_worker():
    with pytest.raises(WorkerFailure) as caught, carried_out("orders"):
        raise NodeError('nothing at "/x"\nat all', permanent=True, kind="user", field="path")
    text = f"org.apache.spark.SparkException: Traceback\n  jobs.nodes.worker_errors.WorkerFailure: {caught.value}\n\tat x.scala"
    carried = node_error_in(text)
    assert carried is not None
    assert (carried.node_id, carried.error.message, carried.error.permanent) == ("orders", 'nothing at "/x"\nat all', True)
    assert (carried.error.kind, carried.error.field) == ("user", "path")
    assert type(carried.error) is NodeError
    with pytest.raises(WorkerFailure) as away, carried_out("orders"):
        raise SystemAway("nobody answers")
    told = node_error_in(f"{away.value}\n")
    assert told is not None
    assert (type(told.error), told.error.permanent) == (SystemAway, False)
    assert node_error_in("nothing here") is None
    assert node_error_in("node error {broken}") is None


@pytest.mark.slow
def test_a_new_file_that_several_open_and_close_at_once_is_never_locked(tmp_path: Path):
    limits = Limits(file_roots=(tmp_path,))

    def opened(number: int) -> None:
        settings = ConnectionSettings("target", "sqlite", {"path": str(tmp_path / f"{number // 2}.sqlite3")})
        with closing(sqlite_open(settings, limits)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("ROLLBACK")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(opened, range(1000)))
