"""From where somebody asks, as far as it is known behind proxies."""

import logging
from functools import cache
from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest

log = logging.getLogger(__name__)

_FORWARDING = frozenset({"X-Forwarded-For", "Forwarded", "X-Real-Ip", "Via"})


def is_forwarded(request: HttpRequest) -> bool:
    """Whether a proxy says that it passes this on; anybody else may say so, too."""
    return bool(_FORWARDING & set(request.headers))


def client_address(request: HttpRequest) -> str:
    """The address of who asks; "" where it is that of a proxy, which everybody behind it shares.

    uvicorn puts the client's in its place for the proxies of FORWARDED_ALLOW_IPS. Of the others only what stands in a private network is
    taken for one: whoever comes from outside would else choose by a header to be counted nowhere.
    """
    peer: str = request.META.get("REMOTE_ADDR", "")
    if not is_forwarded(request) or _is_put_in_place(request, peer) or not _is_private(peer):
        return peer
    _warn(peer)
    return ""


def _is_put_in_place(request: HttpRequest, peer: str) -> bool:
    """uvicorn takes the port from the header along with the address, 0 where it has none: nothing else asks from there."""
    port = str(request.META.get("REMOTE_PORT", ""))
    told = {place.strip() for place in request.headers.get("X-Forwarded-For", "").split(",")}
    return port == "0" or not told.isdisjoint({f"{peer}:{port}", f"[{peer}]:{port}"})


def _is_private(address: str) -> bool:
    try:
        found = ip_address(address)
    except ValueError:
        return False
    return not (getattr(found, "ipv4_mapped", None) or found).is_global


@cache
def _warn(peer: str) -> None:
    remedy = "have it send X-Forwarded-For, and name it in FORWARDED_ALLOW_IPS"
    log.warning(
        "requests come through %s, which hides who asks: %s (now %s); until then failed sign-ins are not counted by address",
        peer,
        remedy,
        settings.FORWARDED_ALLOW_IPS,
    )
