"""How the addresses of the installation itself are written."""

from urllib.parse import urlsplit

#: Addresses that mean "all of mine": none to connect to, so this machine reaches itself by loopback.
EVERY_INTERFACE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
#: Left out by browsers.
_USUAL_PORTS = {"http": ":80", "https": ":443"}


def host_written(host: str) -> str:
    """`host` as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def own_address(host: str, port: int | str) -> str:
    """`host:port` by which this machine reaches what listens on `host`."""
    return f"{host_written(EVERY_INTERFACE.get(host, host))}:{port}"


def origin_of(address: str) -> str:
    """Scheme and host of `address`, as a browser names where a page is from; what has no scheme stays as it is."""
    parts = urlsplit(address.strip())
    host = parts.netloc.lower().removesuffix(_USUAL_PORTS.get(parts.scheme, "/"))
    return f"{parts.scheme}://{host}" if parts.scheme and host else address.strip()
