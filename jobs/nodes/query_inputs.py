"""What the inputs of a node are called as tables of its query."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, zip_longest
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


def query_tables(node_names: Sequence[str], ports: Sequence[str], inputs: Sequence[FrameT]) -> dict[str, FrameT]:
    """Table → input. Beside its table name an input goes by its own name, where that means one input alone; a lone one by `input`, too."""
    tables = dict(zip(table_names(node_names, len(inputs)), inputs, strict=True))
    if len(inputs) == 1:
        tables["input"] = inputs[0]
    for name, given in zip(own_names(node_names, ports), inputs, strict=False):
        if name:
            tables.setdefault(name, given)
    return tables


def own_names(node_names: Sequence[str], ports: Sequence[str]) -> list[str]:
    """For each input a name that no other edge changes, or "": `sp_late`, where it leaves `sp` by its port late, else that of its node in
    small letters, as Spark compares names. None with a dot in it, which would make a file or another database of it."""
    names = [_own_name(node, port) for node, port in zip_longest(node_names, ports, fillvalue=_OUT)]
    return [name if "." not in name and names.count(name) == 1 else "" for name in names]


def told_by_order(node_names: Sequence[str]) -> list[list[int]]:
    """Places of inputs of which nothing but the order of their edges tells the table names apart."""
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, name in enumerate(node_names):
        places[_plain(name)].append(place)
    return [alike for alike in places.values() if len(alike) > 1]


def _own_name(node: str, port: str) -> str:
    if port == _OUT:
        return node.lower()
    plain = _plain(node)
    return f"{_not_a_number(plain)}_{_plain(port)}" if plain and _plain(port) else f"{node}_{port}".lower()


def _plain_names(node_names: Sequence[str], inputs: int) -> list[str]:
    given = [*node_names, *("" for _ in range(inputs))][:inputs]
    return [_not_a_number(_plain(name)) or f"input_{number + 1}" for number, name in enumerate(given)]


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", name.lower()).strip("_")


def _not_a_number(name: str) -> str:
    return f"t_{name}" if name[:1].isdigit() else name


def _numbered(name: str, first: int) -> Iterator[str]:
    yield name
    yield from (f"{name}_{number}" for number in count(first))
