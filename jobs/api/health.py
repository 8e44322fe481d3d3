"""/healthz and /readyz: open to everybody, and telling nothing but whether it works."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import JsonResponse
from django.http.request import HttpRequest
from django.views.decorators.http import require_safe

from jobs.selectors.readiness import readiness_out
from jobs.services.examples import EXAMPLES


@login_not_required
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """The web process answers."""
    return JsonResponse({"ok": True})


@login_not_required
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 only when a worker is ready and, embedded, the examples are loaded; else 503 and what is missing."""
    found = readiness_out(EXAMPLES if settings.EMBEDDED else ())
    return JsonResponse(found.model_dump(), status=200 if found.ready else 503)
