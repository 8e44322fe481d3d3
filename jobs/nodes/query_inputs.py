"""What the inputs of a node are called as tables of its query."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import TypeVar

#: Of an output port that goes without saying.
_OUT = "out"
FrameT = TypeVar("FrameT")


def table_names(node_names: Sequence[str], inputs: int) -> list[str]:
    """A table name for each input: its node's in small letters, `_` for what SQL does not take, numbered when it comes twice."""
    names: list[str] = []
    for number, name in enumerate(_plain_names(node_names, inputs)):
        names.append(next(free for free in _numbered(name, number + 1) if free not in names))
    return names


def query_tables(query: str, node_names: Sequence[str], ports: Sequence[str], inputs: Sequence[FrameT]) -> dict[str, FrameT]:
    """Table → input. Beside its table name an input goes by `sp_late`, where it leaves `sp` by its port late, and by its node's very name
    in back quotes; a lone one by `input`, too. Of these other names only those are there that `query` has and that mean one input."""
    tables = dict(zip(table_names(node_names, len(inputs)), inputs, strict=True))
    if len(inputs) == 1:
        tables["input"] = inputs[0]
    spoken, asked = tuple(tables), query.lower()
    for others in (port_names(node_names, ports), [_very_name(name) for name in node_names]):
        for name, given in zip(others, inputs, strict=False):
            if name and name not in spoken and others.count(name) == 1 and name in asked:
                tables.setdefault(name, given)
    return tables


def port_names(node_names: Sequence[str], ports: Sequence[str]) -> list[str]:
    """For each input the name by its port, or "" where that is the usual one."""
    plain = _plain_names(node_names, len(ports))
    return [f"{name}_{_plain(port)}" if port != _OUT else "" for name, port in zip(plain, ports, strict=True)]


def numbered_tables(node_names: Sequence[str]) -> Mapping[str, list[int]]:
    """Name → places of the inputs that share it, of which all but the first are numbered: nothing but their order tells them apart."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(_plain_names(node_names, len(node_names))):
        places[name].append(place)
    return {name: found for name, found in places.items() if len(found) > 1}


def _plain_names(node_names: Sequence[str], inputs: int) -> list[str]:
    names = []
    for number in range(inputs):
        name = (_plain(node_names[number]) if number < len(node_names) else "") or f"input_{number + 1}"
        names.append(f"t_{name}" if name[0].isdigit() else name)
    return names


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")


def _very_name(name: str) -> str:
    """In small letters, as Spark compares names; "" with a dot in it, which would make a file or another database of it."""
    return "" if "." in name else name.lower()


def _numbered(name: str, first: int) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(first))
