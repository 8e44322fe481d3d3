"""A session with a database through its JDBC driver, which runs in a JVM within this process."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.jdbc import JdbcSettings
from jobs.nodes.connections.lines_alive import lines_kept_alive
from jobs.nodes.jdbc_drivers import JdbcDriver, jdbc_driver
from jobs.nodes.node_error import SignInRefused, SystemAway

_CONNECT_SECONDS = 10
#: Times without a zone are taken for UTC, as everywhere else. The JVM handles no signals: they are the process's.
_JVM_ARGUMENTS = (
    "-Xmx512m",
    "-Xss1m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xrs",
    "-Duser.timezone=UTC",
    "-Djava.awt.headless=true",
)
_STARTING = threading.Lock()
_AWAY = ("SQLTransientConnectionException", "SQLNonTransientConnectionException", "SQLRecoverableException")
#: The first two characters of an SQLSTATE, and Oracle's number for a wrong password, which comes with a state of its own.
_LINE, _SIGN_IN, _ORACLE_SIGN_IN = "08", "28", 1017
_CORRECTED = ("0A", "22", "3D", "3F", "42")


def jdbc_open(settings: ConnectionSettings, limits: Limits) -> Any:
    """A `java.sql.Connection` that only reads, in a transaction; NodeError in one sentence when there is none."""
    typed = JdbcSettings.model_validate(settings.config)
    driver = jdbc_driver(typed.driver, limits)
    _line_check(settings.name, typed)
    loaded = driver_load(driver)
    import jpype

    properties = jpype.JClass("java.util.Properties")()
    for name, value in {**driver.properties, "user": typed.user, "password": settings.secrets.get("password", "")}.items():
        if value:
            properties.setProperty(name, value)
    with sql_told(f'connecting to "{settings.name}"'):
        jpype.JClass("java.sql.DriverManager").setLoginTimeout(driver.login_seconds)  # drivers look there as they connect
        with lines_kept_alive():
            session = loaded.connect(driver.address(host=typed.host, port=typed.port, database=typed.database), properties)
        if session is None:
            raise _unfit(driver, "it does not take the url")
        session.setReadOnly(True)
        session.setAutoCommit(False)
    return session


def jdbc_close(session: Any) -> None:
    """What is open is rolled back; a line that is lost already is no matter."""
    import jpype

    for act in (session.rollback, session.close):
        try:
            act()
        except jpype.JException:
            continue


def _line_check(name: str, typed: JdbcSettings) -> None:
    """Drivers wait long for a host that does not answer. SystemAway when it does not."""
    try:
        socket.create_connection((typed.host, typed.port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        why = error.strerror or error
        raise SystemAway(
            f'connecting to "{name}": {typed.host}:{typed.port} does not answer ({why}); check that it runs and can be reached'
        ) from None


def driver_load(driver: JdbcDriver) -> Any:
    """The driver's object, from jars that no other driver sees. NodeError where it cannot be loaded."""
    if gone := [str(jar) for jar in driver.jars if not jar.is_file()]:
        raise _unfit(driver, f"{', '.join(gone)} is not there")
    _jvm_start()
    return _loaded(tuple(driver.jars), driver.class_name, driver.title)


@contextmanager
def sql_told(act: str) -> Iterator[None]:
    """Whatever the driver throws becomes a NodeError."""
    import jpype

    try:
        yield
    except jpype.JException as error:
        raise _told(act, error) from error


def _jvm_start() -> None:
    """Once in a process. A process that was forked from one with a JVM could not use it: none forks here after it."""
    import jpype
    import jpype.config

    with _STARTING:
        if jpype.isJVMStarted():
            return
        jpype.config.onexit = False  # a driver's threads must not hold up the end of the process
        try:
            jpype.startJVM(*_JVM_ARGUMENTS, convertStrings=True)
        except (OSError, RuntimeError, ValueError, jpype.JVMNotFoundException) as error:
            raise NodeError(
                f"no JVM could be started for the driver ({error}); have an administrator set JAVA_HOME", kind="system"
            ) from error


@cache
def _loaded(jars: tuple[Path, ...], class_name: str, title: str) -> Any:
    import jpype

    urls = [jpype.JClass("java.io.File")(str(jar)).toURI().toURL() for jar in jars]
    loader = jpype.JClass("java.net.URLClassLoader")(jpype.JArray(jpype.JClass("java.net.URL"))(urls))
    with sql_told(f"loading the JDBC driver of {title}"):
        found = jpype.JClass("java.lang.Class").forName(class_name, True, loader)
        return jpype.JObject(found.getDeclaredConstructor().newInstance(), "java.sql.Driver")


def _unfit(driver: JdbcDriver, why: str) -> NodeError:
    message = f"the JDBC driver of {driver.title} cannot be used: {why}; have an administrator correct what JDBC_DRIVERS names"
    return NodeError(message, permanent=True, kind="user", field="driver")


def _told(act: str, error: Any) -> NodeError:
    import jpype

    words = " ".join(str(error.getMessage() or error.getClass().getSimpleName()).split())[:500]
    if not isinstance(error, jpype.JClass("java.sql.SQLException")):
        return NodeError(f"{act}: the driver failed ({error.getClass().getSimpleName()}: {words}); have an administrator look at it")
    state, code = str(error.getSQLState() or ""), int(error.getErrorCode())
    classes = _class_names(error)
    if state.startswith(_SIGN_IN) or code == _ORACLE_SIGN_IN or "SQLInvalidAuthorizationSpecException" in classes:
        return SignInRefused(f"{act}: the sign-in was refused ({words}); correct user or password", permanent=True, kind="user")
    if state.startswith(_LINE) or classes & set(_AWAY):
        return SystemAway(f"{act}: {words}; it is tried again")
    if state[:2] in _CORRECTED or "SQLSyntaxErrorException" in classes:
        return NodeError(f"{act}: {words}; correct table, query or rights", permanent=True, kind="user")
    return NodeError(f"{act}: {words}; it is tried again")


def _class_names(error: Any) -> set[str]:
    """Of it and all above it."""
    names, found = set(), error.getClass()
    while found is not None:
        names.add(str(found.getSimpleName()))
        found = found.getSuperclass()
    return names
