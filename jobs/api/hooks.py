"""`/hooks/<job uid>/<node id>`: messages that other systems post to a job's webhook source."""

import json
from functools import partial
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.core.exceptions import RequestDataTooBig
from django.http import HttpRequest, JsonResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST
from pydantic import ValidationError

from jobs.dag.document import parse_document
from jobs.dag.parameters import config_filled, references, resolve_parameters
from jobs.models import Connection, Execution, Job
from jobs.nodes.base import ConnectionSettings
from jobs.nodes.config_problems import no_texts
from jobs.nodes.connections.webhook import WebhookSettings, is_proven
from jobs.nodes.sources.webhook import WebhookConfig, WebhookSource
from jobs.nodes.spool import Message, Spool, SpoolFull, spool_path
from jobs.nodes.spool_source import backpressure_of
from jobs.services.connections import connection_open
from jobs.services.secrets import SecretsUnreadable

JSON_LINES = "application/x-ndjson"
_LATER_SECONDS = "10"
#: In characters; of a longer one the SHA-256 is kept.
_LONGEST_ID = 300
#: Headers that say nothing about the message, or prove who sent it.
_LEFT_OUT = frozenset({"authorization", "cookie", "host", "connection", "content-length", "accept-encoding"})


@csrf_exempt
@login_not_required
@require_POST
def hook(request: HttpRequest, job_uid: UUID, node_id: str) -> JsonResponse:
    """202 once the message, or each of JSON lines, is on disk; 401 without proof, 404 where no such source is published, 413 and 503.

    A request that is refused can come again as it was: what was kept of it is known by its ids, and without ids nothing was kept.
    """
    config, connection = _source(job_uid, node_id)
    if config is None or connection is None:
        return _nowhere()
    typed = WebhookSettings.model_validate(connection.config)
    try:
        body = request.body
    except RequestDataTooBig:
        return _refused(413, f"a message has at most {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes")
    if not is_proven(connection, request.headers.get(typed.proof_header, ""), body):
        return _refused(401, f"the header {typed.proof_header} does not prove this message: check the secret")
    messages, pressure = _messages(body, request, typed), backpressure_of(config)
    whole = not all(message.id for message in messages)  # those with ids are known when they come again
    if whole and pressure.refuses and len(messages) > pressure.buffer_size:
        return _refused(413, f"{len(messages)} messages at once, where at most {pressure.buffer_size} wait to be read: send fewer at once")
    try:
        taken = Spool(spool_path(settings.DATA_DIR, str(job_uid), node_id)).take(messages, pressure, whole=whole)
    except SpoolFull as full:
        return _later(str(full))
    if taken.done < len(messages):
        return _later(taken.refused)
    if taken.dropped and not taken.new:
        return JsonResponse({"accepted": 0, "repeated": False, "dropped": True}, status=202)
    return JsonResponse({"accepted": taken.new, "repeated": bool(messages) and taken.new == 0}, status=202)


@csrf_exempt
@login_not_required
@require_POST
def no_hook(request: HttpRequest, address: str) -> JsonResponse:
    """404 for an address that cannot be a webhook's."""
    return _nowhere()


def _messages(body: bytes, request: HttpRequest, typed: WebhookSettings) -> list[Message]:
    """One, or one for each line of JSON lines; their ids are then those of the request and their place in it."""
    headers, told = _told(request, typed), request.headers.get(typed.id_header, "")
    if len(told) > _LONGEST_ID:  # cut, two of them could look the same
        told = sha256(told.encode("utf-8", "surrogateescape")).hexdigest()
    if request.content_type != JSON_LINES:
        return [Message(body, headers=headers, id=told)]
    lines = [line for line in body.split(b"\n") if line.strip()]
    return [Message(line, headers=headers, id=f"{told}/{number}" if told else "") for number, line in enumerate(lines)]


def _later(why: str) -> JsonResponse:
    answer = _refused(503, f"{why}: come again later")
    answer["Retry-After"] = _LATER_SECONDS
    return answer


def _source(job_uid: UUID, node_id: str) -> tuple[WebhookConfig | None, ConnectionSettings | None]:
    """The webhook source of the published version, and its sender."""
    job = Job.objects.filter(job_uid=job_uid, deleted_at=None).only("dag_definition", "project_id").first()
    node: dict[str, Any] = json.loads(job.dag_definition or "{}").get("nodes", {}).get(node_id, {}) if job else {}
    if job is None or node.get("type") != "source.webhook":
        return None, None
    try:
        config = WebhookConfig.model_validate(_filled(node.get("config", {}), job))
        row = Connection.objects.get(project_id=job.project_id, name=config.connection, kind="webhook")
        return config, connection_open(row)
    except (ValidationError, Connection.DoesNotExist, SecretsUnreadable):
        return None, None


def _filled(config: dict[str, Any], job: Job) -> dict[str, Any]:
    """`config` with the parameters of the newest execution, which receives these messages, or will read them."""
    if not any(references(config)):
        return config
    document, _ = parse_document(json.loads(job.dag_definition or "{}"))
    given = Execution.objects.filter(job=job).order_by("-create_time").values_list("parameters", flat=True).first()
    values = resolve_parameters(document, given or {})[0] if document else {}
    wrong = partial(no_texts, WebhookConfig)
    return config_filled(config, values, WebhookConfig.verbatim, WebhookSource.own_places.keys(), no_texts=wrong)


def _told(request: HttpRequest, typed: WebhookSettings) -> dict[str, str]:
    """The sender's headers without its proof."""
    left_out = _LEFT_OUT | {typed.proof_header.lower()}
    return {name.lower(): value[:2000] for name, value in request.headers.items() if name.lower() not in left_out}


def _nowhere() -> JsonResponse:
    return _refused(404, "no webhook is published at this address")


def _refused(status: int, message: str) -> JsonResponse:
    return JsonResponse({"error": {"code": "hook.refused", "message": message, "problems": []}}, status=status)


urlpatterns = [path("hooks/<uuid:job_uid>/<str:node_id>", hook, name="hook"), path("hooks/<path:address>", no_hook)]
