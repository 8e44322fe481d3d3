"""How the addresses of the installation itself are written."""

from urllib.parse import urlsplit

#: Addresses that mean "all of mine": none to connect to, so this machine reaches itself by loopback.
EVERY_INTERFACE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
#: Left out by browsers.
_USUAL_PORTS = {"http": ":80", "https": ":443"}


def host_written(host: str) -> str:
    """`host` as it stands in an address: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def own_address(host: str, port: int | str) -> str:
    """`host:port` by which this machine reaches what listens on `host`."""
    return f"{_own_host(host)}:{port}"


def hosts_answered(given: list[str], host: str) -> list[str]:
    """The names that requests may be sent to: those given, else loopback and `host`; and always that by which this machine reaches it."""
    return [*(given or [*_LOOPBACK, host_written(host)]), _own_host(host)]


def _own_host(host: str) -> str:
    return host_written(EVERY_INTERFACE.get(host, host))


def origin_of(address: str) -> str:
    """Scheme and host of `address`, as a browser names where a page is from; what has no scheme stays as it is."""
    parts = urlsplit(address.strip())
    host = parts.netloc.lower().removesuffix(_USUAL_PORTS.get(parts.scheme, "/"))
    return f"{parts.scheme}://{host}" if parts.scheme and host else address.strip()
