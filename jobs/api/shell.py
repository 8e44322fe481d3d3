"""The page that carries the interface: it names the built files and the nonce; all else happens in the browser."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe

ENTRY = "src/main.tsx"
#: The interface's letters, by the end of their name in the manifest: words, and what is code.
FONTS = {"Inter Variable": "/inter-latin-wght-normal.woff2", "JetBrains Mono Variable": "/jetbrains-mono-latin-wght-normal.woff2"}


@dataclass(frozen=True)
class Bundle:
    """The files of the entry: its script, what that imports at once, and every style of both. Paths below STATIC_URL."""

    script: str
    imports: tuple[str, ...]
    styles: tuple[str, ...]


@require_safe
@never_cache
@ensure_csrf_cookie
def shell(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """The interface for every address that is its own; 503 with the remedy while it was not built."""
    manifest = Path(settings.FRONTEND_DIST) / ".vite" / "manifest.json"
    try:
        bundle = bundle_read(str(manifest), manifest.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError):
        return render(request, "not_built.html", status=503)
    return render(request, "shell.html", {"bundle": bundle, "static": settings.STATIC_URL})


def fonts_of_pages() -> Mapping[str, str]:
    """The interface's letters for pages that it does not draw: family and address; none while it was not built."""
    manifest = Path(settings.FRONTEND_DIST) / ".vite" / "manifest.json"
    try:
        files = _fonts_read(str(manifest), manifest.stat().st_mtime_ns)
    except (OSError, ValueError, KeyError):
        return {}
    return {family: f"{settings.STATIC_URL}{file}" for family, file in files.items()}


@lru_cache(maxsize=4)
def _fonts_read(path: str, changed: int) -> Mapping[str, str]:
    manifest: dict[str, dict[str, Any]] = json.loads(Path(path).read_text())
    return {family: str(entry["file"]) for family, end in FONTS.items() for name, entry in manifest.items() if name.endswith(end)}


@login_not_required
@require_safe
def favicon(request: HttpRequest) -> HttpResponse:
    """For those who ask for it where browsers did of old; pages name theirs themselves."""
    icon = Path(__file__).resolve().parent.parent / "static" / "jobs" / "icon.svg"
    return HttpResponse(icon.read_bytes(), content_type="image/svg+xml", headers={"Cache-Control": "public, max-age=86400"})


@lru_cache(maxsize=4)
def bundle_read(path: str, changed: int) -> Bundle:
    """The bundle that Vite's manifest describes; read again once the file has `changed`."""
    manifest: dict[str, dict[str, Any]] = json.loads(Path(path).read_text())
    imports: list[str] = []
    pending = list(manifest[ENTRY].get("imports", []))
    while pending:
        name = pending.pop(0)
        if name not in imports:
            imports.append(name)
            pending.extend(manifest[name].get("imports", []))
    styles = [style for name in (ENTRY, *imports) for style in manifest[name].get("css", [])]
    return Bundle(manifest[ENTRY]["file"], tuple(manifest[name]["file"] for name in imports), tuple(dict.fromkeys(styles)))
