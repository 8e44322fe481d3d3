"""RFC 6901 JSON pointers: where in a document a Problem stands."""

from collections.abc import Iterable


def pointer_of(parts: Iterable[str | int]) -> str:
    """`("nodes", "a/b", 0)` → `/nodes/a~1b/0`; no parts → "", the whole document."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def parts_of(pointer: str) -> list[str]:
    """The other way round. List indexes come back as text."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
