"""Who may open a socket: only pages of this installation, because browsers send cookies along from any page."""

from typing import Any
from urllib.parse import urlsplit

from channels.security.websocket import WebsocketDenier
from django.conf import settings
from django.http.request import validate_host


class SameOrigin:
    """Refuses a handshake whose Origin is not the host it is sent to (port included) and not in CSRF_TRUSTED_ORIGINS.

    No Origin at all is refused too: browsers always send one, and nothing else has a session cookie to send.
    """

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> Any:
        headers = {name.lower(): value.decode("latin-1") for name, value in scope.get("headers", [])}
        if origin_allowed(headers.get(b"origin", ""), headers.get(b"host", "")):
            return await self.inner(scope, receive, send)
        return await WebsocketDenier.as_asgi()(scope, receive, send)


def origin_allowed(origin: str, host: str) -> bool:
    """Whether a page at `origin` may talk to the socket at `host`."""
    if origin in settings.CSRF_TRUSTED_ORIGINS:
        return True
    try:
        found = urlsplit(origin)
        name = urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return False
    if found.scheme not in ("http", "https") or not host or found.netloc.lower() != host.lower():
        return False
    return validate_host(f"[{name}]" if ":" in name else name, settings.ALLOWED_HOSTS)
