"""Small files that are either as they were or whole as they are now, whatever ends the process that writes them."""

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from uuid import uuid4


def text_place(path: Path, text: str) -> None:
    """Write `text` to `path` in one step, its folder made where it is missing: on the disk when this returns."""
    os.replace(_part(path, text), path)


def text_kept(path: Path) -> str:
    """The text of `path`; "" where there is none."""
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def text_first(path: Path, make: Callable[[], str]) -> str:
    """The text of `path`, made where there is none. Where several make it at the same time, all get what the first one made."""
    if not path.is_file():
        part = _part(path, make())
        with suppress(FileExistsError):
            os.link(part, path)
        part.unlink()
    return path.read_text(encoding="utf-8")


def _part(path: Path, text: str) -> Path:
    """`text` on the disk, beside `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}")
    with part.open("w", encoding="utf-8") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    return part


def certificates_place(texts: str, data_dir: Path) -> Path:
    """A file that holds these PEM certificates, for libraries that ask for one; its name follows from them, so it is written once."""
    kept = data_dir / "certificates" / f"{sha256(texts.encode()).hexdigest()[:32]}.pem"
    if not kept.is_file():
        text_place(kept, texts)
    return kept.resolve()
