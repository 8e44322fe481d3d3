"""Signing in by password or by a one-time link, and signing out."""

import logging
from typing import Any

from django.conf import settings
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from jobs.api.client_address import client_address
from jobs.api.page_words import page_words
from jobs.api.shell import fonts_of_pages
from jobs.api.sign_in_attempts import attempt_failed, attempts_exceeded, attempts_forget
from jobs.services.access import sign_in_link_open, sign_in_link_use, signed_in_by_password

log = logging.getLogger(__name__)

_BACKEND = "django.contrib.auth.backends.ModelBackend"
_LONGEST = 1000


@method_decorator([login_not_required, never_cache, sensitive_post_parameters("password")], name="dispatch")
class SignInView(View):
    """The form, and what it sends. Wrong name and wrong password are never told apart."""

    def get(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated:
            # The administration sends people without rights there back here: they would go round for ever.
            inside = _next(request)
            return HttpResponseRedirect("/" if inside.startswith("/admin") and not request.user.is_staff else inside)
        return _form(request)

    def post(self, request: HttpRequest) -> HttpResponse:
        username, password = request.POST.get("username", ""), request.POST.get("password", "")
        address = client_address(request)
        if attempts_exceeded(username=username, address=address):
            response = _form(request, "too_many", status=429)
            response["Retry-After"] = "300"
            return response
        plausible = len(username) <= _LONGEST and len(password) <= _LONGEST and "\x00" not in username
        user = authenticate(request, username=username, password=password) if plausible else None
        if user is None:
            attempt_failed(username=username, address=address)
            _failure_log(username if plausible else "", address)
            return _form(request, "wrong", status=400)
        attempts_forget(username=username, address=address)
        login(request, user)
        signed_in_by_password(user=user, address=address)
        return HttpResponseRedirect(_next(request))


def _failure_log(username: str, address: str) -> None:
    """In the log alone: anybody could fill the audit trail. A name that is nobody's is left out: it may be a misplaced password."""
    known = User.objects.filter(username=username).exists()
    log.warning("a sign-in by password as %s from %s failed", f'"{username}"' if known else "nobody known", address or "an unknown address")


def page_answer(request: HttpRequest, template: str, shown: dict[str, Any], status: int = 200) -> HttpResponse:
    """In the reader's language and the interface's letters."""
    response = render(request, template, {"words": page_words(request), "fonts": fonts_of_pages(), **shown}, status=status)
    patch_vary_headers(response, ("Accept-Language", "Cookie"))
    return response


def _form(request: HttpRequest, problem: str = "", status: int = 200) -> HttpResponse:
    words = page_words(request)
    shown = {
        "problem": words[problem] if problem else "",
        "username": request.POST.get("username", "")[:150],
        "next": _next(request),
        "embedded": settings.EMBEDDED,
    }
    return page_answer(request, "sign_in.html", shown, status)


def _next(request: HttpRequest) -> str:
    """Where to go afterwards: a path of ours, whatever the request says."""
    wanted = request.POST.get("next") or request.GET.get("next") or "/"
    ours = url_has_allowed_host_and_scheme(wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure())
    return wanted if ours else "/"


@method_decorator([login_not_required, never_cache], name="dispatch")
class SignInLinkView(View):
    """A one-time link. Opening it only shows a button: a prefetch or a chat's preview must not use it up."""

    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        link = sign_in_link_open(token)
        if link is None:
            return _dead_link(request)
        return page_answer(request, "sign_in_link.html", {"username": link.user.get_username()})

    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        user = sign_in_link_use(token)
        if user is None:
            return _dead_link(request)
        login(request, user, backend=_BACKEND)
        return HttpResponseRedirect("/")


def _dead_link(request: HttpRequest) -> HttpResponse:
    if request.user.is_authenticated:
        return HttpResponseRedirect("/")
    return page_answer(request, "sign_in_link.html", {"username": ""}, 410)


@require_POST
@never_cache
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@login_not_required
def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    """A form that was sent without, or with an old, CSRF token: usually a page that was open for long."""
    return page_answer(request, "refused.html", {}, 403)
