"""A JSON API's client: signs in, keeps the pace, waits and tries again, and says in one sentence what went wrong."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, TypeVar

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt

from jobs.nodes.base import ConnectionSettings, Limits, NodeError
from jobs.nodes.connections.http_api import HttpApiSettings
from jobs.nodes.connections.tls import tls_fault, untrusted
from jobs.nodes.http_addresses import joined, origin, without_query
from jobs.nodes.http_answers import (
    ServerAway,
    Transient,
    is_refused_request,
    json_of,
    next_link,
    shown,
    status_check,
    status_named,
    words_of,
)
from jobs.nodes.http_guard import guarded_transport
from jobs.nodes.http_messages import HttpRequest, JsonAnswer, Refused
from jobs.nodes.http_pace import Pace
from jobs.nodes.http_sign_in import SignIn
from jobs.nodes.json_pointer import MISSING
from jobs.nodes.retry_note import RetryNote

_MOST_BYTES = 64 * 1024 * 1024
_MOST_REDIRECTS = 5
_LONGEST_WAIT_SECONDS = 60.0
#: An answer may take so many times as long as the wait for its next part.
_SLOWEST_ANSWER = 10
#: So much longer than a pause and a request take a note of them holds.
_NOTE_SECONDS = 5.0

#: They would write whole addresses and headers, with all that signs in.
logging.getLogger("httpx").setLevel(logging.WARNING)
logging.getLogger("httpcore").setLevel(logging.WARNING)

T = TypeVar("T")


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
        requests_per_second: float | None = None,
        link_hosts: Collection[str] = (),
        most_connections: int = 20,
        note: RetryNote | None = None,
    ) -> None:
        self._typed = HttpApiSettings.model_validate(settings.config)
        self._attempts = attempts
        self._timeout = timeout_seconds
        self._longest_wait = longest_wait
        self._sleep = sleep
        self._note = note
        self._pace = Pace(requests_per_second)
        self._link_hosts = {host.lower() for host in link_hosts}
        self._client = httpx.Client(
            transport=guarded_transport(limits, most_connections, self._typed.certificate_authority),
            timeout=httpx.Timeout(timeout_seconds, connect=min(timeout_seconds, 10.0)),
            follow_redirects=False,
            trust_env=False,
            headers={"Accept": "application/json", "User-Agent": "pipeline-web"},
        )
        self.sign_in = SignIn(settings, self._typed, self._post_form)

    def __enter__(self) -> HttpApi:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._client.close()

    def get_json(self, path: str, parameters: Mapping[str, str]) -> Any:
        """The JSON at `path` below the base address; NodeError, tried `attempts` times where that may help."""
        request = HttpRequest(path, tuple(parameters.items()))
        if (document := self.ask(request).document) is MISSING:
            where = f"{request.method} {without_query(self._address(request))}"
            raise NodeError(f"{where}: the answer is empty; try later")
        return document

    def ask(self, request: HttpRequest) -> JsonAnswer:
        """The JSON that answers `request`; NodeError, tried `attempts` times where that may help."""
        return self._tried(lambda: self._asked(request))

    def send(self, request: HttpRequest, *, accepted: Collection[int] = ()) -> Refused | None:
        """None once the server took it. Answers from 400 to 499 that stay are refusals unless `accepted`; a sign-in's is a NodeError."""
        return self._tried(lambda: self._sent_off(request, accepted))

    def probe(self, path: str) -> int:
        """The status of `path` below the base address, asked for once; NodeError only when nothing answers."""
        return self._tried(lambda: self._answer(HttpRequest(path))[0].status_code)

    def rest(self) -> None:
        """Until the next request may follow, as another client would send it: each begins with a pace of its own."""
        self._pace.rest()

    def signed_in(self) -> str:
        """Whatever has to be asked for before the first request; NodeError when it is refused."""
        return self._tried(lambda: f"a token for {self.sign_in.token().seconds:g} s" if self._typed.auth == "oauth2" else "")

    def _asked(self, request: HttpRequest) -> JsonAnswer:
        response, body = self._answer(request)
        status_check(response, body, self.sign_in.scrubbed)
        following = next_link(response)

        def linked(target: str) -> str:
            return self.sign_in.unsigned(joined(str(response.url), target))

        document = MISSING if response.status_code == httpx.codes.NO_CONTENT else json_of(response, body, self.sign_in.scrubbed)
        return JsonAnswer(document, linked(following) if following else None, linked)

    def _sent_off(self, request: HttpRequest, accepted: Collection[int]) -> Refused | None:
        response, body = self._answer(request)
        if not is_refused_request(response):
            status_check(response, body, self.sign_in.scrubbed)
            return None
        if response.status_code in accepted:
            return None
        return Refused(response.status_code, f"{status_named(response)}: {words_of(body, self.sign_in.scrubbed)}".rstrip(": "))

    def _tried(self, act: Callable[[], T]) -> T:
        retrying = Retrying(
            stop=stop_after_attempt(self._attempts),
            wait=self._wait,
            retry=retry_if_exception_type(Transient),
            sleep=self._sleep,
            before_sleep=self._tell,
            reraise=True,
        )
        try:
            return retrying(act)
        except NodeError as error:
            error.message = self.sign_in.scrubbed(error.message)
            error.args = (error.message,)
            raise
        finally:
            if self._note is not None and retrying.statistics.get("attempt_number", 1) > 1:
                self._note.clear()

    def _tell(self, state: RetryCallState) -> None:
        """Until the next attempt has had its time, the API is waited for."""
        error = state.outcome.exception() if state.outcome else None
        if self._note is not None and isinstance(error, NodeError):
            pause = state.next_action.sleep if state.next_action else 0.0
            self._note.tell(self.sign_in.scrubbed(error.message).partition("; ")[0], pause + 2 * self._timeout + _NOTE_SECONDS)

    def _address(self, request: HttpRequest) -> str:
        base = self._typed.base_url
        if request.link is None:
            return f"{base.rstrip('/')}/{request.path.lstrip('/')}" if request.path else base
        scheme, host, port = origin(request.link)
        if scheme not in ("http", "https") or ((scheme, host, port) != origin(base) and not self._is_known(request.link)):
            raise NodeError(
                f"the next page is said to be at {without_query(request.link)}, not where this connection leads; "
                f"allow the host {host[:100]}:{port} in the node's settings if that is meant",
                permanent=True,
                kind="user",
                field="link_hosts",
            )
        return request.link

    def _is_known(self, link: str) -> bool:
        _, host, port = origin(link)
        return f"{host}:{port}" in self._link_hosts or (host in self._link_hosts and port in (80, 443))

    def _wait(self, state: RetryCallState) -> float:
        """What the server asked for, else twice as long each time with jitter, so that many clients do not return at once."""
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, Transient) and error.wait is not None:
            return min(error.wait, self._longest_wait)
        ceiling = min(2.0 ** (state.attempt_number - 1), self._longest_wait)
        return ceiling / 2 + random.random() * ceiling / 2

    def _answer(self, request: HttpRequest) -> tuple[httpx.Response, bytes]:
        """Follows redirects itself: what signs in is not carried to another host, nor from https to http.

        A token that is refused is asked for once more.
        """
        url, home, refreshed = self._address(request), origin(self._typed.base_url), False
        redirects = 0
        while redirects <= _MOST_REDIRECTS:
            signed = self.sign_in.headers() if origin(url) == home else {}
            response, body = self._signed(request, url, signed)
            if response.status_code == 401 and signed and not refreshed and self.sign_in.refreshed(signed):
                refreshed = True
                continue
            target = response.headers.get("location", "")
            if not (response.is_redirect and target):
                return response, body
            url = _redirected(request, response, joined(str(response.url), target))
            request = replace(request, parameters=())
            redirects += 1
        raise NodeError(
            f"{request.method} {without_query(url)}: redirected more than {_MOST_REDIRECTS} times; correct the address", permanent=True
        )

    def _signed(self, request: HttpRequest, url: str, signed: Mapping[str, str]) -> tuple[httpx.Response, bytes]:
        at_home = origin(url) == origin(self._typed.base_url)
        headers = {header.name: header.value for header in self._typed.headers} if at_home else {}
        parameters = httpx.QueryParams(() if request.link else request.parameters).merge(self.sign_in.parameters() if at_home else {})
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        try:
            address = httpx.URL(url).copy_merge_params(parameters) if parameters else httpx.URL(url)
        except httpx.InvalidURL:
            raise NodeError(
                f"{request.method} {without_query(url)}: this is no address; correct path and parameters", permanent=True
            ) from None
        self._pace.wait()
        merged = _headers_merged(headers | dict(signed), request.headers)
        return self._sent(self._client.build_request(request.method, address, content=request.content, headers=merged))

    def _post_form(self, url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> tuple[httpx.Response, bytes]:
        return self._sent(self._client.build_request("POST", url, data=dict(form), headers=dict(headers)))

    def _sent(self, request: httpx.Request) -> tuple[httpx.Response, bytes]:
        where = f"{request.method} {without_query(str(request.url))}"
        try:
            response = self._client.send(request, stream=True)
            try:
                return response, _bounded_body(response, _SLOWEST_ANSWER * self._timeout)
            finally:
                response.close()
        except httpx.InvalidURL:
            raise NodeError(f"{where}: redirects to an address which is not HTTP; correct the address", permanent=True) from None
        except httpx.LocalProtocolError:
            raise NodeError(f"{where}: one of the headers cannot be sent; correct them", permanent=True, kind="user") from None
        except httpx.TimeoutException:
            raise ServerAway(f"{where}: no answer in time; try later, or allow more seconds") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            if certificate := untrusted(error):
                raise tls_fault(certificate, where) from None
            raise ServerAway(f"{where}: {error or type(error).__name__}; check address and network") from None


def _headers_merged(own: Mapping[str, str], given: Mapping[str, str]) -> httpx.Headers:
    """The connection's headers, over those of the request. What the libraries say of a wrong one quotes it, a secret or not."""
    for name, value in {**given, **own}.items():
        if not (value.strip() == value and value.isprintable() and value.isascii()):
            raise NodeError(
                f"no header can hold what {name} would be, empty or with line breaks or letters beyond ASCII; correct the connection",
                permanent=True,
                kind="user",
            )
    merged = httpx.Headers(given)
    merged.update({name: value for name, value in own.items() if name != "Content-Type" or name not in merged})
    return merged


def _redirected(request: HttpRequest, response: httpx.Response, url: str) -> str:
    """Where to ask next. What is sent along goes to no other host, and is not turned into a GET."""
    if origin(url)[0] not in ("http", "https"):
        raise NodeError(
            f"{shown(response)} redirects to {without_query(url)[:100]}, which is not HTTP; correct the address", permanent=True
        )
    stays = response.status_code in (307, 308) and origin(url) == origin(str(response.url))
    if request.method != "GET" and not stays:
        raise NodeError(f"{shown(response)} redirects to {without_query(url)}; correct the address", permanent=True, kind="user")
    return url


def _bounded_body(response: httpx.Response, seconds: float) -> bytes:
    """Counted after decompression: a small answer may unpack to a huge one. One that trickles in for ever is given up."""
    body = bytearray()
    deadline = time.monotonic() + seconds
    for part in response.iter_bytes():
        body += part
        if len(body) > _MOST_BYTES:
            raise NodeError(f"{shown(response)}: the answer is larger than {_MOST_BYTES >> 20} MiB; ask for smaller pages", permanent=True)
        if time.monotonic() > deadline:
            raise Transient(f"{shown(response)}: the answer did not end within {seconds:g} s; try later, or allow more seconds")
    return bytes(body)
