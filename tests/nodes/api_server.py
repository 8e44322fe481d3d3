"""A real HTTP server for tests: pages of numbered records, and every way in which such a server misbehaves."""

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.servers.certificate import self_signed, server_context

#: Path and query → status, headers, body; a body in parts is sent as they come.
Answer = tuple[int, dict[str, str], bytes | Iterator[bytes]]


@dataclass
class Request:
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    method: str = "GET"
    body: bytes = b""
    query_string: str = ""

    @property
    def document(self) -> Any:
        return json.loads(self.body)


@dataclass
class ApiServer:
    """`answer` may be replaced while it runs; `requests` are those seen so far."""

    answer: Callable[[Request], Answer]
    port: int = 0
    requests: list[Request] = field(default_factory=list)
    #: Of one that is encrypted.
    certificate: str = ""

    @property
    def url(self) -> str:
        return f"http{'s' if self.certificate else ''}://127.0.0.1:{self.port}"

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def documents(self) -> list[Any]:
        return [request.document for request in self.requests]

    def pages_asked(self) -> list[str]:
        return [request.query.get("page", request.query.get("cursor", "")) for request in self.requests]


def as_json(document: Any, status: int = 200, **headers: str) -> Answer:
    return status, {"Content-Type": "application/json", **headers}, json.dumps(document).encode()


def as_gzip(body: bytes) -> Answer:
    return 200, {"Content-Type": "application/json", "Content-Encoding": "gzip"}, gzip.compress(body)


def records(first: int, last: int) -> list[dict[str, Any]]:
    return [{"id": number, "name": f"n{number}"} for number in range(first, last)]


def paged(count: int, *, total: bool = True) -> Callable[[Request], Answer]:
    """`count` records by page number from 1."""

    def answer(request: Request) -> Answer:
        page, size = int(request.query.get("page", "1")), int(request.query.get("page_size", "10"))
        found = records((page - 1) * size, min(page * size, count))
        return as_json({"results": found, "total": count} if total else {"results": found})

    return answer


def by_cursor(count: int, *, address: str = "") -> Callable[[Request], Answer]:
    """`count` records by a cursor that is "c" and the first number, or an address that holds it."""

    def answer(request: Request) -> Answer:
        first, size = int(request.query.get("cursor", "c0")[1:]), int(request.query.get("page_size", "10"))
        following = f"c{first + size}" if first + size < count else None
        if following and address:
            following = f"{address}?cursor={following}"
        return as_json({"results": records(first, min(first + size, count)), "next_cursor": following})

    return answer


def by_offset(count: int, *, most: int = 1000, total: bool = False) -> Callable[[Request], Answer]:
    """`count` records by offset and limit; a page holds `most` at most, whatever is asked for."""

    def answer(request: Request) -> Answer:
        first, size = int(request.query["offset"]), min(int(request.query["limit"]), most)
        found = records(first, min(first + size, count))
        return as_json({"results": found, "total": count} if total else {"results": found})

    return answer


def by_link(count: int, *, header: bool = False, base: str = "/things") -> Callable[[Request], Answer]:
    """`count` records, ten a page, each page with the address of the next in its body or its header Link."""

    def answer(request: Request) -> Answer:
        first = int(request.query.get("from", "0"))
        following = f"{base}?from={first + 10}&x=a%20b" if first + 10 < count else None
        found = {"results": records(first, min(first + 10, count))}
        if header:
            return as_json(found, Link=f'<{base}>; rel="first"' + (f', <{following}>; rel="next"' if following else ""))
        return as_json(found | {"next": following})

    return answer


def handing_out(count: int) -> Callable[[Request], Answer]:
    """`count` records, each handed out once, ten a request."""
    rest = iter(records(0, count))
    return lambda request: as_json({"results": list(islice(rest, 10))})


def trickling(release: threading.Event, part: bytes = b" ") -> Answer:
    """A body that goes on, part by part, until `release`."""

    def parts() -> Iterator[bytes]:
        while not release.wait(0.02):
            yield part

    return 200, {"Content-Type": "application/json"}, parts()


@contextmanager
def api_server(answer: Callable[[Request], Answer], *, encrypted: bool = False) -> Iterator[ApiServer]:
    server = ApiServer(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else a body would wait 40 ms for the acknowledgement of its headers

        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {name: values[0] for name, values in parse_qs(parts.query).items()}
            sent = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            request = Request(parts.path, query, dict(self.headers.items()), self.command, sent, parts.query)
            server.requests.append(request)
            status, headers, body = server.answer(request)
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                if isinstance(body, bytes):
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                else:
                    self.send_parts(body)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client gave up waiting, as some tests want it to

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET  # noqa: N815

        def send_parts(self, parts: Iterator[bytes]) -> None:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for part in parts:
                self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    listener = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if encrypted:
        server.certificate, key = self_signed()
        listener.socket = server_context(server.certificate, key).wrap_socket(listener.socket, server_side=True)
    server.port = listener.server_address[1]
    thread = threading.Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
