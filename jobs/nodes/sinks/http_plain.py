"""Rows sent to an HTTP API as plain Python: what `sink.http_api`, `sink.webhook` and `flow.for_each` are in a script."""

from __future__ import annotations

import hashlib
import hmac
import random
import ssl
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_plus

import httpx
import pyarrow as pa
from pyspark import TaskContext

from jobs.nodes.http_answers import is_refused_request, is_worth_another_try, retry_after, status_named, words_of
from jobs.nodes.http_messages import HttpRequest
from jobs.nodes.http_pace import Pace
from jobs.nodes.sinks.http_requests import Requests, Row, Unfit
from jobs.nodes.sinks.http_sending import Outcome, at_once_mapped, grouped
from jobs.nodes.user_python.calls import with_reasons

if TYPE_CHECKING:
    from jobs.nodes.base import ConnectionSettings, NodeContext
    from jobs.nodes.sinks.http_api import HttpApiSinkConfig

_LONGEST_WAIT_SECONDS = 60.0
#: Of a receiver of signed messages: the address is refused, whatever is sent to it.
_NO_SUCH_ADDRESS = (404, 405, 410)


@dataclass(frozen=True)
class Pair:
    name: str
    value: str


@dataclass(frozen=True)
class Form:
    """What is sent for a row: `${column}` in path, parameters, headers and body stands for its value. `columns`: all that are named."""

    columns: tuple[str, ...] = ()
    method: str = "POST"
    path: str = ""
    parameters: tuple[Pair, ...] = ()
    headers: tuple[Pair, ...] = ()
    body: str = ""
    rows_per_request: int = 1
    many_rows_as: str = "array"
    keys: tuple[str, ...] = ()
    idempotency_header: str = ""


@dataclass(frozen=True)
class Api:
    """Where it is sent to and how it signs in: by `user` and password, by headers or parameters, or with a token from `token_url`.

    `certificate_authority`: the PEM certificates that the server's is checked against; empty: the usual ones.
    """

    base_url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    user: tuple[str, str] | None = None
    token_url: str = ""
    token_form: Mapping[str, str] = field(default_factory=dict)
    certificate_authority: str = ""
    timeout_seconds: float = 30
    attempts: int = 5

    def token(self, client: httpx.Client) -> dict[str, str]:
        """The header with a token of OAuth2 client credentials."""
        if not self.token_url:
            return {}
        auth = httpx.BasicAuth(quote_plus(self.user[0]), quote_plus(self.user[1])) if self.user is not None else httpx.USE_CLIENT_DEFAULT
        answer = client.post(self.token_url, data=dict(self.token_form), auth=auth)
        answer.raise_for_status()
        return {"Authorization": f"Bearer {answer.json()['access_token']}"}


@dataclass(frozen=True)
class Signature:
    """The header that proves a message to its receiver: its secret, or the HMAC-SHA-256 of the body."""

    header: str
    secret: str
    is_signed: bool

    def of(self, request: HttpRequest) -> dict[str, str]:
        if not self.is_signed:
            return {self.header: self.secret}
        return {self.header: f"sha256={hmac.new(self.secret.encode(), request.content or b'', hashlib.sha256).hexdigest()}"}


