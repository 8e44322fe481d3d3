"""The code that a node begins with is read whole in the editor of its form."""

import json
import unicodedata
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from jobs.nodes.registry import NodeRegistry

WORDS = Path(__file__).resolve().parents[2] / "frontend" / "src" / "features" / "canvas" / "locales" / "node-fields.zh.json"
#: Characters that stand side by side in a window of 1280 pixels, where the panel is narrowest.
WIDTH = 33
#: Pixels of a Chinese character and of one of the code's own font.
WIDE = 12 / 7.2


def width_of(line: str) -> float:
    return sum(WIDE if unicodedata.east_asian_width(one) in "WF" else 1 for one in line)


def templates(fields: Mapping[str, Any]) -> Iterator[str]:
    """What the field of code holds at first, and what choices of other fields put there."""
    yield str(fields.get("code", {}).get("default", ""))
    for field in fields.values():
        yield from (str(chosen.get("code", "")) for chosen in field.get("x-sets", {}).values())


def comments() -> Iterator[tuple[str, str]]:
    """(type and language, line) of each comment in code that a node begins with."""
    types = json.loads(WORDS.read_text(encoding="utf-8"))["types"]
    for name, spec in NodeRegistry(plugins=tuple).catalogue().items():
        for code in templates(spec.schema.get("properties", {})):
            yield from ((f"{name} en", line) for line in code.splitlines() if line.startswith("#"))
        yield from ((f"{name} zh", f"# {line}") for line in types.get(name, {}).get("code", {}).get("notes", "").splitlines())


@pytest.mark.parametrize("form", sorted({form for form, _ in comments()}))
def test_no_line_of_its_comments_is_cut_off(form: str) -> None:
    assert [line for of, line in comments() if of == form and width_of(line) > WIDTH] == []
