"""What the browser must load: gzip sizes by page from Vite's manifest, held against a budget."""

import gzip
import json
from pathlib import Path
from typing import Any

KB = 1024
#: A page with all that it loads before it can draw.
PAGE_BUDGET = 250 * KB
#: What the editor loads on top of the shell.
EDITOR_BUDGET = 350 * KB


class BundleTooLarge(Exception):
    """A page is over its budget; the message names page, size and budget."""


def bundle_check(dist: Path) -> str:
    """One line with the sizes. Raises BundleTooLarge."""
    manifest: dict[str, dict[str, Any]] = json.loads((dist / ".vite" / "manifest.json").read_text())
    entry = next(key for key, chunk in manifest.items() if chunk.get("isEntry"))
    shell = _files(manifest, entry)
    pages = [key for key in manifest[entry].get("dynamicImports", []) if "/features/" in key or "/pages/" in key]
    sizes = {"shell": _size(dist, shell)}
    over = []
    for page in pages:
        extra = _size(dist, _files(manifest, page) - shell)
        is_editor = "/editor" in page
        counted, budget = (extra, EDITOR_BUDGET) if is_editor else (sizes["shell"] + extra, PAGE_BUDGET)
        sizes[Path(page).stem] = counted
        if counted > budget:
            over.append(f"{page}: {counted // KB} KB gzip, and its budget is {budget // KB} KB")
    if sizes["shell"] > PAGE_BUDGET:
        over.append(f"the shell: {sizes['shell'] // KB} KB gzip, and its budget is {PAGE_BUDGET // KB} KB")
    if over:
        raise BundleTooLarge("\n".join(over))
    return "bundle, KB gzip: " + ", ".join(f"{name} {size // KB}" for name, size in sorted(sizes.items()))


def _files(manifest: dict[str, dict[str, Any]], start: str) -> set[str]:
    """Every file that is loaded before the chunk `start` runs."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        key = waiting.pop()
        if key not in seen:
            seen.add(key)
            waiting += manifest[key].get("imports", [])
    return {file for key in seen for file in [manifest[key]["file"], *manifest[key].get("css", [])]}


def _size(dist: Path, files: set[str]) -> int:
    return sum(len(gzip.compress((dist / file).read_bytes(), 6)) for file in files)
