"""Small files that are either as they were or whole as they are now, whatever ends the process that writes them."""

import os
from pathlib import Path
from uuid import uuid4


def text_place(path: Path, text: str) -> None:
    """Write `text` to `path` in one step, its folder made where it is missing: on the disk when this returns."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}")
    with part.open("w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    os.replace(part, path)
