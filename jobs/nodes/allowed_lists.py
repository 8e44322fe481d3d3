"""Lists in JSON by which an administrator allows what no user may bring along: drivers, libraries of stores."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, StringConstraints, TypeAdapter, ValidationError

from jobs.nodes.base import NodeError

#: What a connection keeps.
AllowedName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]
Entry = TypeVar("Entry", bound=BaseModel)


def allowed_list(
    path: Path | None, entries: TypeAdapter[dict[AllowedName, Entry]], *, what: str, setting: str, field: str
) -> Mapping[str, Entry]:
    """Name → entry, none where there is no list; NodeError on `field` where the file that `setting` names is no such list of `what`."""
    if path is None:
        return {}
    try:
        return entries.validate_json(path.read_bytes())
    except OSError as error:
        why = error.strerror or str(error)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        why = f"{'/'.join(str(part) for part in first['loc'])}: {first['msg']}".lstrip(": ")
    raise NodeError(
        f"the list of {what} cannot be read ({why}); have an administrator correct what {setting} names",
        permanent=True,
        kind="user",
        field=field,
    )


def allowed_entry(name: str, allowed: Mapping[str, Entry], *, what: str, setting: str, field: str) -> Entry:
    """NodeError on `field` where it is not among them."""
    if name in allowed:
        return allowed[name]
    known = f"there are: {', '.join(sorted(allowed))}" if allowed else "there are none"
    raise NodeError(
        f'the {what} "{name}" is not allowed here, {known}; choose another, or have an administrator add it to {setting}',
        permanent=True,
        kind="user",
        field=field,
    )


def choice_offered(form: dict[str, Any], field: str, titles: Mapping[str, str], sets: Mapping[str, Mapping[str, Any]]) -> None:
    """Makes `field` of a form a choice of what is allowed. `sets`: name → other fields that it fills in. An only one is chosen already."""
    fields = form["properties"]
    fields[field] |= {"enum": list(titles), "x-choices": dict(titles), "x-sets": {name: dict(others) for name, others in sets.items()}}
    if len(titles) == 1:
        (only,) = titles
        for name, value in {field: only, **sets.get(only, {})}.items():
            fields[name]["default"] = value
