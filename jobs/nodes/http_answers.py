"""What an API answered, in one sentence: whether to try again, and what to correct."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from jobs.nodes.base import NodeError
from jobs.nodes.exact_json import exact_loads
from jobs.nodes.http_addresses import without_query
from jobs.nodes.node_error import SignInRefused, SystemAway

_AGAIN = frozenset({408, 425, 429})
_AWAY = frozenset({429, 502, 503, 504})
#: Server errors that another try does not mend: the method or the version of HTTP is not known there.
_FINAL = frozenset({501, 505})
_WORDS_LENGTH = 300
_NO_SUCH_PAGE = re.compile(rb'"code"\s*:\s*"rest_[a-z_]*invalid_(?:page|offset)_number"')
_LOOKED_AT = 100_000


class Transient(NodeError):
    """Worth another try, after `wait` seconds if the server said so."""

    def __init__(self, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.wait = wait


class ServerAway(Transient, SystemAway):
    """Nobody answers, or who does asks to come later. A server error may be one for just this request, and is not told as this."""


class NotThere(NodeError):
    """The server has nothing at this address, or no page of this number."""


def is_refused_sign_in(response: httpx.Response) -> bool:
    return response.status_code in (401, 403)


def is_refused_request(response: httpx.Response) -> bool:
    """The server understood, and does not want just this request: trying again or others is another matter."""
    status = response.status_code
    return 400 <= status < 500 and status not in _AGAIN and not is_refused_sign_in(response)


def is_worth_another_try(response: httpx.Response) -> bool:
    status = response.status_code
    return status in _AGAIN or (status >= 500 and status not in _FINAL)


def status_check(response: httpx.Response, body: bytes, scrubbed: Callable[[str], str]) -> None:
    """NodeError for a status from 400 on: Transient where another try may help. It ends with what the server says, `scrubbed`."""
    if response.status_code < 400:
        return
    named = status_named(response)
    if is_refused_sign_in(response):
        message = f"{shown(response)}: the sign-in was refused ({named}); correct the connection"
        raise SignInRefused(_with_words(message, body, scrubbed), permanent=True, kind="user")
    if is_worth_another_try(response):
        again = ServerAway if response.status_code in _AWAY else Transient
        message = f"{shown(response)}: the server answered {named} each time; try later"
        raise again(_with_words(message, body, scrubbed), retry_after(response))
    told = NotThere if response.status_code == 404 or _names_no_page(response, body) else NodeError
    message = f"{shown(response)}: the server answered {named}; correct path and parameters"
    raise told(_with_words(message, body, scrubbed), permanent=True, kind="user")


def _with_words(message: str, body: bytes, scrubbed: Callable[[str], str]) -> str:
    """A page for a browser says little in its first characters, and bytes nothing."""
    words = "" if body.lstrip()[:1] == b"<" or b"\0" in body[:_LOOKED_AT] else words_of(body, scrubbed)
    return f"{message}. The server says: {words}" if words else message


def _names_no_page(response: httpx.Response, body: bytes) -> bool:
    """As WordPress says it behind the last page, in an answer 400."""
    return response.status_code == 400 and _NO_SUCH_PAGE.search(body[:_LOOKED_AT]) is not None


def status_named(response: httpx.Response) -> str:
    return f"{response.status_code} {response.reason_phrase}".strip()


def words_of(body: bytes, scrubbed: Callable[[str], str], length: int = _WORDS_LENGTH) -> str:
    """The first 300 characters of what a server says, in one line and without control characters; `scrubbed` before they are cut, so
    that no half secret stays."""
    line = " ".join(scrubbed(body[:_LOOKED_AT].decode("utf-8", "replace")).split())
    return "".join(filter(str.isprintable, line))[:length]


def retry_after(response: httpx.Response) -> float | None:
    """Seconds or a date (RFC 9110 §10.2.3)."""
    given = response.headers.get("retry-after", "").strip()
    if given.isascii() and given.isdigit():
        return float(given)
    try:
        until = parsedate_to_datetime(given)
    except (TypeError, ValueError, OverflowError):
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def json_of(response: httpx.Response, body: bytes, scrubbed: Callable[[str], str]) -> Any:
    """The document in `body`; NodeError when it is something else, Transient when it may have been cut off."""
    try:
        return exact_loads(body)
    except (ValueError, RecursionError):
        begins = words_of(body, scrubbed, 60)
    if body.lstrip()[:1] == b"<":
        raise NodeError(
            f'{shown(response)}: the answer is HTML instead of JSON ("{begins}"); check the path, and whether it wants a sign-in',
            permanent=True,
        )
    if not body.strip():
        raise Transient(f"{shown(response)}: the answer is empty; try later")
    raise Transient(f'{shown(response)}: the answer is no JSON ("{begins}"); try later')


def next_link(response: httpx.Response) -> str | None:
    """The address of the next page in the header Link (RFC 8288), as it stands there."""
    for link in response.links.values():
        if "next" in str(link.get("rel", "")).lower().split():
            return link.get("url")
    return None


def shown(response: httpx.Response) -> str:
    return f"{response.request.method} {without_query(str(response.url))}"
