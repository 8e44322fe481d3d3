"""What a request to an API carries to sign in, and the tokens of OAuth2 client credentials (RFC 6749 §4.4)."""

from __future__ import annotations

import hashlib
import html
import json
import threading
import time
from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

import httpx

from jobs.nodes.base import ConnectionSettings, NodeError
from jobs.nodes.connections.http_api import HttpApiSettings
from jobs.nodes.http_answers import Transient, is_refused_request, json_of, retry_after, shown, status_named, words_of

#: How long a token counts whose server does not say so.
_USUAL_SECONDS = 300.0
_MOST_EARLY_SECONDS = 60.0

#: A form and headers posted to an address → what came back.
PostForm = Callable[[str, Mapping[str, str], Mapping[str, str]], tuple[httpx.Response, bytes]]


@dataclass(frozen=True)
class Token:
    text: str = field(repr=False)
    fresh_until: float = 0.0
    seconds: float = 0.0


@dataclass
class _Tokens:
    """Tokens of this process by what they were asked with. One thread asks, the others wait for what it gets."""

    known: dict[str, Token] = field(default_factory=dict, repr=False)
    locks: defaultdict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock), repr=False)


_TOKENS = _Tokens()


class SignIn:
    """The sign-in of one connection. Its text shows no secret."""

    def __init__(self, settings: ConnectionSettings, typed: HttpApiSettings, post_form: PostForm) -> None:
        self._typed = typed
        self._secrets = settings.secrets
        self._post_form = post_form
        asked_with = (typed.token_url, typed.client_id, typed.scope, typed.audience, typed.client_auth, self._secret("client_secret"))
        self._key = hashlib.sha256("\n".join(asked_with).encode()).hexdigest()

    def headers(self) -> dict[str, str]:
        """NodeError when a token is needed and there is none to be had."""
        match self._typed.auth:
            case "basic":
                return {"Authorization": _basic(self._typed.user, self._secret("password"))}
            case "bearer":
                return {"Authorization": f"Bearer {self._secret('token')}"}
            case "api_key" if self._typed.api_key_in == "header":
                return {self._typed.api_key_header: self._secret("api_key")}
            case "oauth2":
                return {"Authorization": f"Bearer {self.token().text}"}
        return {}

    def parameters(self) -> dict[str, str]:
        return {self._typed.api_key_parameter: self._secret("api_key")} if self._key_in_query() else {}

    def unsigned(self, address: str) -> str:
        """`address` without the key that an API may have copied into it."""
        if not self._key_in_query():
            return address
        try:
            url = httpx.URL(address)
        except httpx.InvalidURL:
            return address
        return str(url.copy_remove_param(self._typed.api_key_parameter)) if self._typed.api_key_parameter in url.params else address

    def token(self) -> Token:
        """The token of this process, asked for anew shortly before it runs out."""
        with _TOKENS.locks[self._key]:
            known = _TOKENS.known.get(self._key)
            if known is None or known.fresh_until <= time.monotonic():
                known = _TOKENS.known[self._key] = self._asked()
            return known

    def refreshed(self, refused: Mapping[str, str]) -> bool:
        """After a refusal: True when the token in the headers `refused` was dropped, so that the next request brings another."""
        if self._typed.auth != "oauth2":
            return False
        with _TOKENS.locks[self._key]:
            known = _TOKENS.known.get(self._key)
            if known is not None and refused.get("Authorization") == f"Bearer {known.text}":
                del _TOKENS.known[self._key]
        return True

    def scrubbed(self, text: str) -> str:
        """`text` without any secret, also where a server repeated one in another notation."""
        for secret in sorted(self._confidential(), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text

    def _confidential(self) -> set[str]:
        plain = {value for value in self._secrets.values() if value}
        if (known := _TOKENS.known.get(self._key)) is not None:
            plain.add(known.text)
        pairs = {_basic(self._typed.user, self._secret("password")), _basic(self._typed.client_id, self._secret("client_secret"))}
        written = {value for secret in plain for value in _notations(secret)}
        return written | {pair.removeprefix("Basic ") for pair in pairs}

    def _key_in_query(self) -> bool:
        return self._typed.auth == "api_key" and self._typed.api_key_in == "query"

    def _secret(self, name: str) -> str:
        return self._secrets.get(name, "")

    def _asked(self) -> Token:
        typed = self._typed
        form = {"grant_type": "client_credentials", "scope": typed.scope, "audience": typed.audience}
        headers = {"Accept": "application/json"}
        if typed.client_auth == "header":
            headers["Authorization"] = _basic(quote_plus(typed.client_id), quote_plus(self._secret("client_secret")))
        else:
            form |= {"client_id": typed.client_id, "client_secret": self._secret("client_secret")}
        response, body = self._post_form(typed.token_url, {name: value for name, value in form.items() if value}, headers)
        return _token_in(response, body, self.scrubbed)


def _token_in(response: httpx.Response, body: bytes, scrubbed: Callable[[str], str]) -> Token:
    where = f"signing in: {shown(response)}"
    if response.status_code in (401, 403) or is_refused_request(response) or response.is_redirect:
        said = f"{status_named(response)}: {words_of(body, scrubbed)}".rstrip(": ")
        raise NodeError(f"{where} gave no token ({said}); correct client id, secret or token address", permanent=True, kind="user")
    if response.status_code >= 400:
        raise Transient(f"{where} answered {status_named(response)} each time; try later", retry_after(response))
    answer = json_of(response, body, scrubbed)
    text = answer.get("access_token") if isinstance(answer, dict) else None
    if not isinstance(text, str) or not text.isascii() or not text.isprintable():
        raise NodeError(f"{where} answered without an access_token; correct the token address", permanent=True, kind="user")
    if str(answer.get("token_type", "bearer")).lower() != "bearer":
        raise NodeError(f"{where} gave a token that is no bearer token, which is not supported", permanent=True, kind="user")
    seconds = _seconds(answer.get("expires_in"))
    return Token(text, time.monotonic() + seconds - min(_MOST_EARLY_SECONDS, seconds / 10), seconds)


def _notations(secret: str) -> set[str]:
    """As it is, in an address, in JSON and in HTML."""
    in_json = {json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}
    return {
        secret,
        quote(secret, safe=""),
        quote_plus(secret),
        html.escape(secret),
        *in_json,
        *(text.replace("/", "\\/") for text in in_json),
    }


def _seconds(given: Any) -> float:
    try:
        return max(0.0, float(given))
    except (TypeError, ValueError, OverflowError):
        return _USUAL_SECONDS


def _basic(user: str, password: str) -> str:
    return f"Basic {b64encode(f'{user}:{password}'.encode()).decode('ascii')}"
