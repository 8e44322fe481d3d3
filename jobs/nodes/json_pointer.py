"""JSON pointers (RFC 6901)."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import StringConstraints

JsonPointer = Annotated[str, StringConstraints(pattern=r"^(/([^/~]|~0|~1)*)*$", max_length=500)]

MISSING = object()


def pointed(document: Any, pointer: str) -> Any:
    """What stands at `pointer` in `document`, or MISSING."""
    found = document
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            return MISSING
    return found
