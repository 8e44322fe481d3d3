"""Addresses on the web: where they lead, and how they are shown."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit


def joined(base: str, target: str) -> str:
    """`target` as a whole address, seen from `base`; as it is when it is none."""
    try:
        return urljoin(base, target)
    except ValueError:
        return target


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port; nothing for what is no address."""
    try:
        parts = urlsplit(url)
        return parts.scheme, (parts.hostname or "").lower(), parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return "", "", 0


def without_query(url: str) -> str:
    """Queries may carry keys, so texts for people leave them out."""
    return url.split("?", 1)[0][:200]
