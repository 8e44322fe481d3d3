"""Databases that no client of ours speaks to, by the JDBC drivers that an administrator allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from jobs.nodes import base
from jobs.nodes.allowed_lists import choice_offered
from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connection_kind import CheckStep, ConnectionKind
from jobs.nodes.connections.server_fields import host_field
from jobs.nodes.form import hints
from jobs.nodes.jdbc_drivers import jdbc_drivers


class JdbcSettings(base.Config):
    driver: str = Field(
        min_length=1,
        max_length=40,
        description="Which database it is: one of the drivers that the administrator allows.",
        examples=["oracle"],
    )
    host: str = host_field("db.example.com")
    port: int = Field(ge=1, le=65535, description="Port of the server.", examples=[1521])
    database: str = Field(
        "",
        max_length=128,
        pattern=r"^[\w.$#~-]*$",
        description="Name of the database or service, where the server has several.",
        examples=["ORCLPDB1"],
        json_schema_extra=hints(allowed="a name of letters, digits and . _ - $ # ~"),
    )
    user: str = Field("", max_length=128, pattern=r"^[^\x00-\x1f]*$", description="Who signs in.", examples=["pipeline"])


class JdbcConnection(ConnectionKind):
    kind = "jdbc"
    title = "JDBC database"
    icon = "database"
    Config = JdbcSettings
    secrets: ClassVar[Mapping[str, str]] = {"password": "Password"}

    @classmethod
    def form(cls, limits: Limits) -> dict[str, Any]:
        drivers = jdbc_drivers(limits)
        if not drivers:
            raise NodeError("no JDBC driver is allowed here; an administrator lists them in the file that JDBC_DRIVERS names")
        form = cls.schema()
        ports = {name: {"port": driver.port} for name, driver in drivers.items() if driver.port}
        choice_offered(form, "driver", {name: driver.title for name, driver in drivers.items()}, ports)
        return form

    def check(self, settings: ConnectionSettings, limits: Limits) -> list[CheckStep]:
        """Name, port, driver, sign-in; in a process of its own, which a driver may bring down."""
        from jobs.nodes.connections.jdbc_check import checked_apart

        return checked_apart(settings, limits)
