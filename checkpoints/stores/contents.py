"""What a store of objects writes down of a checkpoint, once all of it is there: `contents.json`.

    <job_uid>/checkpoints/<execution_id>/<number>/contents.json   each file of the checkpoint → its size, checksum and object
    <job_uid>/checkpoints/<execution_id>/<number>/<sha256>        the objects that it was the first to send

State grows, and its files stay: so a checkpoint names objects of earlier ones instead of sending them again. An object never changes, and
goes with the last checkpoint that names it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from checkpoints.manifest import ManifestDamaged, manifest_parse, manifest_text

CONTENTS = "contents.json"
_KEY = re.compile(r"([0-9a-f-]{36}/checkpoints/[0-9A-Za-z_-]{1,64}/\d{1,10})/([^/]+)")


@dataclass(frozen=True)
class Piece:
    """One file: its bytes, its SHA-256, and the name of the object that holds it."""

    bytes: int
    sha256: str
    object: str


#: Each file of a checkpoint by its path in the folder.
Contents = Mapping[str, Piece]


def contents_text(contents: Contents) -> str:
    files = {name: {"bytes": one.bytes, "sha256": one.sha256, "object": one.object} for name, one in contents.items()}
    return manifest_text({"files": files})


def contents_parse(text: bytes) -> Contents:
    """ManifestDamaged where it is not what was written."""
    try:
        files: Mapping[str, Any] = manifest_parse(text)["files"]
        return {name: Piece(int(one["bytes"]), str(one["sha256"]), str(one["object"])) for name, one in files.items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ManifestDamaged(f"{CONTENTS} does not say what is in it: {error}") from None


def key_of(name: str) -> str:
    """The key of the checkpoint that an object stands under, "" for what is not ours."""
    found = _KEY.fullmatch(name)
    return found[1] if found else ""


def objects_named(contents: Iterable[Contents]) -> set[str]:
    return {piece.object for one in contents for piece in one.values()}
