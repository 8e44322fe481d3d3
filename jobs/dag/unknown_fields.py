"""A field that is not known, told with the one that was probably meant, or with those that there are."""

import difflib
from collections.abc import Iterator, Sequence
from typing import Any, get_args

from pydantic import BaseModel

_MOST_NAMES = 40
_MOST_CHARACTERS = 60


def unknown_words(what: str, model: type[BaseModel], place: Sequence[int | str]) -> str:
    """'there is no setting called "lateness"; did you mean "late"?'. `place` leads to the unknown field from `model` on."""
    return unknown_name_words(what, str(place[-1]), names_known(model, place[:-1]))


def unknown_name_words(what: str, name: str, known: Sequence[str]) -> str:
    """The same of a name where `known` are those that there are."""
    shown = name if len(name) <= _MOST_CHARACTERS else f"{name[: _MOST_CHARACTERS - 3]}…"
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.6) or [one for one in known if one.startswith(f"{name.lower()}_")]
    if near:
        return f'there is no {what} called "{shown}"; did you mean "{near[0]}"?'
    listed = ", ".join(known[:_MOST_NAMES]) + (" …" if len(known) > _MOST_NAMES else "")
    return f'there is no {what} called "{shown}"' + (f"; there is {listed}" if listed else "")


def names_known(model: type[BaseModel], way: Sequence[int | str]) -> list[str]:
    """The fields where `way` ends; none where it leads to several kinds of objects."""
    found = [model]
    for step in way:
        below = [one for owner in found if step in owner.model_fields for one in _models(owner.model_fields[str(step)].annotation)]
        if below:  # else the number or the key of an item
            found = below
    return [field.alias or name for name, field in found[0].model_fields.items()] if len(set(found)) == 1 else []


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Those that stand in it: of `list[Column] | None` Column."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _models(part)
