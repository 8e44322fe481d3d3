"""The JDBC drivers that an administrator allows, by name: which jars, which class, and how an address is made of a form's fields."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, TypeAdapter, ValidationError, field_validator

from jobs.nodes.base import Limits, NodeError

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


_FILE: TypeAdapter[dict[str, JdbcDriver]] = TypeAdapter(
    dict[Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")], JdbcDriver]
)


def jdbc_drivers(limits: Limits) -> Mapping[str, JdbcDriver]:
    """Name → driver, none where the administrator allows none; NodeError where the file cannot be read as such."""
    if limits.jdbc_drivers is None:
        return {}
    try:
        return _FILE.validate_json(limits.jdbc_drivers.read_bytes())
    except OSError as error:
        why = error.strerror or str(error)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        why = f"{'/'.join(str(part) for part in first['loc'])}: {first['msg']}".lstrip(": ")
    raise NodeError(
        f"the list of JDBC drivers cannot be read ({why}); have an administrator correct what JDBC_DRIVERS names",
        permanent=True,
        kind="user",
        field="driver",
    )


def jdbc_driver(name: str, limits: Limits) -> JdbcDriver:
    """NodeError where it is not allowed."""
    allowed = jdbc_drivers(limits)
    if name in allowed:
        return allowed[name]
    known = f"there are: {', '.join(sorted(allowed))}" if allowed else "there are none"
    raise NodeError(
        f'the JDBC driver "{name}" is not allowed here, {known}; choose another, or have an administrator add it to JDBC_DRIVERS',
        permanent=True,
        kind="user",
        field="driver",
    )