@dataclass(frozen=True)
class Sending:
    """`at_once`: requests of a task under way together. `identity` makes the idempotency keys, with the rows' keys or places."""

    api: Api
    form: Form
    identity: str
    at_once: int = 1
    requests_per_second: float | None = None
    accepted: tuple[int, ...] = ()
    stops_at_rejected: bool = False
    signature: Signature | None = None

    def send(self, rows: Iterable[Any]) -> None:
        """A task's rows; one that the server refuses is left out, or ends the script where the job says so."""
        for outcome in self._outcomes(self._numbered((row.row, row.columns_used) for row in rows)):
            if outcome.reason and self.stops_at_rejected:
                raise RuntimeError(outcome.reason)

    def call(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The rows as they came, without the two columns at the end of which calls are made, and why each was refused."""
        gone = 0
        for batch in batches:
            texts = zip(batch["row"].to_pylist(), batch["columns_used"].to_pylist(), strict=True)
            outcomes = self._outcomes(self._numbered(texts, gone))
            reasons = [outcome.reason or None for outcome in outcomes for _ in outcome.rows]
            gone += batch.num_rows
            yield with_reasons(batch.columns[:-2], batch.schema.names[:-2], reasons)

    def _numbered(self, texts: Iterable[tuple[str, list[str]]], first: int = 0) -> Iterator[Row]:
        task = TaskContext.get()
        partition = task.partitionId() if task is not None else 0
        for number, (text, used) in enumerate(texts, first):
            values = (value[len('{"v":') : -1] for value in used)
            yield Row(text, dict(zip(self.form.columns, values, strict=True)), f"{partition}-{number}")

    def _outcomes(self, rows: Iterator[Row]) -> Iterator[Outcome]:
        requests, pace = Requests(self.form, identity=self.identity, batch=_batch()), Pace(self.requests_per_second)
        authority = self.api.certificate_authority
        trusted = ssl.create_default_context(cadata=authority) if authority else True
        with httpx.Client(verify=trusted, timeout=self.api.timeout_seconds, headers={"Accept": "application/json"}) as client:
            token = self.api.token(client)

            def sent(rows: list[Row]) -> Outcome:
                try:
                    request = requests.of(rows)
                except Unfit as unfit:
                    return Outcome(rows, str(unfit))
                return Outcome(rows, self._refusal(client, request, token, pace))

            groups = grouped(rows, self.form.rows_per_request)
            yield from map(sent, groups) if self.at_once == 1 else at_once_mapped(sent, groups, self.at_once)
        pace.rest()

    def _refusal(self, client: httpx.Client, request: HttpRequest, token: Mapping[str, str], pace: Pace) -> str:
        """Why the server does not want it, "" when it took it; tried again where that may help."""
        for attempt in range(self.api.attempts):
            pace.wait()
            try:
                response = self._answer(client, request, token)
            except httpx.TransportError:
                if attempt + 1 == self.api.attempts:
                    raise
                response = None
            if response is not None and response.status_code in self.accepted:
                return ""
            if response is not None and self.signature is not None and response.status_code in _NO_SUCH_ADDRESS:
                response.raise_for_status()
            if response is not None and is_refused_request(response):
                words = words_of(response.content, str)
                return f"the server answered {f'{status_named(response)}: {words}'.rstrip(': ')}"
            if response is not None and not is_worth_another_try(response):
                response.raise_for_status()
                return ""
            if attempt + 1 < self.api.attempts:
                asked = retry_after(response) if response is not None else None
                time.sleep(min(2.0**attempt * random.uniform(0.5, 1) if asked is None else asked, _LONGEST_WAIT_SECONDS))
        raise RuntimeError(f"the server answered {status_named(response) if response is not None else 'nothing'} each time")

    def _answer(self, client: httpx.Client, request: HttpRequest, token: Mapping[str, str]) -> httpx.Response:
        url = f"{self.api.base_url.rstrip('/')}/{request.path.lstrip('/')}" if request.path else self.api.base_url
        own = {"Content-Type": request.content_type} if request.body is not None else {}
        signed = self.signature.of(request) if self.signature is not None else {}
        headers = httpx.Headers({**own, **request.headers})
        headers.update({**self.api.headers, **token, **signed})
        auth = None if self.api.token_url else self.api.user
        address = httpx.URL(url).copy_merge_params(request.parameters).copy_merge_params(self.api.parameters)
        return client.request(request.method, address, content=request.content, headers=headers, auth=auth)


def _batch() -> str:
    """The number of a stream's batch, which Spark tells its tasks."""
    task = TaskContext.get()
    return f"batch-{(task.getLocalProperty('streaming.sql.batchId') if task is not None else None) or 0}"


def plain_sending(
    context: NodeContext[Any],
    config: HttpApiSinkConfig,
    connection: ConnectionSettings,
    *,
    at_once: int,
    signature: Signature | None = None,
) -> Sending:
    """`connection`: of an HTTP API."""
    form = Form(
        columns=tuple(config.columns_used()),
        method=config.method,
        path=config.path,
        parameters=tuple(Pair(one.name, one.value) for one in config.parameters),
        headers=tuple(Pair(one.name, one.value) for one in config.headers),
        body=config.body,
        rows_per_request=config.rows_per_request,
        many_rows_as=config.many_rows_as,
        keys=config.keys,
        idempotency_header=config.idempotency_header,
    )
    return Sending(
        api=plain_api(connection, config),
        form=form,
        identity=f"{context.job_uid}/{context.node_id}",
        at_once=at_once,
        requests_per_second=config.requests_per_second,
        accepted=tuple(int(status) for status in config.accepted_statuses.split(",") if status),
        stops_at_rejected=context.fails_at_rejected,
        signature=signature,
    )


def plain_api(connection: ConnectionSettings, config: HttpApiSinkConfig) -> Api:
    from jobs.nodes.connections.http_api import HttpApiSettings

    typed, secrets = HttpApiSettings.model_validate(connection.config), connection.secrets
    headers = {one.name: one.value for one in typed.headers}
    form = {"grant_type": "client_credentials", "scope": typed.scope, "audience": typed.audience}
    given: dict[str, Any] = {"certificate_authority": typed.certificate_authority} if typed.certificate_authority else {}
    match typed.auth:
        case "basic":
            given["user"] = (typed.user, secrets.get("password", ""))
        case "bearer":
            headers["Authorization"] = f"Bearer {secrets.get('token', '')}"
        case "api_key" if typed.api_key_in == "header":
            headers[typed.api_key_header] = secrets.get("api_key", "")
        case "api_key":
            given["parameters"] = {typed.api_key_parameter: secrets.get("api_key", "")}
        case "oauth2" if typed.client_auth == "header":
            given |= {"token_url": typed.token_url, "user": (typed.client_id, secrets.get("client_secret", ""))}
        case "oauth2":
            given["token_url"] = typed.token_url
            form |= {"client_id": typed.client_id, "client_secret": secrets.get("client_secret", "")}
    if typed.auth == "oauth2":
        given["token_form"] = {name: value for name, value in form.items() if value}
    return Api(typed.base_url, headers, timeout_seconds=config.timeout_seconds, attempts=config.attempts, **given)
