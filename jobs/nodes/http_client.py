"""A JSON API's client: signs in, waits and tries again, and says in one sentence what went wrong."""

from __future__ import annotations

import json
import random
import time
from base64 import b64encode
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from types import TracebackType
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.http_api import HttpApiSettings
from jobs.nodes.http_guard import guarded_transport

_MOST_BYTES = 64 * 1024 * 1024
_MOST_REDIRECTS = 5
_LONGEST_WAIT_SECONDS = 60.0
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})


class _Transient(NodeError):
    """Worth another try, after `wait` seconds if the server said so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class HttpApi:
    """A context manager around one API. Safe to call from several threads."""

    def __init__(
        self,
        settings: ConnectionSettings,
        limits: Limits,
        *,
        attempts: int,
        timeout_seconds: float,
        longest_wait: float = _LONGEST_WAIT_SECONDS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._settings = settings
        self._typed = HttpApiSettings.model_validate(settings.config)
        self._attempts = attempts
        self._longest_wait = longest_wait
        self._sleep = sleep
        self._client = httpx.Client(
            transport=guarded_transport(limits),
            timeout=httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, 10.0)),
            follow_redirects=False,
            trust_env=False,
            headers={"Accept": "application/json", "User-Agent": "pipeline-web"},
        )

    def __enter__(self) -> HttpApi:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def get_json(self, path: str, parameters: Mapping[str, str]) -> Any:
        """The JSON at `path` below the base address; NodeError, tried `attempts` times where that may help."""
        retrying = Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=self._wait,
            retry=retry_if_exception_type(_Transient),
            sleep=self._sleep,
            reraise=True,
        )
        return retrying(lambda: _parsed(*self._answer(self._url(path), parameters)))

    def probe(self) -> int:
        """The status of the base address itself; NodeError when sign-in is refused or the server fails."""
        response, _ = self._answer(self._typed.base_url, {}, not_found_is_fine=True)
        return response.status_code

    def _url(self, path: str) -> str:
        return f"{self._typed.base_url.rstrip('/')}/{path.lstrip('/')}" if path else self._typed.base_url

    def _wait(self, state: RetryCallState) -> float:
        """What the server asked for, else twice as long each time with jitter, so that many clients do not return at once."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, _Transient) and error.wait is not None:
            return min(error.wait, self._longest_wait)
        ceiling = min(2.0 ** (state.attempt_number - 1), self._longest_wait)
        return ceiling / 2 + random.random() * ceiling / 2

    def _answer(self, url: str, parameters: Mapping[str, str], *, not_found_is_fine: bool = False) -> tuple[httpx.Response, bytes]:
        """Follows redirects itself: what signs in is not carried to another host, nor from https to http."""
        home = _origin(url)
        for _ in range(_MOST_REDIRECTS + 1):
            signed = self._headers() if _origin(url) == home else {}
            response, body = self._sent(url, parameters, signed)
            target = response.headers.get("location", "")
            if not (response.is_redirect and target):
                _check_status(response, not_found_is_fine=not_found_is_fine)
                return response, body
            url, parameters = urljoin(str(response.url), target), {}
            if urlsplit(url).scheme not in ("http", "https"):
                raise NodeError(f"{_shown(response)} redirects to {url[:100]}, which is not HTTP; correct the address", permanent=True)
        raise NodeError(f"GET {url[:200]}: redirected more than {_MOST_REDIRECTS} times; correct the address", permanent=True)

    def _sent(self, url: str, parameters: Mapping[str, str], headers: Mapping[str, str]) -> tuple[httpx.Response, bytes]:
        request = self._client.build_request("GET", url, params=parameters or None, headers=dict(headers))
        try:
            response = self._client.send(request, stream=True)
            try:
                return response, _bounded_body(response)
            finally:
                response.close()
        except httpx.TimeoutException:
            raise _Transient(f"GET {_without_query(url)}: no answer in time; try later, or allow more seconds") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise _Transient(f"GET {_without_query(url)}: {error or type(error).__name__}; check address and network") from None

    def _headers(self) -> dict[str, str]:
        headers = {header.name: header.value for header in self._typed.headers}
        secrets = self._settings.secrets
        match self._typed.auth:
            case "basic":
                signing = f"{self._typed.user}:{secrets.get('password', '')}".encode()
                headers["Authorization"] = f"Basic {b64encode(signing).decode('ascii')}"
            case "bearer":
                headers["Authorization"] = f"Bearer {secrets.get('token', '')}"
            case "api_key":
                headers[self._typed.api_key_header] = secrets.get("api_key", "")
            case "none":
                pass
        return headers


def _bounded_body(response: httpx.Response) -> bytes:
    """Counted after decompression: a small answer may unpack to a huge one."""
    body = bytearray()
    for part in response.iter_bytes():
        body += part
        if len(body) > _MOST_BYTES:
            raise NodeError(f"{_shown(response)}: the answer is larger than {_MOST_BYTES >> 20} MiB; ask for smaller pages", permanent=True)
    return bytes(body)


def _check_status(response: httpx.Response, *, not_found_is_fine: bool) -> None:
    status = response.status_code
    if status < 400 or (not_found_is_fine and status in (404, 405)):
        return
    named = f"{status} {response.reason_phrase}".strip()
    if status in (401, 403):
        raise NodeError(f"{_shown(response)}: the sign-in was refused ({named}); correct the connection", permanent=True, kind="user")
    if status in _AGAIN:
        raise _Transient(f"{_shown(response)}: the server answered {named} each time; try later", _retry_after(response))
    raise NodeError(f"{_shown(response)}: the server answered {named}; correct path and parameters", permanent=True, kind="user")


def _retry_after(response: httpx.Response) -> float | None:
    """Seconds or a date (RFC 9110 §10.2.3)."""
    given = response.headers.get("retry-after", "").strip()
    if given.isdigit():
        return float(given)
    try:
        until = parsedate_to_datetime(given)
    except (TypeError, ValueError):
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def _parsed(response: httpx.Response, body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        begins = body[:60].decode("utf-8", "replace").strip().replace("\n", " ")
    if body.lstrip()[:1] == b"<":
        raise NodeError(
            f'{_shown(response)}: the answer is HTML instead of JSON ("{begins}"); check the path, and whether it wants a sign-in',
            permanent=True,
        )
    if not body.strip():
        raise _Transient(f"{_shown(response)}: the answer is empty; try later")
    raise _Transient(f'{_shown(response)}: the answer is no JSON ("{begins}"); try later')


def _shown(response: httpx.Response) -> str:
    return f"GET {_without_query(str(response.url))}"


def _without_query(url: str) -> str:
    """Queries may carry keys, so texts for people leave them out."""
    return url.split("?", 1)[0][:200]


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()
