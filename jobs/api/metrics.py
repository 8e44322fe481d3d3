"""/metrics: the installation's figures, for Prometheus."""

from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from jobs.api.client_address import is_forwarded
from jobs.models import Project
from jobs.selectors.access import projects_visible
from jobs.selectors.prometheus import prometheus_text
from jobs.services.access import token_open


@login_not_required
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Everything for the token of a superuser, the figures of their projects for other tokens.

    Without a token everything for whoever asks from this machine, where the installation allows that. What a proxy passes on comes
    from elsewhere, even if the proxy stands on this machine; one that says nothing of that is why it is off in production.
    """
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    row = token_open(token.strip()) if scheme.lower() == "bearer" else None
    if row is not None:
        text = prometheus_text(projects=projects_visible(row.user), drivers=row.user.is_superuser)
    elif not scheme and settings.METRICS_WITHOUT_TOKEN and _is_from_here(request):
        text = prometheus_text(projects=Project.objects.all(), drivers=True)
    else:
        words = "metrics need an API token here: Authorization: Bearer <token>\n"
        return HttpResponse(words, status=401, content_type="text/plain", headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(text, content_type=CONTENT_TYPE_PLAIN_0_0_4, headers={"Cache-Control": "no-store"})


def _is_from_here(request: HttpRequest) -> bool:
    if is_forwarded(request):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
