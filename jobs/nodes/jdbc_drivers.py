"""The JDBC drivers that an administrator allows, by name: which jars, which class, and how an address is made of a form's fields."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from jobs.nodes.allowed_lists import AllowedName, allowed_entry, allowed_list
from jobs.nodes.base import Limits

_PLACES = ("{host}", "{port}", "{database}")


class JdbcDriver(BaseModel):
    """One entry of the file that JDBC_DRIVERS names."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=80)
    jars: list[Path] = Field(min_length=1, max_length=50)
    class_name: str = Field(alias="class", pattern=r"^[A-Za-z_$][\w$.]*$", max_length=300)
    #: With {host}, {port} and, where there is one, {database}.
    url: str = Field(pattern=r"^jdbc:[a-z0-9]+:", max_length=500)
    port: int | None = Field(None, ge=1, le=65535)
    properties: Mapping[str, str] = Field(default_factory=dict)
    #: For drivers that ask for it; some take it for the longest time of every answer.
    login_seconds: int = Field(30, ge=0, le=3_600)

    @field_validator("url")
    @classmethod
    def _has_places(cls, url: str) -> str:
        if "{host}" not in url or "{port}" not in url:
            raise ValueError("the url must say where {host} and {port} stand")
        rest = url
        for place in _PLACES:
            rest = rest.replace(place, "")
        if "{" in rest or "}" in rest:
            raise ValueError("the url may hold {host}, {port} and {database} only")
        return url

    def address(self, *, host: str, port: int, database: str) -> str:
        """The URL. What is put in has been judged: no character of it means anything in a URL."""
        within = f"[{host}]" if ":" in host else host
        return self.url.replace("{host}", within).replace("{port}", str(port)).replace("{database}", database)


_FILE: TypeAdapter[dict[AllowedName, JdbcDriver]] = TypeAdapter(dict[AllowedName, JdbcDriver])


def jdbc_drivers(limits: Limits) -> Mapping[str, JdbcDriver]:
    """Name → driver, none where the administrator allows none; NodeError where the file cannot be read as such."""
    return allowed_list(limits.jdbc_drivers, _FILE, what="database drivers", setting="JDBC_DRIVERS", field="driver")


def jdbc_driver(name: str, limits: Limits) -> JdbcDriver:
    """NodeError where it is not allowed."""
    return allowed_entry(name, jdbc_drivers(limits), what="database driver", setting="JDBC_DRIVERS", field="driver")
