"""Small files that are either as they were or whole as they are now, whatever ends the process that writes them."""

import os
from hashlib import sha256
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


def certificates_place(texts: str, data_dir: Path) -> Path:
    """A file that holds these PEM certificates, for libraries that ask for one; its name follows from them, so it is written once."""
    kept = data_dir / "certificates" / f"{sha256(texts.encode()).hexdigest()[:32]}.pem"
    if not kept.is_file():
        text_place(kept, texts)
    return kept.resolve()
