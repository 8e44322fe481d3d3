"""What a checkpoint's folder says about itself: `manifest.json`, written last, with a checksum of its own."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

MANIFEST = "manifest.json"
FORMAT = 1


class ManifestDamaged(Exception):
    """There is no manifest, or it is not what was written: the folder is no checkpoint."""


def manifest_text(facts: Mapping[str, Any]) -> str:
    """`facts` with the versions that wrote them and a checksum of their own."""
    body = {**facts, "format": FORMAT, "versions": versions()}
    return json.dumps({**body, "sha256": _digest(body)}, sort_keys=True, indent=1, ensure_ascii=False)


def manifest_write(folder: Path, facts: Mapping[str, Any]) -> None:
    """Write `facts` with the versions that wrote them, on disk when this returns."""
    text = manifest_text(facts)
    with (folder / MANIFEST).open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def manifest_read(folder: Path) -> dict[str, Any]:
    """What was written; ManifestDamaged names what is wrong. Any other OSError comes as it is: that is no word on what was written."""
    try:
        text = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise ManifestDamaged(f"{MANIFEST} is missing") from None
    return manifest_parse(text)


def manifest_parse(text: bytes) -> dict[str, Any]:
    """What `manifest_text` was given; ManifestDamaged names what is wrong."""
    try:
        body = json.loads(text)
    except ValueError as error:
        raise ManifestDamaged(f"{MANIFEST} cannot be read: {error}") from None
    if not isinstance(body, dict) or body.pop("sha256", None) != _digest(body):
        raise ManifestDamaged(f"{MANIFEST} is damaged: its checksum does not fit")
    if body.get("format") != FORMAT:
        raise ManifestDamaged(f"{MANIFEST} has format {body.get('format')}; this version of the product reads format {FORMAT}")
    return body


@cache
def versions() -> dict[str, str]:
    """Of what wrote the files: Spark and the product."""
    try:
        product = version("pipeline-web")
    except PackageNotFoundError:  # run from its folder, as `make run` does
        product = "1.0.0"
    return {"spark": version("pyspark"), "product": product}


def _digest(body: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
