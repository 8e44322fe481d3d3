"""Text from elsewhere, such as a message or what a server answered, so that it can be stored and sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def storable(text: str) -> str:
    """`text` with a mark for what no database stores, NUL characters, and no text of UTF-8 holds, halves of a surrogate pair."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def storable_data(value: Any) -> Any:
    """The same of all texts in plain JSON data, names of members too."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, Mapping):
        return {storable_data(key): storable_data(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [storable_data(held) for held in value]
    return value
