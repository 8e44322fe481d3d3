"""The test of a JDBC connection, in a process of its own: a driver that hangs or crashes takes nothing else along."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from jobs.nodes.base import ConnectionSettings, Limits
from jobs.nodes.connection_kind import CheckStep, check_steps
from jobs.nodes.connections.jdbc import JdbcSettings
from jobs.nodes.connections.jdbc_session import driver_load, jdbc_close, jdbc_open, sql_told
from jobs.nodes.connections.reach import name_resolve, port_reach
from jobs.nodes.jdbc_drivers import jdbc_driver

_SECONDS = 60
_HOME = Path(__file__).resolve().parents[3]


def checked_apart(settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
    """The steps as the other process found them."""
    asked = {"settings": asdict(settings), "drivers": str(limits.jdbc_drivers or "")}
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__],
            cwd=_HOME,
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
        return [CheckStep(**step) for step in json.loads(done.stdout.splitlines()[-1])]  # drivers may say something first
    except subprocess.TimeoutExpired:
        return [CheckStep("driver", False, f"the driver did not answer within {_SECONDS} s; check whether this is the right port")]
    except (ValueError, IndexError):
        return [CheckStep("driver", False, "the driver ended the process that tried it; have an administrator look at its jar")]


def jdbc_check(settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
    """Name, port, driver, sign-in; stops at the first that fails."""
    typed = JdbcSettings.model_validate(settings.config)

    def loaded() -> str:
        driver = jdbc_driver(typed.driver, limits)
        found = driver_load(driver)
        return f"{driver.class_name} {found.getMajorVersion()}.{found.getMinorVersion()} is loaded"

    def signed_in() -> str:
        session = jdbc_open(settings, limits)
        try:
            with sql_told(f'connecting to "{settings.name}"'):
                told = session.getMetaData()
                product = f"{told.getDatabaseProductName()} {told.getDatabaseProductVersion()}"
                return f"{product}, signed in as {told.getUserName() or typed.user}".replace("\n", " ")
        finally:
            jdbc_close(session)

    return check_steps(
        ("name", lambda: name_resolve(typed.host)),
        ("port", lambda: port_reach(typed.host, typed.port)),
        ("driver", loaded),
        ("sign-in", signed_in),
    )


def main() -> None:
    asked = json.load(sys.stdin)
    limits = Limits(jdbc_drivers=Path(asked["drivers"]) if asked["drivers"] else None)
    steps = jdbc_check(ConnectionSettings(**asked["settings"]), limits)
    sys.stdout.write("\n" + json.dumps([asdict(step) for step in steps]))


if __name__ == "__main__":
    main()
